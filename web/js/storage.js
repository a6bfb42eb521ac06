// Recordings and training that outlive the tab, from the page's side. store.js writes them.

import { Store } from "./store.js";

/** @import { Remote } from "./rpc.js" */

/**
 * A stored recording.
 * @typedef {object} Recording
 * @property {string} id Any text; a recording of the same id is replaced.
 * @property {string} text The words that are spoken.
 * @property {Float32Array} samples Mono, from -1 to 1.
 * @property {number} sampleRate Hz
 */
/**
 * Space in use.
 * @typedef {object} Usage
 * @property {number} bytes Of recordings, training and voice.
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
  #remote;

  /**
   * @internal
   * @param {string} name @param {Remote} remote
   */
  constructor(name, remote) {
    this.#name = name;
    this.#remote = remote;
  }

  /**
   * Deletes everything stored under a name and ends a training that is stored there. Needs no studio.
   *
   * @param {string} name The option `storage` of `load`.
   * @returns {Promise<void>}
   */
  static clear(name) {
    return Store.clear(name);
  }

  /**
   * Space in use under a name. Needs no studio.
   *
   * @param {string} name The option `storage` of `load`.
   * @returns {Promise<Usage>}
   */
  static async usage(name) {
    const persistent = (await navigator.storage?.persisted?.()) ?? false;
    return { bytes: await Store.bytes(name), persistent };
  }

  /** All recordings, in the order of their ids. @returns {Promise<Recording[]>} */
  recordings() {
    return this.#remote.call("recordings", {});
  }

  /**
   * Stores a recording. Resolves once it is on disk; rejects with `storage-full` where there is no space.
   *
   * @param {Recording} recording
   * @returns {Promise<void>}
   */
  put({ id, text, samples, sampleRate }) {
    return this.#remote.call("putRecording", { id, text, samples, sampleRate });
  }

  /** Deletes a recording. @param {string} id @returns {Promise<void>} */
  remove(id) {
    return this.#remote.call("removeRecording", { id });
  }

  /** The stored part of the last training. @returns {Promise<StoredTraining>} */
  async training() {
    const { checkpoint, voice, others } = await this.#remote.call("storedTraining", {});
    const file = (/** @type {Uint8Array<ArrayBuffer>} */ bytes) => new Blob([bytes], { type: "application/octet-stream" });
    return { checkpoint, voice: voice && file(voice), otherVoices: others.map(file) };
  }

  /** Space in use. @returns {Promise<Usage>} */
  usage() {
    return Storage.usage(this.#name);
  }

  /** Asks the browser not to evict the data; some ask the visitor. @returns {Promise<boolean>} Whether it promised. */
  async persist() {
    return (await navigator.storage?.persist?.()) ?? false;
  }

  /** Deletes everything and ends a stored training in any tab, with the error `cancelled`. @returns {Promise<void>} */
  clear() {
    return Storage.clear(this.#name);
  }
}
