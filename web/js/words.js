// Where a text has the words that are spoken: the worker times words as they are read ("five", "thirty"), and the text has them as they are written ("5:30").

/** A spoken word with its times, as the worker sends it. @typedef {{ text: string, begin: number, end: number }} TimedWord */
/**
 * A word as it is spoken, when it begins and ends in the speech, in seconds, and where the text has it. "5:30" in a text is spoken as "five" and "thirty", which are at
 * the same place.
 * @typedef {{ text: string, begin: number, end: number, charIndex: number, charLength: number }} SpokenWord
 */

/** How far a written word is looked for among those that are read. */
const MOST_AHEAD = 8;

/** @param {string} word */
const plain = (word) => word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

/** Returns the written words, each with the index of the spoken word with which it begins; without those that are not read. @param {string} text @param {TimedWord[]} spoken */
function writtenWords(text, spoken) {
  const written = [...text.matchAll(/\S*[\p{L}\p{N}]\S*/gu)].map(({ 0: word, index }) => ({ charIndex: index, charLength: word.length, word: plain(word) }));
  const read = spoken.map(({ text }) => plain(text));
  // Words that are read as they are written; those between two of them share the time between.
  const same = [[-1, -1]];
  written.forEach(({ word }, index) => {
    const next = same[same.length - 1][1] + 1;
    const at = read.slice(next, next + MOST_AHEAD).indexOf(word);
    if (at >= 0) same.push([index, next + at]);
  });
  same.push([written.length, read.length]);
  return same.slice(1).flatMap(([index, at], which) => {
    const [first, next] = [same[which][0] + 1, same[which][1] + 1];
    const between = at > next ? written.slice(first, index) : [];
    const begins = between.map((_, i) => next + Math.floor((i * (at - next)) / between.length));
    return [...between, ...written.slice(index, index + 1)].map(({ charIndex, charLength }, i) => ({ charIndex, charLength, first: begins[i] ?? at }));
  });
}

/** Adds to each spoken word where the text has it. @internal @param {string} text @param {TimedWord[]} spoken @returns {SpokenWord[]} */
export function placed(text, spoken) {
  const written = writtenWords(text, spoken);
  let at = 0;
  return spoken.map((word, index) => {
    while (written[at + 1]?.first <= index) at++;
    const { charIndex, charLength } = written[at]?.first <= index ? written[at] : { charIndex: 0, charLength: 0 };
    return { ...word, charIndex, charLength };
  });
}
