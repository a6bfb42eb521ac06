// Audio capture. Opening can be cancelled, because the visitor may never answer the browser's question.

import init, { Microphone as WebMicrophone } from "../pkg/ownvoice_web.js";
import { throwIfAborted, unlessAborted } from "./errors.js";

/** @import { Audio } from "./clip.js" */

/** The microphone without echo cancellation, noise suppression or gain control, at its own sample rate. `studio.microphone` is one. */
export class Microphone {
  #inner;
  /** Resolves once an `open` that was cancelled before the visitor answered has closed the microphone. */
  #abandoned = Promise.resolve();

  /**
   * @internal
   * @param {WebMicrophone} inner
   */
  constructor(inner) {
    this.#inner = inner;
  }

  /**
   * Prepares a microphone. Audio worklets need a window, so the page also runs the module that the worker compiled.
   * @internal
   * @param {WebAssembly.Module} module @param {string} worklet
   */
  static async prepare(module, worklet) {
    await init({ module_or_path: module });
    return new Microphone(await WebMicrophone.prepare(worklet));
  }

  /**
   * Opens the microphone, with the visitor's permission.
   *
   * @param {(peakDb: number, levelDb: number) => void} onLevel Called some 20 times a second, with levels below full scale.
   * @param {() => void} onLost Called when the device is unplugged.
   * @param {{ signal?: AbortSignal }} [options] Aborting rejects with `cancelled` and leaves the microphone closed, whatever the visitor answers.
   * @returns {Promise<void>}
   */
  async open(onLevel, onLost, { signal } = {}) {
    await this.#abandoned;
    throwIfAborted(signal);
    const opening = this.#inner.open(onLevel, onLost);
    try {
      await unlessAborted(opening, signal);
    } finally {
      if (signal?.aborted) this.#abandoned = opening.then(() => this.close(), () => {});
    }
  }

  /** @returns {boolean} */
  get isOpen() {
    return this.#inner.isOpen;
  }

  /** Starts a recording. */
  record() {
    this.#inner.record();
  }

  /** Ends the recording and returns it; the microphone stays open. @returns {Audio} */
  stop() {
    return this.#inner.stop();
  }

  /** Releases the microphone. */
  close() {
    this.#inner.close();
  }

  /** Releases the microphone and the browser's audio thread, for good. `studio.close` calls it. */
  end() {
    this.#inner.end();
  }
}
