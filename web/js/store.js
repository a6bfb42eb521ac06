// Stores recordings and the running training in the browser's private file system (OPFS), through synchronous handles, which only workers have.
//
// A write creates a new file `KEY.NUMBER` beside the old one, flushes it, and only then removes the old one. A file begins with its own hash, so that a
// truncated one is recognised. At whatever moment the tab ends, one of the two is complete.

import { serialize, deserialize } from "./serialize.js";
import { OwnvoiceError } from "./errors.js";

/** @typedef {"recordings" | "run" | "kept" | "bases"} Folder */
/** @typedef {(folder: Folder, key: string) => Promise<any>} Read */

/** In workers only. @typedef {{ write: (bytes: Uint8Array, options: { at: number }) => number, flush: () => void, close: () => void }} SyncAccessHandle */
/** @param {FileSystemFileHandle} handle @returns {Promise<SyncAccessHandle>} */
const synchronous = (handle) => /** @type {any} */ (handle).createSyncAccessHandle();

/** Calls `use`, and again if it fails: a browser may fail for a moment, for example while a virus scanner holds the file. A full disk stays full. @template T @param {() => Promise<T>} use */
const twice = (use) => use().catch((error) => (isFull(error) ? Promise.reject(error) : use()));

/** @param {unknown} error */
const isFull = (error) => /** @type {DOMException} */ (error)?.name === "QuotaExceededError" || /** @type {any} */ (error)?.code === "storage-full";

/** Throws the error as one with a code. @param {unknown} error @returns {never} */
function throwCoded(error) {
  if (isFull(error)) throw new OwnvoiceError("storage-full", "the browser has no space left for this page");
  throw new OwnvoiceError("storage-failed", `the browser could not write: ${/** @type {Error} */ (error).message}`);
}

/** Returns the name of the lock of a store: exclusive for changes, shared for reading. @param {string} name */
const lockOf = (name) => `ownvoice-store-${name}`;

/** Returns the name of the lock that a training holds in the store. @param {string} name */
export const trainingLock = (name) => `ownvoice-training-${name}`;

/** Longest wait for the lock before a deletion takes it by force. It is held for no longer than a write, but a worker may hang in one. */
const CLEAR_WAIT_MS = 5000;

export class Store {
  #name;

  /** @param {string} name */
  constructor(name) {
    this.#name = name;
  }

  get name() {
    return this.#name;
  }

  /** Opens a store. Throws `storage-unavailable` where the browser has no private file system for this page. @param {string} name @returns {Promise<Store>} */
  static async open(name) {
    try {
      if (!("createSyncAccessHandle" in FileSystemFileHandle.prototype)) throw new Error("this browser's files cannot be written from a worker");
      await twice(() => navigator.storage.getDirectory());
      return new Store(name);
    } catch (error) {
      throw new OwnvoiceError("storage-unavailable", /** @type {Error} */ (error).message);
    }
  }

  /** Deletes a store, after notifying its writers. It works on any thread and needs no open store. @param {string} name */
  static async clear(name) {
    if (!navigator.storage?.getDirectory) return; // nothing can have been stored
    const channel = new BroadcastChannel(lockOf(name));
    channel.postMessage("cleared");
    channel.close();
    let removing = false;
    const remove = async () => {
      removing = true;
      const root = await navigator.storage.getDirectory();
      await root.removeEntry(encodeURIComponent(name), { recursive: true }).catch(unlessMissing);
    };
    try {
      await navigator.locks.request(lockOf(name), { signal: AbortSignal.timeout(CLEAR_WAIT_MS) }, remove);
    } catch (error) {
      if (removing) throw error;
      await navigator.locks.request(lockOf(name), { steal: true }, remove);
    }
  }

  /** Returns the bytes in a store. It works on any thread. @param {string} name @returns {Promise<number>} */
  static async bytes(name) {
    if (!navigator.storage?.getDirectory) return 0;
    return navigator.locks.request(lockOf(name), { mode: "shared" }, async () => {
      const root = await navigator.storage.getDirectory();
      return sizeOf(await root.getDirectoryHandle(encodeURIComponent(name)).catch(unlessMissing));
    });
  }

