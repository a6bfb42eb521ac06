// The WebAssembly modules of the pages: the constructor trap, and their size.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { ROOT } from "../browser/harness.mjs";

/** The module that the page fetches, unpacked, without names of functions. */
const wasm = readFileSync(join(ROOT, "www/pkg/ownvoice_web_bg.wasm"));
const ofLips = readFileSync(join(ROOT, "www/lips/pkg/ownvoice_web_lips_bg.wasm"));
const ofThings = readFileSync(join(ROOT, "www/nets/pkg/ownvoice_web_nets_bg.wasm"));
const cache = process.env.XDG_CACHE_HOME ?? "";
/** Returns the path of a module as it was linked, with names of functions, in the folder that `cargo xtask` builds in. @param {string} name */
const linked = (name) => join(isAbsolute(cache) ? cache : join(homedir(), ".cache"), `ownvoice/target-wasm/wasm32-unknown-unknown/release/${name}.wasm`);

/** Returns the names of the functions, from the custom section `name`. @param {BufferSource} bytes */
async function functionNames(bytes) {
  const [section] = WebAssembly.Module.customSections(await WebAssembly.compile(bytes), "name");
  assert.ok(section, "the module names its functions");
  const names = new Uint8Array(section);
  let at = 0;
  const number = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = names[at++];
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  };
  const FUNCTIONS = 1;
  while (at < names.length) {
    const kind = names[at++];
    const end = number() + at;
    if (kind === FUNCTIONS) {
      return Array.from({ length: number() }, () => {
        number(); // index
        const bytes = number();
        at += bytes;
        return new TextDecoder().decode(names.subarray(at - bytes, at));
      });
    }
    at = end;
  }
  return [];
}

for (const module of ["ownvoice_web", "ownvoice_web_lips", "ownvoice_web_nets"]) {
  test(`no export of ${module} runs the static constructors again`, async () => {
    const names = await functionNames(readFileSync(linked(module)));
    assert.ok(names.length > 1000, "the section lists the functions");
    // wasm-ld calls its wrappers NAME.command_export; with them, a training step takes fifty times as long.
    assert.deepEqual(names.filter((name) => name.endsWith(".command_export")), []);
  });
}

test("burn's matmul for GPUs is left out", async () => {
  // Our own matmul is used. A single `Tensor::matmul` or `Initializer` in the page's program would bring back all of burn's kernels, 0.85 MB gzipped.
  const names = await functionNames(readFileSync(linked("ownvoice_web")));
  assert.deepEqual(names.filter((name) => /cubek_matmul.*matmul_entry/.test(name)), []);
});

for (const [name, module, most] of /** @type {const} */ ([["the page's", wasm, 5], ["that of lips", ofLips, 2.5], ["that of things", ofThings, 1]])) {
  test(`${name} module is under ${most} MB gzipped, and has no names`, async () => {
    const megabytes = gzipSync(module, { level: 9 }).length / 1e6;
    assert.ok(megabytes < most, `${megabytes.toFixed(2)} MB`);
    assert.deepEqual(WebAssembly.Module.customSections(await WebAssembly.compile(module), "name"), []);
  });
}

test("the page's module and its JavaScript share short names of imports", async () => {
  const glue = readFileSync(join(ROOT, "www/pkg/ownvoice_web.js"), "utf8");
  const names = WebAssembly.Module.imports(await WebAssembly.compile(wasm)).map(({ name }) => name);
  assert.ok(names.length > 100, "burn's WebGPU imports are among them");
  assert.deepEqual(names.filter((name) => name.length > 3 || !glue.includes(`${name}:`)), []);
});
