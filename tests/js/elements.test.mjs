// The element maps that type `$` are made of the pages: a script that asks for an element that is not there, or takes it for another kind, fails the type
// checker. `UPDATE=1 node --test tests/js/elements.test.mjs` writes them anew.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../browser/harness.mjs";

/** @param {string} page */
function made(page) {
  const body = readFileSync(join(ROOT, "www", page), "utf8").split("<body")[1];
  const found = [...body.matchAll(/<(\w+)\b[^>]*?\sid="([\w-]+)"/g)].map(([, tag, id]) => `  "${id}": HTMLElementTagNameMap["${tag}"];`);
  assert.equal(new Set(found).size, found.length, "each id is there once");
  return `// The elements of ${page} by id. Made by tests/js/elements.test.mjs.\n\nexport interface Elements {\n${found.sort().join("\n")}\n}\n`;
}

for (const [page, map] of [["index.html", "elements.d.ts"], ["lips.html", "lips/elements.d.ts"], ["nets.html", "nets/elements.d.ts"]]) {
  test(`www/${map} lists the elements of ${page}`, () => {
    const path = join(ROOT, "www", map);
    if (process.env.UPDATE) writeFileSync(path, made(page));
    assert.equal(readFileSync(path, "utf8"), made(page));
  });
}
