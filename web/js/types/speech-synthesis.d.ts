import type { Voice } from "./voice.js";
/** An event of an utterance. */
export declare class SpeechSynthesisEvent extends Event {
    utterance: SpeechSynthesisUtterance;
    charIndex: number;
    charLength: number;
    /** Seconds since the utterance began. */
    elapsedTime: number;
    /** "word" for a boundary. */
    name: string;
    /** Why an utterance ended early: "canceled", "interrupted" or "synthesis-failed". */
    error: string | undefined;
    /** @param {string} type @param {{ utterance: SpeechSynthesisUtterance, charIndex?: number, charLength?: number, elapsedTime?: number, name?: string, error?: string }} about */
    constructor(type: string, { utterance, charIndex, charLength, elapsedTime, name, error }: {
        utterance: SpeechSynthesisUtterance;
        charIndex?: number;
        charLength?: number;
        elapsedTime?: number;
        name?: string;
        error?: string;
    });
}
/** A text to be spoken. */
export declare class SpeechSynthesisUtterance extends EventTarget {
    text: string;
    lang: string;
    voice: SpeechSynthesisVoice | null;
    /** 0 to 1. */
    volume: number;
    /** 0.1 to 10; the voice reaches 0.25 to 4. */
    rate: number;
    /** 0 to 2: an octave below and above the voice's own. */
    pitch: number;
    onstart: ((event: SpeechSynthesisEvent) => void) | null;
    onend: ((event: SpeechSynthesisEvent) => void) | null;
    onerror: ((event: SpeechSynthesisEvent) => void) | null;
    onpause: ((event: SpeechSynthesisEvent) => void) | null;
    onresume: ((event: SpeechSynthesisEvent) => void) | null;
    /** Never called: a text is no SSML. */
    onmark: ((event: SpeechSynthesisEvent) => void) | null;
    onboundary: ((event: SpeechSynthesisEvent) => void) | null;
    /** @param {string} [text] */
    constructor(text?: string);
}
/** A voice as the API lists it. */
export declare class SpeechSynthesisVoice {
    name: string;
    voiceURI: string;
    lang: string;
    localService: boolean;
    default: boolean;
}
/**
 * The Web Speech API's queue of utterances, spoken with voices of this package. It needs a user gesture before it may sound, as every sound of a page does.
 */
export declare class SpeechSynthesis extends EventTarget {
    #private;
    /** Never called, since the voices do not change. */
    onvoiceschanged: ((event: Event) => void) | null;
    /** @param {{ [name: string]: Voice }} voices By the names that programs show; the first is the default. */
    constructor(voices: {
        [name: string]: Voice;
    });
    /** @returns {SpeechSynthesisVoice[]} */
    getVoices(): SpeechSynthesisVoice[];
    /** Whether an utterance is being spoken, also while it is paused. */
    get speaking(): boolean;
    /** Whether further utterances wait. */
    get pending(): boolean;
    get paused(): boolean;
    /** Speaks an utterance after those that wait. @param {SpeechSynthesisUtterance} utterance */
    speak(utterance: SpeechSynthesisUtterance): void;
    /** Ends the utterance that is being spoken, and removes those that wait. */
    cancel(): void;
    pause(): void;
    resume(): void;
}
/**
 * Puts voices of this package in the place of the browser's, for programs that use the global `speechSynthesis`.
 *
 * @param {{ [name: string]: Voice }} voices By the names that programs show; the first is the default.
 * @returns {SpeechSynthesis}
 */
export declare function installSpeechSynthesis(voices: {
    [name: string]: Voice;
}): SpeechSynthesis;
