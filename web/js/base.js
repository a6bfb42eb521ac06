// Fetches the base voice and the WebAssembly module, with progress and checks.

import { BaseCache, counted, get, verified } from "./download.js";
import { OwnvoiceError, throwIfAborted } from "./errors.js";

/** @import { ManifestFile } from "./download.js" */
/**
 * The part of a base's manifest.json that is read here.
 * @typedef {object} Manifest
 * @property {{ weights: ManifestFile, lexicon: ManifestFile, aligner: ManifestFile, vocoder?: ManifestFile }} files Without a vocoder, Griffin-Lim is used.
 */

/** Fetches a base's manifest. @param {string} base Folder of the base. @param {AbortSignal} signal @returns {Promise<{ text: string, manifest: Manifest }>} */
export async function fetchManifest(base, signal) {
  const text = await (await get(new URL("manifest.json", base), signal)).text();
  return { text, manifest: parse(text) };
}

/** Parses a manifest and checks what is used of it. @param {string} text @returns {Manifest} */
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
 * Returns the files that a manifest names, from the cache or from the network. `cached` resolves once they are written, to whether the cache holds all of them.
 * @param {string} base @param {Manifest} manifest @param {boolean} caching @param {AbortSignal} signal
 * @param {(loadedBytes: number, totalBytes: number) => void} onBytes
 */
export async function fetchBase(base, { files: { weights, lexicon, aligner, vocoder } }, caching, signal, onBytes) {
  const cache = caching ? await BaseCache.open(base) : null;
  const wanted = [weights, lexicon, aligner, ...(vocoder ? [vocoder] : [])];
  const totalBytes = wanted.reduce((sum, { bytes }) => sum + bytes, 0);
  const loaded = new Map();
  const count = (/** @type {string} */ path) => (/** @type {number} */ loadedBytes) => {
    loaded.set(path, loadedBytes);
    onBytes([...loaded.values()].reduce((a, b) => a + b, 0), totalBytes);
  };
  const files = await Promise.all(wanted.map((file) => verified(base, file, cache, signal, count(file.path))));
  const cached = cache?.tidy(wanted.map(({ sha256 }) => sha256)).catch(() => false) ?? Promise.resolve(false);
  return { parts: { weights: files[0], lexicon: files[1], aligner: files[2], vocoder: files.at(3) }, cached };
}

/** Fetches and compiles the module. It is a gzip file, so that it is small on every host, but some hosts decompress it while they serve it.
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
    throwIfAborted(signal);
    throw new OwnvoiceError("download-failed", `the program could not be compiled: ${/** @type {Error} */ (error).message}`);
  }
}
