// Fetches the base voice and the WebAssembly module, with progress and checks.

import { BaseCache, counted, get, verified } from "./download.js";
import { OwnvoiceError, check } from "./errors.js";

/** @import { Promised } from "./download.js" */
/**
 * The part of a base's manifest.json that is read here.
 * @typedef {object} Manifest
 * @property {{ weights: Promised, lexicon: Promised, aligner: Promised, vocoder?: Promised }} files Without a vocoder, Griffin-Lim is used.
 */

/** @param {string} base Its folder. @param {AbortSignal} signal @returns {Promise<{ text: string, manifest: Manifest }>} */
export async function fetchManifest(base, signal) {
  const text = await (await get(new URL("manifest.json", base), signal)).text();
  return { text, manifest: parse(text) };
}

/** @param {string} text @returns {Manifest} */
function parse(text) {
  try {
    const manifest = JSON.parse(text);
    for (const part of ["weights", "lexicon", "aligner", "vocoder"]) {
      if (part === "vocoder" && !manifest.files.vocoder) continue;
      const { path, bytes, sha256 } = manifest.files[part];
      if (typeof path !== "string" || typeof bytes !== "number" || typeof sha256 !== "string") throw new Error(`files.${part} lacks path, bytes or sha256`);
    }
    return manifest;
  } catch (error) {
    throw new OwnvoiceError("base-corrupt", `the manifest of the base voice cannot be read: ${/** @type {Error} */ (error).message}`);
  }
}

/**
 * The files that a manifest names, from the cache or from the network. `cached` tells, once they are written, whether the next visit will find them all in
 * the cache.
 * @param {string} base @param {Manifest} manifest @param {boolean} caching @param {AbortSignal} signal
 * @param {(loadedBytes: number, totalBytes: number) => void} onBytes
 */
export async function fetchBase(base, { files: { weights, lexicon, aligner, vocoder } }, caching, signal, onBytes) {
  const cache = caching ? await BaseCache.open(base) : null;
  const promised = [weights, lexicon, aligner, ...(vocoder ? [vocoder] : [])];
  const totalBytes = promised.reduce((sum, { bytes }) => sum + bytes, 0);
  const loaded = new Map();
  const count = (/** @type {string} */ path) => (/** @type {number} */ loadedBytes) => {
    loaded.set(path, loadedBytes);
    onBytes([...loaded.values()].reduce((a, b) => a + b, 0), totalBytes);
  };
  const files = await Promise.all(promised.map((file) => verified(base, file, cache, signal, count(file.path))));
  const cached = cache?.tidy(promised.map(({ sha256 }) => sha256)).catch(() => false) ?? Promise.resolve(false);
  return { parts: { weights: files[0], lexicon: files[1], aligner: files[2], vocoder: files.at(3) }, cached };
}

/** Compiles the module. It is served as a gzip file, so that it is small on every host; some hosts unpack it on the way.
 * @param {string} url @param {AbortSignal} signal @param {(loadedBytes: number) => void} onBytes */
export async function compile(url, signal, onBytes) {
  const response = await get(url, signal);
  try {
    const packed = await counted(response, onBytes).blob();
    const [first] = new Uint8Array(await packed.slice(0, 1).arrayBuffer());
    const GZIP = 0x1f;
    const stream = first === GZIP ? packed.stream().pipeThrough(new DecompressionStream("gzip")) : packed.stream();
    return await WebAssembly.compileStreaming(new Response(stream, { headers: { "content-type": "application/wasm" } }));
  } catch (error) {
    check(signal);
    throw new OwnvoiceError("download-failed", `the program could not be compiled: ${/** @type {Error} */ (error).message}`);
  }
}
