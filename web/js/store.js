// What the page keeps between visits: recordings, and the training that is under way. In the browser's private file system (OPFS), written through
// synchronous handles, which only workers have.
//
// A write makes a new file `KEY.NUMBER` beside the one before and flushes it, and only then removes that one. A file begins with its own hash. So whatever
// ends the tab, and whenever, one of them is whole, and half a file is never taken for one.

import { pack, unpack } from "./pack.js";
import { OwnvoiceError } from "./rpc.js";

const FOLDERS = /** @type {const} */ (["recordings", "run"]);
/** @typedef {typeof FOLDERS[number]} Folder */

/** What only workers have. @typedef {{ write: (bytes: Uint8Array, options: { at: number }) => number, flush: () => void, close: () => void }} SyncAccessHandle */
/** @param {FileSystemFileHandle} handle @returns {Promise<SyncAccessHandle>} */
const synchronous = (handle) => /** @type {any} */ (handle).createSyncAccessHandle();

/** @param {unknown} error @returns {unknown} */
const failure = (error) =>
  /** @type {DOMException} */ (error)?.name === "QuotaExceededError" ? new OwnvoiceError("storage-full", "the browser has no room left for this page") : error;

export class Store {
  #name;
  #folders;

  /** @param {string} name @param {Map<Folder, FileSystemDirectoryHandle>} folders */
  constructor(name, folders) {
    this.#name = name;
    this.#folders = folders;
  }

  /** Fails with `storage-unavailable` where the browser keeps nothing for this page. @param {string} name @returns {Promise<Store>} */
  static async open(name) {
    try {
      if (!("createSyncAccessHandle" in FileSystemFileHandle.prototype)) throw new Error("this browser's files cannot be written from a worker");
      const root = await navigator.storage.getDirectory();
      const top = await root.getDirectoryHandle(encodeURIComponent(name), { create: true });
      const folders = await Promise.all(FOLDERS.map(async (folder) => /** @type {const} */ ([folder, await top.getDirectoryHandle(folder, { create: true })])));
      return new Store(name, new Map(folders));
    } catch (error) {
      throw new OwnvoiceError("storage-unavailable", /** @type {Error} */ (error).message);
    }
  }

  /** Resolves once the value is on disk. @param {Folder} folder @param {string} key @param {unknown} value */
  async put(folder, key, value) {
    const bytes = await pack(value);
    await this.#alone(async () => {
      const directory = this.#folder(folder);
      const before = await numbers(directory, key);
      const name = fileName(key, 1 + (before[0] ?? 0));
      try {
        await write(await directory.getFileHandle(name, { create: true }), bytes);
      } catch (error) {
        await directory.removeEntry(name).catch(() => {}); // not even its name fitted
        throw failure(error);
      }
      for (const number of before) await directory.removeEntry(fileName(key, number));
    });
  }

  /** @param {Folder} folder @param {string} key @returns {Promise<any>} undefined where there is none. */
  async get(folder, key) {
    const directory = this.#folder(folder);
    for (const number of await numbers(directory, key)) {
      const file = await (await directory.getFileHandle(fileName(key, number))).getFile();
      const value = await unpack(await file.arrayBuffer());
      if (value !== undefined) return value;
    }
  }

  /** @param {Folder} folder @returns {Promise<any[]>} In the order of their keys. */
  async all(folder) {
    const keys = new Set();
    for await (const name of this.#folder(folder).keys()) keys.add(keyOf(name));
    const values = await Promise.all([...keys].sort().map((key) => this.get(folder, key)));
    return values.filter((value) => value !== undefined);
  }

  /** @param {Folder} folder @param {string} key */
  async remove(folder, key) {
    await this.#alone(async () => {
      for (const number of await numbers(this.#folder(folder), key)) await this.#folder(folder).removeEntry(fileName(key, number));
    });
  }

  /** @param {Folder} folder */
  async clear(folder) {
    await this.#alone(async () => {
      for (const name of await names(this.#folder(folder))) await this.#folder(folder).removeEntry(name);
    });
  }

  /** @returns {Promise<number>} Bytes of all that is kept. */
  async bytes() {
    let sum = 0;
    for (const folder of FOLDERS) {
      for (const name of await names(this.#folder(folder))) sum += (await (await this.#folder(folder).getFileHandle(name)).getFile()).size;
    }
    return sum;
  }

  /** @param {Folder} folder */
  #folder(folder) {
    return /** @type {FileSystemDirectoryHandle} */ (this.#folders.get(folder));
  }

  /** One change after the other, those of other tabs as well. @param {() => Promise<void>} change */
  #alone(change) {
    return navigator.locks.request(`ownvoice-store-${this.#name}`, change);
  }
}

/** @param {FileSystemFileHandle} handle @param {Uint8Array<ArrayBuffer>} bytes */
async function write(handle, bytes) {
  const file = await synchronous(handle);
  try {
    const written = file.write(bytes, { at: 0 });
    if (written < bytes.length) throw new OwnvoiceError("storage-full", "the browser has no room left for this page");
    file.flush();
  } finally {
    file.close();
  }
}

/** @param {string} key @param {number} number */
const fileName = (key, number) => `${encodeURIComponent(key)}.${number}`;
/** @param {string} name */
const keyOf = (name) => decodeURIComponent(name.slice(0, name.lastIndexOf(".")));

/** @param {FileSystemDirectoryHandle} directory @returns {Promise<string[]>} */
async function names(directory) {
  const found = [];
  for await (const name of directory.keys()) found.push(name);
  return found;
}

/** The numbers of a key's files, the newest first. @param {FileSystemDirectoryHandle} directory @param {string} key @returns {Promise<number[]>} */
async function numbers(directory, key) {
  const files = (await names(directory)).filter((name) => keyOf(name) === key);
  return files.map((name) => Number(name.slice(name.lastIndexOf(".") + 1))).sort((a, b) => b - a);
}
