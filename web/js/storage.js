// Recordings and training that outlive the tab: the page's side. The worker writes them (store.js).

import { throwIfAborted } from "./errors.js";
import { Store, trainingLock } from "./store.js";

/** @import { Clip, Recording } from "./options.js" */
/** @import { Connection } from "./connection.js" */

/**
 * Space in use.
 * @typedef {object} Usage
 * @property {number} bytes Bytes of recordings, training and voice.
 * @property {boolean} persistent Whether the browser has promised not to evict them.
 */
/**
 * The stored part of the last training.
 * @typedef {object} StoredTraining
 * @property {{ iteration: number, iterations: number } | null} checkpoint Where `studio.resume` would continue.
 * @property {Blob | null} voice The finished voice, for `studio.open`.
 * @property {Blob[]} otherVoices Voice files made with other bases, which this base cannot open.
 */

/** Recordings and training that outlive the tab, on this machine only. `load({ storage })` makes it. */
export class Storage {
  #name;
  #connection;
  /** What is being written. @type {Set<Promise<unknown>>} */
  #writes = new Set();

  /**
   * @internal
   * @param {string} name @param {Connection} connection
   */
  constructor(name, connection) {
    this.#name = name;
    this.#connection = connection;
  }

  /**
   * Deletes everything stored under a name and ends a training that is stored there. It needs no studio.
   *
   * @param {string} name The option `storage` of `load`.
   * @returns {Promise<void>}
   */
  static clear(name) {
    return Store.clear(name);
  }

  /**
   * Returns the space in use under a name. It needs no studio.
   *
   * @param {string} name The option `storage` of `load`.
   * @returns {Promise<Usage>}
   */
  static async usage(name) {
    const persistent = (await navigator.storage?.persisted?.()) ?? false;
    return { bytes: await Store.bytes(name), persistent };
  }

  /** Returns all recordings, in the order of their ids. @returns {Promise<Recording[]>} */
  recordings() {
    return this.#connection.call("recordings", {});
  }

  /**
   * Stores a recording. Resolves once it is on disk; rejects with `storage-full` where there is no space.
   *
   * @param {Recording} recording
   * @returns {Promise<void>}
   */
  put({ id, text, samples, sampleRate }) {
    return this.#writing(this.#connection.call("putRecording", { id, text, samples, sampleRate }));
  }

  /** Deletes a recording. @param {string} id @returns {Promise<void>} */
  remove(id) {
    return this.#connection.call("removeRecording", { id });
  }

  /** Returns the stored part of the last training. @returns {Promise<StoredTraining>} */
  async training() {
    const { checkpoint, voice, others } = await this.#connection.call("storedTraining", {});
    const file = (/** @type {Uint8Array<ArrayBuffer>} */ bytes) => new Blob([bytes], { type: "application/octet-stream" });
    const progress = checkpoint && { iteration: checkpoint.iteration, iterations: checkpoint.iterations };
    return { checkpoint: progress, voice: voice && file(voice), otherVoices: others.map(file) };
  }

  /** Returns the clips of the stored training, with which `studio.resume` would continue. @returns {Promise<Clip[]>} */
  trainingClips() {
    return this.#connection.call("trainingClips", {});
  }

  /** Resolves once no training is running, in any tab. @param {{ signal?: AbortSignal }} [options] @returns {Promise<void>} */
  async trainingEnded({ signal } = {}) {
    try {
      await navigator.locks.request(trainingLock(this.#name), { mode: "shared", signal }, () => {});
    } catch (error) {
      throwIfAborted(signal);
      throw error;
    }
  }

  /** Deletes a finished voice of a training. @param {string} id Its `info.id`. @returns {Promise<void>} */
  removeVoice(id) {
    return this.#connection.call("removeVoice", { id });
  }

  /**
   * Stores a value of the page's own beside the recordings, for example a voice with its name.
   *
   * @param {string} key
   * @param {unknown} value Plain values, `Uint8Array` and `Float32Array`.
   * @returns {Promise<void>}
   */
  keep(key, value) {
    return this.#writing(this.#connection.call("keep", { key, value }));
  }

  /** Returns a value that `keep` has stored; undefined where there is none. @param {string} key @returns {Promise<any>} */
  kept(key) {
    return this.#connection.call("kept", { key });
  }

  /** Returns the keys of these values, in order. @returns {Promise<string[]>} */
  keptKeys() {
    return this.#connection.call("keptKeys", {});
  }

  /** Deletes such a value. @param {string} key @returns {Promise<void>} */
  removeKept(key) {
    return this.#connection.call("removeKept", { key });
  }

  /** Keeps the loaded base, so that `studio.openBase` still opens its voices when a newer one has replaced it. @returns {Promise<void>} */
  keepBase() {
    return this.#writing(this.#connection.call("keepBase", {}));
  }

  /** Returns the hashes of the bases that are kept. @returns {Promise<string[]>} */
  keptBases() {
    return this.#connection.call("keptBases", {});
  }

  /** No longer keeps a base. @param {string} hash @returns {Promise<void>} */
  removeBase(hash) {
    return this.#connection.call("removeBase", { hash });
  }

  /** Returns the space in use. @returns {Promise<Usage>} */
  usage() {
    return Storage.usage(this.#name);
  }

  /** Asks the browser not to evict the data; some ask the visitor. @returns {Promise<boolean>} Whether it promised. */
  async persist() {
    return (await navigator.storage?.persist?.()) ?? false;
  }

  /** Resolves once everything that was to be written has been, or has failed. @returns {Promise<void>} */
  async settled() {
    await Promise.allSettled(this.#writes);
  }

  /** Deletes everything and ends a stored training in any tab, with the error `cancelled`. @returns {Promise<void>} */
  clear() {
    return Storage.clear(this.#name);
  }

  /** Remembers a write until it has ended. @template T @param {Promise<T>} write @returns {Promise<T>} */
  #writing(write) {
    this.#writes.add(write);
    const end = () => void this.#writes.delete(write);
    write.then(end, end);
    return write;
  }
}
