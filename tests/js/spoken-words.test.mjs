// The written word that is being spoken.

import assert from "node:assert/strict";
import { test } from "node:test";
import { timedWords, wordAt } from "../../www/spoken-words.js";

/** The written words at the times of the spoken ones, which take a second each. @param {string} text @param {string} read */
function followed(text, read) {
  const spoken = read.split(" ").map((word, index) => ({ text: word, begin: index, end: index + 1 }));
  const words = timedWords(text, spoken);
  return spoken.map(({ begin }) => {
    const word = wordAt(words, begin + 0.5);
    return word && text.slice(word.from, word.to);
  });
}

test("a word that is read as it is written is shown while it is read", () => {
  assert.deepEqual(followed("Good morning, everyone!", "good morning everyone"), ["Good", "morning,", "everyone!"]);
  assert.equal(wordAt(timedWords("Good.", [{ text: "good", begin: 0.2, end: 0.5 }]), 0.1), undefined, "before the first word");
});

test("numbers and abbreviations stay as long as all of their words are read", () => {
  assert.deepEqual(followed("It costs $5.20 at 5:30 – the same.", "it costs five dollars and twenty cents at five thirty the same"),
    ["It", "costs", "$5.20", "$5.20", "$5.20", "$5.20", "$5.20", "at", "5:30", "5:30", "the", "same."]);
  assert.deepEqual(followed("Dr. No, p. 7", "doctor no page seven"), ["Dr.", "No,", "p.", "7"]);
});

test("what is not read is passed over, and nothing breaks without words", () => {
  assert.deepEqual(followed("One ☃ two (etc) three", "one two three"), ["One", "two", "three"]);
  assert.deepEqual(timedWords("One", []), []);
  assert.deepEqual(timedWords("…", [{ text: "one", begin: 0, end: 1 }]), []);
});
