// The texts that the page reads from files.

import assert from "node:assert/strict";
import { test } from "node:test";
import { chapters, decodeText, nameOf, readList } from "../../www/texts.js";

test("a third column is the normalised text, or the line has no text", () => {
  for (const line of ["a|The lake is calm.", "a|The lake is calm.|", "a|The lake is calm.|the lake is calm", "wavs/a.wav|The lake is calm.", " a | The lake is calm. "]) {
    assert.deepEqual(readList(line), [["a", "The lake is calm."]], line);
  }
  assert.deepEqual(readList("a|5 cats|five cats"), [["a", "5 cats"]]);
  for (const line of ["a|The lake is calm.|2.35", "a|The lake is calm.|anna", "a|anna|The lake is calm.", "a|anna|en|The lake is calm.", "a|A lantern | swings", "a|", "|b", "a", "a,The lake, it seems, is calm."]) {
    assert.deepEqual(readList(line), [], line);
  }
});

test("columns may have names, in any order and with any separator", () => {
  for (const separator of ["|", "\t", ";", ","]) {
    for (const [header, row] of [["id text", "a Hi"], ["Text ID", "Hi a"], ["path sentence age", "a.mp3 Hi 30"], ["file text normalized_text", "a 1 Hi"]]) {
      for (const end of ["\n", "\r\n", "\r"]) {
        const list = `${header}${end}${row}${end}`.replaceAll(" ", separator);
        assert.deepEqual(readList(list), [["a", "Hi"]], JSON.stringify(list));
      }
    }
  }
  assert.deepEqual(readList('file,text\na.wav,"Hello, ""you""."'), [["a", 'Hello, "you".']]);
  assert.deepEqual(readList("file,text\na.wav,Hello, you."), []);
});

test("names are found in any Unicode form, and texts in UTF-16", () => {
  assert.equal(nameOf("wavs/zoe\u0308.WAV"), "zo\u00eb");
  assert.equal(nameOf("LJ001-0001"), "LJ001-0001");
  const utf16 = new Uint16Array([0xfeff, ...[..."a|Zo\u00eb."].map((letter) => letter.charCodeAt(0))]);
  assert.equal(decodeText(utf16.buffer), "a|Zo\u00eb.");
  assert.equal(decodeText(new TextEncoder().encode("\ufeffa|b").buffer), "a|b");
});

test("a book is cut after paragraphs, sentences or words, and nothing of it is lost", () => {
  const sentence = "It was a quiet evening, and nobody had expected anything else. ";
  const paragraphs = `${sentence.repeat(30)}\n\n`.repeat(30);
  for (const [text, end] of /** @type {[string, RegExp][]} */ ([[paragraphs, /\n\n$/], [sentence.repeat(900), /else\. $/], ["word ".repeat(9000), / $/], ["x".repeat(25_000), /x$/]])) {
    const parts = chapters(text);
    assert.equal(parts.join(""), text);
    assert.ok(parts.length > 2 && parts.every((part) => part.length <= 10_000), `${parts.map(({ length }) => length)}`);
    for (const part of parts.slice(0, -1)) assert.match(part, end);
  }
  assert.deepEqual([chapters("One."), chapters(" ")], [["One."], [" "]]);
});
