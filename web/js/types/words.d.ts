/**
 * A spoken word with its times, as the worker sends it.
 */
export type TimedWord = {
    text: string;
    begin: number;
    end: number;
};
/**
 * A word as it is spoken, when it begins and ends in the speech, in seconds, and where the text has it. "5:30" in a text is spoken as "five" and "thirty", which are at
 * the same place.
 */
export type SpokenWord = {
    text: string;
    begin: number;
    end: number;
    charIndex: number;
    charLength: number;
};
