// Which written word is being spoken: the package times words as they are read ("five", "thirty"), the page shows them as they were written ("5:30").

/** @import { SpokenWord } from "./js/index.js" */
/** A word of a text, and when it begins, in seconds. @typedef {{ from: number, to: number, begin: number }} TimedWord */

/** How far a word is looked for among those that are read. */
const MOST_AHEAD = 8;

/** @param {string} word */
const plain = (word) => word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

/** Gives each written word the time at which it is read. @param {string} text @param {SpokenWord[]} spoken @returns {TimedWord[]} */
export function timedWords(text, spoken) {
  const written = [...text.matchAll(/\S*[\p{L}\p{N}]\S*/gu)].map(({ 0: word, index }) => ({ from: index, to: index + word.length, word: plain(word) }));
  const read = spoken.map(({ text }) => plain(text));
  // Words that are read as they are written; those between two of them share the time between.
  const same = [[-1, -1]];
  written.forEach(({ word }, index) => {
    const next = same[same.length - 1][1] + 1;
    const at = read.indexOf(word, next);
    if (at >= 0 && at < next + MOST_AHEAD) same.push([index, at]);
  });
  same.push([written.length, read.length]);
  return same.slice(1).flatMap(([index, at], which) => {
    const [first, next] = [same[which][0] + 1, same[which][1] + 1];
    // Those that are not read are left out.
    const between = at > next ? written.slice(first, index) : [];
    const begins = between.map((_, i) => spoken[next + Math.floor((i * (at - next)) / between.length)].begin);
    return [...between, ...written.slice(index, index + 1)].map(({ from, to }, i) => ({ from, to, begin: begins[i] ?? spoken[at].begin }));
  });
}

/** The word that is spoken at a time. @param {TimedWord[]} words @param {number} seconds */
export const wordAt = (words, seconds) => words.findLast(({ begin }) => begin <= seconds);
