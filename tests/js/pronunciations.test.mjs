// Words that the visitor wants to be pronounced otherwise.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pronounced } from "../../www/pronunciations.js";

test("whole words are read as the visitor wants, whatever their case", () => {
  const lines = "Siobhan = shi-vawn\nSiobhan O'Neill = shi-vawn oh neel\n  C++ =see plus plus\nÅsa = {OW1 S AH0}\nno line\n= nothing\nempty =";
  for (const [text, read] of [
    ["Hello, Siobhan.", "Hello, shi-vawn."],
    ["SIOBHAN and siobhan's", "shi-vawn and shi-vawn's"],
    ["Siobhan O'Neill", "shi-vawn oh neel"],
    ["Siobhana", "Siobhana"],
    ["I like C++ and åsa.", "I like see plus plus and {OW1 S AH0}."],
    ["nothing, empty, no line", "nothing, empty, no line"],
  ]) assert.equal(pronounced(text, lines), read);
  assert.equal(pronounced("Unchanged.", ""), "Unchanged.");
});

test("what was replaced is not replaced once more, and dollars stay", () => {
  assert.equal(pronounced("a b", "a = b\nb = $&$1"), "b $&$1");
});
