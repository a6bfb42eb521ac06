// What the page keeps between visits: recordings, and the training that is under way. IndexedDB, because each write is all or nothing.

import { OwnvoiceError } from "./rpc.js";

const TABLES = /** @type {const} */ (["recordings", "run"]);

/** @param {IDBRequest} request @returns {Promise<any>} */
const done = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** @param {DOMException | null} error */
const failure = (error) => (error?.name === "QuotaExceededError" ? new OwnvoiceError("storage-full", "the browser has no room left for this page") : error);

export class Store {
  /** @param {IDBDatabase} database */
  constructor(database) {
    this.database = database;
  }

  /** @param {string} name @returns {Promise<Store>} */
  static async open(name) {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => TABLES.forEach((table) => request.result.createObjectStore(table));
    return new Store(await done(request));
  }

  /** @param {typeof TABLES[number]} table @param {string} key @param {unknown} value */
  put(table, key, value) {
    return this.#write(table, (rows) => rows.put(value, key));
  }

  /** @param {typeof TABLES[number]} table @param {string} key @returns {Promise<any>} undefined where there is none. */
  get(table, key) {
    return done(this.database.transaction(table).objectStore(table).get(key));
  }

  /** @param {typeof TABLES[number]} table @returns {Promise<any[]>} In the order of their keys. */
  all(table) {
    return done(this.database.transaction(table).objectStore(table).getAll());
  }

  /** @param {typeof TABLES[number]} table @param {string} key */
  remove(table, key) {
    return this.#write(table, (rows) => rows.delete(key));
  }

  /** @param {typeof TABLES[number]} table */
  clear(table) {
    return this.#write(table, (rows) => rows.clear());
  }

  /**
   * Resolves once the write is on disk, not only queued: a tab may close at any moment.
   * @param {typeof TABLES[number]} table @param {(rows: IDBObjectStore) => void} change
   * @returns {Promise<void>}
   */
  #write(table, change) {
    return new Promise((resolve, reject) => {
      const transaction = this.database.transaction(table, "readwrite", { durability: "strict" });
      transaction.oncomplete = () => resolve();
      // A full disk shows when the write is committed: as an abort, not as an error.
      transaction.onabort = () => reject(failure(transaction.error));
      change(transaction.objectStore(table));
    });
  }
}
