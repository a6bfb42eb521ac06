// Where a text has the words that are spoken.

import assert from "node:assert/strict";
import { test } from "node:test";
import { placed } from "../../web/js/words.js";

/** What is written for each word that is read. @param {string} text @param {string} read */
const followed = (text, read) =>
  placed(text, read.split(" ").map((word) => ({ text: word, begin: 0, end: 1 }))).map(({ charIndex, charLength }) => text.slice(charIndex, charIndex + charLength));

test("a word that is read as it is written is shown while it is read", () => {
  assert.deepEqual(followed("Good morning, everyone!", "good morning everyone"), ["Good", "morning,", "everyone!"]);
  assert.deepEqual(placed("Good.", [{ text: "good", begin: 0.2, end: 0.5 }]), [{ text: "good", begin: 0.2, end: 0.5, charIndex: 0, charLength: 5 }]);
});

test("numbers and abbreviations stay as long as all of their words are read", () => {
  assert.deepEqual(followed("It costs $5.20 at 5:30 – the same.", "it costs five dollars and twenty cents at five thirty the same"),
    ["It", "costs", "$5.20", "$5.20", "$5.20", "$5.20", "$5.20", "at", "5:30", "5:30", "the", "same."]);
  assert.deepEqual(followed("Dr. No, p. 7", "doctor no page seven"), ["Dr.", "No,", "p.", "7"]);
});

test("what is not read is passed over, and nothing breaks without words", () => {
  assert.deepEqual(followed("One ☃ two (etc) three", "one two three"), ["One", "two", "three"]);
  assert.deepEqual(placed("One", []), []);
  assert.deepEqual(followed("…", "one"), [""]);
});
