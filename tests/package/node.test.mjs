// The package in Node: frameworks that render on the server import it, although it runs only in browsers.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { install } from "./consumer.mjs";

/** Runs a module where the package is installed, and returns what it prints. @param {string} folder @param {string} code */
const run = (folder, code) => execFileSync("node", ["--input-type=module", "--eval", code], { cwd: folder, encoding: "utf8" });

/** Notes each access to a global that only a browser has. */
const TRAPS = `
  const asked = [];
  for (const name of ["window", "self", "document", "location", "navigator", "Worker", "caches", "localStorage", "indexedDB", "FileSystemFileHandle", "GPUAdapter"]) {
    Object.defineProperty(globalThis, name, { configurable: true, get() { asked.push(name); } });
  }`;

test("it can be imported in Node, and uses nothing that only a browser has", () => {
  const folder = install();
  const printed = run(folder, `${TRAPS} await import("ownvoice-base"); const { load, Storage } = await import("ownvoice"); console.log(JSON.stringify([typeof load, typeof Storage.clear, asked]));`);
  assert.deepEqual(JSON.parse(printed), ["function", "function", []]);
  const failed = run(folder, `import { OwnvoiceError, load } from "ownvoice"; load().catch((error) => console.log(JSON.stringify([error instanceof OwnvoiceError, error.code])));`);
  assert.deepEqual(JSON.parse(failed), [true, "worker-unavailable"], "its use fails with a code");
});
