// Fetches the program and the base voice, with progress and checks, and caches the base voice.

import { OwnvoiceError } from "./errors.js";

/** @import { Prompt } from "./options.js" */

/**
 * Fetches a file; fails with `download-failed`.
 * @param {string | URL} url @param {AbortSignal} signal @param {(loadedBytes: number) => void} [onBytes] Called as the bytes arrive.
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
async function download(url, signal, onBytes) {
  try {
    const response = await fetch(url, { signal });
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    let loaded = 0;
    const counter = new TransformStream({
      transform(chunk, controller) {
        onBytes?.((loaded += chunk.byteLength));
        controller.enqueue(chunk);
      },
    });
    return new Uint8Array(await new Response(response.body?.pipeThrough(counter)).arrayBuffer());
  } catch (error) {
    signal.throwIfAborted();
    throw new OwnvoiceError("download-failed", `${new URL(url).pathname} could not be fetched: ${/** @type {Error} */ (error).message}`);
  }
}

/** Fails with `download-failed` where a host answered with a page, and with success, because a file is missing. @param {string} text Its beginning. @param {string | URL} url */
function assertNoPage(text, url) {
  if (/^\s*</.test(text)) throw new OwnvoiceError("download-failed", `${new URL(url).pathname} is missing: its host answered with a web page`);
}

/** Fetches a text. @param {string | URL} url @param {AbortSignal} signal */
async function downloadText(url, signal) {
  const text = new TextDecoder().decode(await download(url, signal));
  assertNoPage(text, url);
  return text;
}

/** Fetches the sentences to be read aloud. @param {string} url @param {AbortSignal} signal @returns {Promise<Prompt[]>} */
export async function fetchPrompts(url, signal) {
  const text = await downloadText(url, signal);
  try {
    const prompts = JSON.parse(text);
    if (!Array.isArray(prompts) || prompts.some((each) => typeof each?.id !== "string" || typeof each.text !== "string")) throw new Error("it is not a list of { id, text }");
    return prompts;
  } catch (error) {
    throw new OwnvoiceError("option-invalid", `the prompts cannot be read: ${/** @type {Error} */ (error).message}`);
  }
}

/** Returns the SHA-256 in hexadecimal. @param {BufferSource} bytes @returns {Promise<string>} */
export async function sha256(bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The addresses of a base's files: of its manifest, and of each part that is not at the path that the manifest names. @typedef {{ manifest: string, [part: string]: string }} Addresses */

/** Returns the addresses of a base that is served as a folder. @param {string} folder @returns {Addresses} */
export const inFolder = (folder) => ({ manifest: new URL("manifest.json", folder).href });

/**
 * A file of a base voice, as its manifest names it.
 * @typedef {object} ManifestFile
 * @property {string} path Relative to the manifest.
 * @property {number} bytes
 * @property {string} sha256
 */

/** Files of a base in the browser's cache, each under its hash, so that versions never mix. */
export class BaseCache {
  /** Writes under way, which loading does not wait for. @type {Promise<void>[]} */
  #writes = [];

  /** @param {Cache} cache @param {string} manifest */
  constructor(cache, manifest) {
    this.cache = cache;
    this.manifest = manifest;
  }

  /** @param {string} manifest Address of the base's manifest, beside which the files are cached. @returns {Promise<BaseCache | null>} Null where the browser has no cache. */
  static async open(manifest) {
    try {
      return new BaseCache(await caches.open("ownvoice-base"), manifest);
    } catch {
      return null; // an insecure origin or a private window
    }
  }

  /** @param {string} hash */
  #key(hash) {
    return new URL(`sha256/${hash}`, this.manifest).href;
  }

  /** Returns a file, or null where it is missing, damaged or cannot be read: it is then fetched. @param {string} hash @returns {Promise<Uint8Array<ArrayBuffer> | null>} */
  async get(hash) {
    const bytes = await this.cache.match(this.#key(hash)).then((found) => found?.arrayBuffer()).catch(() => null);
    return bytes && (await sha256(bytes)) === hash ? new Uint8Array(bytes) : null;
  }

  /** Begins to write a file. @param {string} hash @param {Uint8Array<ArrayBuffer>} bytes */
  put(hash, bytes) {
    this.#writes.push(this.cache.put(this.#key(hash), new Response(bytes)).catch(() => {})); // the disk is full: the next visit fetches it again
  }

  /** Completes the writes and removes all other files. Returns whether those that are needed are cached. @param {string[]} hashes Needed now. @param {string[] | null} [others] May stay; null: all may. */
  async tidy(hashes, others = []) {
    await Promise.all(this.#writes);
    const [wanted, stays] = [hashes, [...hashes, ...(others ?? [])]].map((list) => new Set(list.map((hash) => this.#key(hash))));
    const cached = (await this.cache.keys()).map(({ url }) => url).filter((url) => url.startsWith(new URL("sha256/", this.manifest).href));
    if (others) await Promise.all(cached.filter((url) => !stays.has(url)).map((url) => this.cache.delete(url)));
    return [...wanted].every((url) => cached.includes(url));
  }
}

/**
 * Returns a file of a base, from the cache or from the network, checked against its hash.
 * @param {string} url @param {string} hash @param {BaseCache | null} cache @param {AbortSignal} signal @param {(loadedBytes: number) => void} onBytes
 */
export async function verified(url, hash, cache, signal, onBytes) {
  const cached = await cache?.get(hash);
  if (cached) {
    onBytes(cached.length);
    return cached;
  }
  const bytes = await download(url, signal, onBytes);
  if ((await sha256(bytes)) !== hash) {
    assertNoPage(new TextDecoder().decode(bytes.subarray(0, 100)), url);
    throw new OwnvoiceError("base-corrupt", `${new URL(url).pathname} is not the file that its manifest names`);
  }
  cache?.put(hash, bytes);
  return bytes;
}

/** The format of manifests that this version reads; manifests without a `format` have it. */
const FORMAT = 1;

/** Fetches the manifest of a base; fails with `base-unsupported` where it is of another format. @param {Addresses} base @param {AbortSignal} signal */
export async function fetchManifest(base, signal) {
  const manifest = await downloadText(base.manifest, signal);
  const { format = FORMAT } = parsed(manifest);
  if (format !== FORMAT) throw new OwnvoiceError("base-unsupported", `the base voice has format ${format}, and this version of ownvoice reads format ${FORMAT}`);
  return manifest;
}

/**
 * Returns the files that a manifest names, from the cache or from the network. `cached` resolves once they are written, to whether the cache holds all of them.
 * @template {string} Part
 * @param {Addresses} base @param {string} manifest @param {readonly Part[]} required The parts that it must have; a vocoder is optional.
 * @param {boolean} caching @param {string[] | null} others Manifests whose files stay in the cache; null: all files stay. @param {AbortSignal} signal
 * @param {(loadedBytes: number, totalBytes: number) => void} onBytes
 */
export async function fetchBase(base, manifest, required, caching, others, signal, onBytes) {
  const cache = caching ? await BaseCache.open(base.manifest) : null;
  const files = filesOf(manifest, required);
  const totalBytes = sum(files.map(({ bytes }) => bytes));
  const loaded = files.map(() => 0);
  const fetched = files.map(async (file, index) => {
    const bytes = await verified(base[file.part] ?? new URL(file.path, base.manifest).href, file.sha256, cache, signal, (bytes) => {
      loaded[index] = bytes;
      onBytes(sum(loaded), totalBytes);
    });
    return [file.part, bytes];
  });
  /** @type {{ vocoder?: Uint8Array } & { [part in Part]: Uint8Array }} */
  const parts = Object.fromEntries(await Promise.all(fetched));
  const hashes = (/** @type {string[]} */ manifests) => manifests.flatMap((text) => filesOf(text, required)).map(({ sha256 }) => sha256);
  const cached = cache?.tidy(hashes([manifest]), others && hashes(others)).catch(() => false);
  return { parts, cached };
}

/** Returns the files that a manifest names. @param {string} manifest @param {readonly string[]} required @returns {(ManifestFile & { part: string })[]} */
function filesOf(manifest, required) {
  const { files } = parsed(manifest);
  try {
    return (files.vocoder ? [...required, "vocoder"] : required).map((part) => {
      const { path, bytes, sha256 } = files[part];
      if (typeof path !== "string" || typeof bytes !== "number" || typeof sha256 !== "string") throw new Error(`files.${part} lacks path, bytes or sha256`);
      return { part, path, bytes, sha256 };
    });
  } catch (error) {
    throw unreadable(error);
  }
}

/** @param {string} manifest @returns {{ format?: unknown, files?: any }} */
function parsed(manifest) {
  try {
    return Object(JSON.parse(manifest));
  } catch (error) {
    throw unreadable(error);
  }
}

/** @param {unknown} error */
const unreadable = (error) => new OwnvoiceError("base-corrupt", `the manifest of the base voice cannot be read: ${/** @type {Error} */ (error).message}`);

/** @param {number[]} values */
const sum = (values) => values.reduce((all, value) => all + value, 0);

/** Fetches and compiles the module. It is a gzip file, so that it is small on every host, but some hosts decompress it while they serve it.
 * @param {string} url @param {AbortSignal} signal @param {(loadedBytes: number) => void} onBytes */
export async function compile(url, signal, onBytes) {
  const packed = await download(url, signal, onBytes);
  try {
    const GZIP = 0x1f;
    const stream = new Blob([packed]).stream();
    const module = packed[0] === GZIP ? stream.pipeThrough(new DecompressionStream("gzip")) : stream;
    return await WebAssembly.compileStreaming(new Response(module, { headers: { "content-type": "application/wasm" } }));
  } catch (error) {
    throw new OwnvoiceError("download-failed", `the program could not be compiled: ${/** @type {Error} */ (error).message}`);
  }
}
