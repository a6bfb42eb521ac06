// The pages' words: every language has all of them, with the same gaps to be filled; and the pages have no words beside them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { de as lipsDe } from "../../www/lips/strings/de.js";
import { en as lipsEn } from "../../www/lips/strings/en.js";
import { de as netsDe } from "../../www/nets/strings/de.js";
import { en as netsEn } from "../../www/nets/strings/en.js";
import { de } from "../../www/strings/de.js";
import { en } from "../../www/strings/en.js";
import { ROOT } from "../browser/harness.mjs";

/** @param {string} words */
const gaps = (words) => [...words.matchAll(/\{\w+\}/g)].map(([gap]) => gap).sort();

/** A page's words, and those that are the same in both languages: names, and what stays English because it is spoken.
 * @type {{ page: string, german: { [key: string]: string }, english: { [key: string]: string }, shared: string[], least: number }[]} */
const PAGES = [
  {
    page: "index.html",
    german: de,
    english: en,
    shared: ["title", "train.pause", "profile.module.encoder", "profile.module.decoder", "profile.module.postnet", "speak.example"],
    least: 30,
  },
  { page: "lips.html", german: lipsDe, english: lipsEn, shared: [], least: 15 },
  { page: "nets.html", german: netsDe, english: netsEn, shared: [], least: 15 },
];

for (const { page, german, english, shared, least } of PAGES) {
  // Without JavaScript no language can be chosen.
  const body = readFileSync(join(ROOT, "www", page), "utf8").split("<body")[1].replace(/<noscript>[^]*?<\/noscript>/, "");

  test(`${page}: German has every word that English has`, () => {
    assert.deepEqual(Object.keys(german).sort(), Object.keys(english).sort());
    for (const key of Object.keys(english)) {
      assert.deepEqual(gaps(german[key]), gaps(english[key]), key);
      assert.ok(german[key].trim(), key);
    }
    const same = Object.keys(english).filter((key) => english[key] === german[key] && /[a-z]{4}/.test(english[key].replace(/\{\w+\}/g, "")));
    assert.deepEqual(same, shared, "none is left in English");
  });

  test(`${page} itself holds no words`, () => {
    const words = [...body.matchAll(/>([^<]+)</g)].map(([, text]) => text.trim()).filter(Boolean);
    assert.deepEqual(words, []);
    for (const attribute of ["aria-label", "title", "placeholder"]) assert.ok(!body.includes(`${attribute}="`), attribute);
  });

  test(`every word that ${page} names is there`, () => {
    const named = [...body.matchAll(/data-text="([^"]+)"/g)].map(([, key]) => key);
    assert.ok(named.length >= least, page);
    assert.deepEqual(named.filter((key) => !(key in english)), []);
  });
}

test("every language that the library may take a text for has a name", () => {
  const library = readFileSync(join(ROOT, "crate/ownvoice/src/text/language.rs"), "utf8");
  const names = [...library.matchAll(/^ {4}\("(\w+)", &\[/gm)].map(([, name]) => name);
  const [, tags] = readFileSync(join(ROOT, "www/strings.js"), "utf8").match(/TAGS = .*\(\{ (.*) \}\);/) ?? [];
  assert.deepEqual(tags?.split(", ").map((entry) => entry.split(":")[0]), names);
});
