// The page's words: every language has all of them, with the same gaps to be filled; and the page has no words beside them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { de } from "../../www/strings/de.js";
import { en } from "../../www/strings/en.js";
import { ROOT } from "../browser/harness.mjs";

/** @param {string} words */
const gaps = (words) => [...words.matchAll(/\{\w+\}/g)].map(([gap]) => gap).sort();

/** Names, words that are the same in both, and what stays English: it is spoken. */
const SHARED = ["title", "train.pause", "profile.module.encoder", "profile.module.decoder", "profile.module.postnet", "speak.example"];

test("German has every word that English has", () => {
  assert.deepEqual(Object.keys(de).sort(), Object.keys(en).sort());
  for (const key of /** @type {(keyof typeof en)[]} */ (Object.keys(en))) {
    assert.deepEqual(gaps(de[key]), gaps(en[key]), key);
    assert.ok(de[key].trim(), key);
  }
  const same = /** @type {(keyof typeof en)[]} */ (Object.keys(en)).filter((key) => en[key] === de[key] && /[a-z]{4}/.test(en[key].replace(/\{\w+\}/g, "")));
  assert.deepEqual(same, SHARED, "none is left in English");
});

test("the page itself holds no words", () => {
  const body = readFileSync(join(ROOT, "www/index.html"), "utf8").split("<body")[1];
  const words = [...body.matchAll(/>([^<]+)</g)].map(([, text]) => text.trim()).filter(Boolean);
  assert.deepEqual(words, []);
  for (const attribute of ["aria-label", "title", "placeholder"]) assert.ok(!body.includes(`${attribute}="`), attribute);
});

test("every language that the library may take a text for has a name", () => {
  const library = readFileSync(join(ROOT, "crate/src/text/language.rs"), "utf8");
  const names = [...library.matchAll(/^ {4}\("(\w+)", &\[/gm)].map(([, name]) => name);
  const [, tags] = readFileSync(join(ROOT, "www/strings.js"), "utf8").match(/TAGS = .*\(\{ (.*) \}\);/) ?? [];
  assert.deepEqual(tags?.split(", ").map((entry) => entry.split(":")[0]), names);
});

test("every word that the page names is there", () => {
  const body = readFileSync(join(ROOT, "www/index.html"), "utf8");
  const named = [...body.matchAll(/data-text="([^"]+)"/g)].map(([, key]) => key);
  assert.ok(named.length > 30);
  assert.deepEqual(named.filter((key) => !(key in en)), []);
});
