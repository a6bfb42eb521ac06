// The size of all scripts that a visitor downloads, without the program and the base voice.

import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { ready, visit } from "./steps.mjs";

const MINUTE = 60_000;

test("all scripts of the page together are under 107 KB gzipped", { timeout: 3 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", serviceWorker: true });
  t.after(() => session.close());
  await ready(session);
  // Once the page works without the internet, everything has been loaded.
  await session.page.waitForSelector("#offline-words:not([hidden])", { timeout: MINUTE });
  const asked = session.requests.map(({ url }) => new URL(url).pathname.slice(1));
  const scripts = [...new Set(asked.filter((path) => path.endsWith(".js")))].sort();
  const parts = ["app.js", "strings/de.js", "sw.js", "js/worker.js", "js/capture-worklet.js", "pkg/ownvoice_web.js", "pkg/site-files.js", "vendor/wavesurfer.js"];
  for (const script of parts) assert.ok(scripts.includes(script), `${script} among ${scripts.join(" ")}`);

  const sizes = await Promise.all(
    scripts.map(async (path) => {
      const response = await fetch(new URL(path, session.url));
      assert.match(response.headers.get("content-type") ?? "", /javascript/, path);
      return gzipSync(Buffer.from(await response.arrayBuffer()), { level: 9 }).length / 1000;
    }),
  );
  const sum = (/** @type {(path: string) => boolean} */ which) => sizes.reduce((sum, size, i) => sum + (which(scripts[i]) ? size : 0), 0);
  const library = (/** @type {string} */ path) => path.startsWith("vendor/");
  const all = sum(() => true);
  t.diagnostic(`${all.toFixed(1)} KB in ${scripts.length} files: wavesurfer.js ${sum(library).toFixed(1)}, wasm-bindgen's glue ${sum((path) => path === "pkg/ownvoice_web.js").toFixed(1)}, the page's own ${sum((path) => !library(path) && !path.startsWith("pkg/")).toFixed(1)}`);
  assert.ok(all < 107, `${all.toFixed(1)} KB`);

  // The licences of the libraries require their notices to be included.
  const text = async (/** @type {string} */ path) => (await fetch(new URL(path, session.url))).text();
  for (const [page, parts] of /** @type {[string, RegExp][]} */ ([["", /^ {2}burn \d[^]*^wavesurfer$/m], ["lips.html", /^ {2}burn \d/m], ["nets.html", /^ {2}burn \d[^]*^MobileNetV1/m]])) {
    const link = /href="([^"]*third-party\.txt)"/.exec(await text(page));
    assert.match(await text(link?.[1] ?? ""), parts, page);
  }
  for (const licence of ["vendor/wavesurfer-licence.txt"]) {
    const response = await fetch(new URL(licence, session.url));
    assert.match(await response.text(), /permission|redistribution/i, licence);
  }
});