  /** Calls `listener` when the store is cleared, in any tab. @param {() => void} listener */
  onCleared(listener) {
    new BroadcastChannel(lockOf(this.#name)).onmessage = listener;
  }

  /**
   * Writes a value. Resolves to true once it is on disk, or to false without writing where `wanted`, called under the lock, returns false.
   * @param {Folder} folder @param {string} key @param {unknown} value @param {(read: Read) => Promise<boolean>} [wanted] @returns {Promise<boolean>}
   */
  async put(folder, key, value, wanted) {
    const bytes = await serialize(value);
    return this.#exclusive(async () => {
      if (wanted && !(await wanted((folder, key) => this.#read(folder, key)))) return false;
      const directory = /** @type {FileSystemDirectoryHandle} */ (await this.#folder(folder, true).catch(throwCoded));
      const before = await numbers(directory, key);
      const name = fileName(key, 1 + (before[0] ?? 0));
      try {
        await writeFile(await directory.getFileHandle(name, { create: true }), bytes);
      } catch (error) {
        await directory.removeEntry(name).catch(() => {}); // it may not even have been created
        throwCoded(error);
      }
      // Older files are never read while the new one is complete, and the next write removes them.
      for (const number of before) await directory.removeEntry(fileName(key, number)).catch(() => {});
      return true;
    });
  }

  /** Returns a value, or undefined where there is none. @param {Folder} folder @param {string} key @returns {Promise<any>} */
  get(folder, key) {
    return this.#shared(() => this.#read(folder, key));
  }

  /** Returns the keys, in order. @param {Folder} folder @returns {Promise<string[]>} */
  keys(folder) {
    return this.#shared(() => this.#keys(folder));
  }

  /** Returns the values, in the order of their keys. @param {Folder} folder @returns {Promise<any[]>} */
  all(folder) {
    return this.#shared(async () => {
      const values = await Promise.all((await this.#keys(folder)).map((key) => this.#read(folder, key)));
      return values.filter((value) => value !== undefined);
    });
  }

  /** @param {Folder} folder @param {string} key @returns {Promise<void>} */
  remove(folder, key) {
    return this.#exclusive(async () => {
      const directory = await this.#folder(folder);
      // The newest is removed last: should one removal fail, no older value comes back.
      for (const number of (await numbers(directory, key)).reverse()) await directory?.removeEntry(fileName(key, number));
    });
  }

  /** @param {Folder} folder @param {string} key */
  async #read(folder, key) {
    const directory = await this.#folder(folder);
    for (const number of await numbers(directory, key)) {
      const file = await (await directory?.getFileHandle(fileName(key, number)))?.getFile();
      const value = file && (await deserialize(await file.arrayBuffer()));
      if (value !== undefined) return value;
    }
  }

  /** @param {Folder} folder */
  async #keys(folder) {
    return [...new Set((await names(await this.#folder(folder))).map(keyOf))].sort();
  }

  /** Looks a folder up, each time, because another tab may have removed it. @param {Folder} folder @param {boolean} [create] Without it, the folder may be missing. */
  async #folder(folder, create = false) {
    try {
      const root = await navigator.storage.getDirectory();
      const top = await root.getDirectoryHandle(encodeURIComponent(this.#name), { create });
      return await top.getDirectoryHandle(folder, { create });
    } catch (error) {
      return unlessMissing(/** @type {DOMException} */ (error));
    }
  }

  /** Calls `change` under the exclusive lock, across tabs. @template T @param {() => Promise<T>} change @returns {Promise<T>} */
  #exclusive(change) {
    return navigator.locks.request(lockOf(this.#name), () => twice(change));
  }

  /** Calls `read` under the lock that readers share. @template T @param {() => Promise<T>} read @returns {Promise<T>} */
  #shared(read) {
    return navigator.locks.request(lockOf(this.#name), { mode: "shared" }, () => twice(read));
  }
}

/** Returns undefined for the error of a missing file, throws any other. @param {DOMException} error @returns {undefined} */
function unlessMissing(error) {
  if (error.name !== "NotFoundError") throw error;
}

/** Returns the bytes of all files in a directory. @param {FileSystemDirectoryHandle | undefined} directory @returns {Promise<number>} */
async function sizeOf(directory) {
  let sum = 0;
  for await (const entry of directory?.values() ?? []) {
    sum += entry.kind === "file" ? (await /** @type {FileSystemFileHandle} */ (entry).getFile()).size : await sizeOf(/** @type {FileSystemDirectoryHandle} */ (entry));
  }
  return sum;
}

/** Writes and flushes a file. @param {FileSystemFileHandle} handle @param {Uint8Array<ArrayBuffer>} bytes */
async function writeFile(handle, bytes) {
  const file = await synchronous(handle);
  try {
    const written = file.write(bytes, { at: 0 });
    if (written < bytes.length) throw new OwnvoiceError("storage-full", "the browser has no space left for this page");
    file.flush();
  } finally {
    file.close();
  }
}

/** @param {string} key @param {number} number */
const fileName = (key, number) => `${encodeURIComponent(key)}.${number}`;
/** @param {string} name */
const keyOf = (name) => decodeURIComponent(name.slice(0, name.lastIndexOf(".")));

/** @param {FileSystemDirectoryHandle | undefined} directory @returns {Promise<string[]>} */
async function names(directory) {
  const found = [];
  for await (const name of directory?.keys() ?? []) found.push(name);
  return found;
}

/** Returns the numbers of a key's files, the newest first. @param {FileSystemDirectoryHandle | undefined} directory @param {string} key @returns {Promise<number[]>} */
async function numbers(directory, key) {
  const files = (await names(directory)).filter((name) => keyOf(name) === key);
  return files.map((name) => Number(name.slice(name.lastIndexOf(".") + 1))).sort((a, b) => b - a);
}
