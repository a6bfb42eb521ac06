// What outlives the tab, from the page's side: recordings, and the last training. See store.js for where it lies.

/** @import { Remote } from "./rpc.js" */

/** @typedef {{ id: string, text: string, samples: Float32Array, sampleRate: number }} Recording */
/** @typedef {{ bytes: number, persistent: boolean }} Usage Bytes of recordings, training and voice; and whether the browser promised not to make room of them. */

/** Recordings and training that outlive the tab, on this machine only. */
export class Kept {
  #remote;

  /** @param {Remote} remote */
  constructor(remote) {
    this.#remote = remote;
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
   * Where the last training stood (`studio.resume` goes on with it), and the voice that it made (`studio.open` opens it).
   * @returns {Promise<{ checkpoint: { iteration: number, iterations: number } | null, voice: Blob | null }>}
   */
  async training() {
    const { checkpoint, voice } = await this.#remote.call("run", {});
    return { checkpoint, voice: voice && new Blob([voice]) };
  }

  /** @returns {Promise<Usage>} */
  async usage() {
    const persistent = (await navigator.storage?.persisted?.()) ?? false;
    return { bytes: await this.#remote.call("keptBytes", {}), persistent };
  }

  /** Asks the browser not to make room of it; some ask the visitor. Best when there is something to lose. @returns {Promise<boolean>} Whether it promised. */
  async persist() {
    return (await navigator.storage?.persist?.()) ?? false;
  }

  /** Forgets everything. @returns {Promise<void>} */
  clear() {
    return this.#remote.call("forgetAll", {});
  }
}
