// A project that installs the package: a folder with the tarball in it, clips, and a server.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { ROOT } from "../browser/harness.mjs";
import { spokenSamples } from "../browser/steps.mjs";

/** The tarballs of `cargo xtask pack`: the package, and the base voice. */
export const TARBALL = process.env.OWNVOICE_TARBALL ?? "";
export const BASE_TARBALL = process.env.OWNVOICE_BASE_TARBALL ?? "";

/** Returns a new folder in which tarballs are installed. */
export function install(tarballs = [TARBALL, BASE_TARBALL]) {
  assert.ok(tarballs.every(existsSync), "OWNVOICE_TARBALL and OWNVOICE_BASE_TARBALL name the tarballs: `cargo xtask test package` makes them");
  const folder = mkdtempSync(join(tmpdir(), "ownvoice-consumer-"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--offline", ...tarballs], { cwd: folder, stdio: "inherit" });
  return folder;
}

const clips = [0, 1].map((index) => ({ text: spokenSamples(index).text, samples: spokenSamples(index).samples.toString("base64") }));

/** A module that exports the clips. */
export const CLIPS = `/** @param {string} text */
const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
export const clips = ${JSON.stringify(clips)}.map(({ text, samples }) => (
  { text, sampleRate: 16000, samples: Float32Array.from(new Int16Array(bytes(samples).buffer), (x) => x / 32768) }));\n`;

const TYPES = /** @type {{ [extension: string]: string }} */ ({ ".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".json": "application/json", ".svg": "image/svg+xml", ".wasm": "application/wasm" });

/** Returns a file of the tests' base voice, under the path that the README names. @param {string} path @returns {string | null} */
export function baseFile(path) {
  if (!path.startsWith("/models/")) return null;
  const tiny = join(ROOT, "tests/fixtures/tiny-base", path.slice("/models/base/".length));
  return path.startsWith("/models/base/") && existsSync(tiny) ? tiny : join(ROOT, path);
}

/** The import map of a page that has the packages beside it. */
export const IMPORT_MAP = `<script type="importmap">${JSON.stringify({
  imports: { ownvoice: "/ownvoice/js/index.js", "ownvoice/speech-synthesis": "/ownvoice/js/speech-synthesis.js", "ownvoice-base": "/ownvoice-base/index.js" },
})}</script>`;

/** Serves a folder. @param {string} folder @param {(path: string) => string | null} [elsewhere] Returns the path of a file that is not in the folder.
 * @returns {Promise<{ url: string, stop: () => void }>} */
export async function serve(folder, elsewhere = baseFile) {
  const server = createServer((asked, answer) => {
    const { pathname } = new URL(asked.url ?? "", "http://localhost");
    const file = elsewhere(pathname) ?? join(folder, pathname === "/" ? "index.html" : pathname);
    if (!existsSync(file)) return void answer.writeHead(404).end();
    // Allows cross-origin reading, as a CDN does.
    answer.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream", "access-control-allow-origin": "*" }).end(readFileSync(file));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", () => done(undefined)));
  const address = server.address();
  assert.ok(address && typeof address === "object");
  return { url: `http://127.0.0.1:${address.port}/`, stop: () => void server.close() };
}
