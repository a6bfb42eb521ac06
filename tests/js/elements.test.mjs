// The element map that types `$` is made of the page: a script that asks for an element that is not there, or takes it for another kind, fails the type
// checker. `UPDATE=1 node --test tests/js/elements.test.mjs` writes it anew.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../browser/harness.mjs";

const MAP = join(ROOT, "www/elements.d.ts");

function made() {
  const body = readFileSync(join(ROOT, "www/index.html"), "utf8").split("<body")[1];
  const found = [...body.matchAll(/<(\w+)\b[^>]*?\sid="([\w-]+)"/g)].map(([, tag, id]) => `  "${id}": HTMLElementTagNameMap["${tag}"];`);
  assert.equal(new Set(found).size, found.length, "each id is there once");
  return `// The elements of index.html by id. Made by tests/js/elements.test.mjs.\n\nexport interface Elements {\n${found.sort().join("\n")}\n}\n`;
}

test("www/elements.d.ts lists the elements of the page", () => {
  if (process.env.UPDATE) writeFileSync(MAP, made());
  assert.equal(readFileSync(MAP, "utf8"), made());
});
