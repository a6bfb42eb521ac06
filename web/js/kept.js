// What outlives the tab, from the page's side: recordings, and the last training. See store.js for where it lies.

import { Store } from "./store.js";

/** @import { Remote } from "./rpc.js" */

/** @typedef {{ id: string, text: string, samples: Float32Array, sampleRate: number }} Recording */
/** @typedef {{ bytes: number, persistent: boolean }} Usage Bytes of recordings, training and voice; and whether the browser promised not to make room of them. */

/** Recordings and training that outlive the tab, on this machine only. */
export class Kept {
  #name;
  #remote;

  /** @param {string} name @param {Remote} remote */
  constructor(name, remote) {
    this.#name = name;
    this.#remote = remote;
  }

  /** Forgets all that was kept under a name, and ends the training that is kept there. It needs no studio, so nothing that fails can prevent it.
   * @param {string} name As `keep` of `load`. @returns {Promise<void>} */
  static clear(name) {
    return Store.clear(name);
  }

  /** @param {string} name As `keep` of `load`. @returns {Promise<Usage>} Without a studio, too. */
  static async usage(name) {
    const persistent = (await navigator.storage?.persisted?.()) ?? false;
    return { bytes: await Store.bytes(name), persistent };
  }

  /** @returns {Promise<Recording[]>} */
  recordings() {
    return this.#remote.call("recordings", {});
  }

  /** @param {Recording} recording @returns {Promise<void>} Resolves once it is on disk; fails with `storage-full` where there is no room. */
  put({ id, text, samples, sampleRate }) {
    return this.#remote.call("keepRecording", { id, text, samples, sampleRate });
  }

  /** @param {string} id @returns {Promise<void>} */
  remove(id) {
    return this.#remote.call("forgetRecording", { id });
  }

  /**
   * Where the last training stood (`studio.resume` goes on with it), the voice that it made (`studio.open` opens it), and voices that this base cannot
   * open, as another base made them: files to be saved.
   * @returns {Promise<{ checkpoint: { iteration: number, iterations: number } | null, voice: Blob | null, otherVoices: Blob[] }>}
   */
  async training() {
    const { checkpoint, voice, others } = await this.#remote.call("run", {});
    const file = (/** @type {Uint8Array<ArrayBuffer>} */ bytes) => new Blob([bytes], { type: "application/octet-stream" });
    return { checkpoint, voice: voice && file(voice), otherVoices: others.map(file) };
  }

  /** @returns {Promise<Usage>} */
  usage() {
    return Kept.usage(this.#name);
  }

  /** Asks the browser not to make room of it; some ask the visitor. Best when there is something to lose. @returns {Promise<boolean>} Whether it promised. */
  async persist() {
    return (await navigator.storage?.persist?.()) ?? false;
  }

  /** Forgets everything, and ends the training that is kept, in whichever tab: its error is `cancelled`. @returns {Promise<void>} */
  clear() {
    return Kept.clear(this.#name);
  }
}
