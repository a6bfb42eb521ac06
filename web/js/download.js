// Fetches files with progress, checks them against the hashes of a manifest, and caches them.

import { OwnvoiceError, throwIfAborted } from "./errors.js";

/**
 * Fetches a file; fails with `download-failed`.
 * @param {string | URL} url
 * @param {AbortSignal} signal
 * @returns {Promise<Response>}
 */
export async function get(url, signal) {
  let response;
  try {
    response = await fetch(url, { signal });
  } catch (error) {
    throwIfAborted(signal);
    throw new OwnvoiceError("download-failed", `${new URL(url).pathname} could not be fetched: ${/** @type {Error} */ (error).message}`);
  }
  if (!response.ok) throw new OwnvoiceError("download-failed", `${new URL(url).pathname} answered ${response.status}`);
  return response;
}

/**
 * Wraps a response, so that it reports the bytes that have been read so far.
 * @param {Response} response
 * @param {(loadedBytes: number) => void} onBytes
 */
export function counted(response, onBytes) {
  let loaded = 0;
  const counter = new TransformStream({
    transform(chunk, controller) {
      onBytes((loaded += chunk.byteLength));
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body?.pipeThrough(counter), { headers: { "content-type": response.headers.get("content-type") ?? "" } });
}

/** Returns the SHA-256 in hexadecimal. @param {BufferSource} bytes @returns {Promise<string>} */
export async function sha256(bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * A file of a base voice, as its manifest names it.
 * @typedef {object} ManifestFile
 * @property {string} path Relative to the base's folder.
 * @property {number} bytes
 * @property {string} sha256
 */

/** Files of a base in the browser's cache, each under its hash, so that versions never mix. */
export class BaseCache {
  /** Writes under way, which loading does not wait for. @type {Promise<void>[]} */
  #writes = [];

  /** @param {Cache} cache @param {string} base */
  constructor(cache, base) {
    this.cache = cache;
    this.base = base;
  }

  /** @param {string} base Folder of the base voice. @returns {Promise<BaseCache | null>} Null where the browser has no cache. */
  static async open(base) {
    try {
      return new BaseCache(await caches.open("ownvoice-base"), base);
    } catch {
      return null; // an insecure origin or a private window
    }
  }

  /** @param {string} hash */
  #key(hash) {
    return new URL(`sha256/${hash}`, this.base).href;
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

  /** Completes the writes and removes files of older versions. Returns whether all of the given ones are cached. @param {string[]} hashes */
  async tidy(hashes) {
    await Promise.all(this.#writes);
    const wanted = new Set(hashes.map((hash) => this.#key(hash)));
    const cached = (await this.cache.keys()).map(({ url }) => url).filter((url) => url.startsWith(new URL("sha256/", this.base).href));
    await Promise.all(cached.filter((url) => !wanted.has(url)).map((url) => this.cache.delete(url)));
    return [...wanted].every((url) => cached.includes(url));
  }
}

/**
 * Returns a file of a base, from the cache or from the network, checked against its hash.
 * @param {string} base
 * @param {ManifestFile} file
 * @param {BaseCache | null} cache
 * @param {AbortSignal} signal
 * @param {(loadedBytes: number) => void} onBytes
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
export async function verified(base, file, cache, signal, onBytes) {
  const cached = await cache?.get(file.sha256);
  if (cached) {
    onBytes(cached.length);
    return cached;
  }
  const url = new URL(file.path, base);
  const response = counted(await get(url, signal), onBytes);
  let bytes;
  try {
    bytes = new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    throwIfAborted(signal);
    throw new OwnvoiceError("download-failed", `the download of ${url.pathname} was interrupted: ${/** @type {Error} */ (error).message}`);
  }
  const found = await sha256(bytes);
  if (found !== file.sha256) throw new OwnvoiceError("base-corrupt", `${url.pathname} is not the file that its manifest names`);
  cache?.put(file.sha256, bytes);
  return bytes;
}
