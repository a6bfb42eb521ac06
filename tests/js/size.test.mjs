// What a visitor downloads before anything can be seen: the page's own files, without the program and the base voice.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { ROOT } from "../browser/harness.mjs";

test("the page's scripts are under 100 KB gzipped", (t) => {
  const list = readFileSync(join(ROOT, "www/pkg/site-files.js"), "utf8");
  const scripts = [...list.matchAll(/"([^"]+\.js)"/g)].map(([, path]) => path);
  assert.ok(scripts.includes("app.js") && scripts.includes("js/worker.js") && scripts.includes("pkg/ownvoice_web.js"), scripts.join(" "));
  const file = (/** @type {string} */ path) => join(ROOT, path.startsWith("js/") ? "web" : "www", path);
  const kilobytes = scripts.reduce((sum, path) => sum + gzipSync(readFileSync(file(path)), { level: 9 }).length, 0) / 1000;
  t.diagnostic(`${kilobytes.toFixed(1)} KB in ${scripts.length} files`);
  assert.ok(kilobytes < 100, `${kilobytes.toFixed(1)} KB`);
});
