// What a visitor downloads before the first sound: the page's scripts, without the program and the base voice.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { ROOT } from "../browser/harness.mjs";

/** Fetched once the page can be used; the browser test of the first sound sees that it is not fetched before. */
const LATER = ["vendor/uplot.js"];

test("the scripts that the page starts with are under 100 KB gzipped", (t) => {
  const list = readFileSync(join(ROOT, "www/pkg/site-files.js"), "utf8");
  const scripts = [...list.matchAll(/"([^"]+\.js)"/g)].map(([, path]) => path);
  for (const script of ["app.js", "js/worker.js", "pkg/ownvoice_web.js", "vendor/wavesurfer.js", ...LATER]) assert.ok(scripts.includes(script), scripts.join(" "));
  const file = (/** @type {string} */ path) => join(ROOT, path.startsWith("js/") ? "web" : "www", path);
  const kilobytes = (/** @type {string[]} */ paths) => paths.reduce((sum, path) => sum + gzipSync(readFileSync(file(path)), { level: 9 }).length, 0) / 1000;
  const first = kilobytes(scripts.filter((path) => !LATER.includes(path)));
  t.diagnostic(`${first.toFixed(1)} KB, and ${kilobytes(LATER).toFixed(1)} KB once it can be used`);
  assert.ok(first < 100, `${first.toFixed(1)} KB`);
});
