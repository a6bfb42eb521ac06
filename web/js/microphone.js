// The program's microphone, and a way out while the visitor is asked: a browser may wait for the answer for ever.

import init, { Microphone as WebMicrophone } from "../pkg/ownvoice_web.js";
import { check } from "./rpc.js";

/** @typedef {(peakDb: number, levelDb: number) => void} OnLevel */
/** @typedef {{ samples: Float32Array, sampleRate: number }} Recorded */
/** @typedef {{ open: (onLevel: OnLevel, onLost: () => void) => Promise<void>, readonly isOpen: boolean, record: () => void, stop: () => Recorded, close: () => void, end: () => void }} Capture The program's. */

/** The microphone as it is: no echo cancellation, no noise suppression, no gain control, at its own rate. */
export class Microphone {
  #inner;
  /** What was given up and may be answered yet. */
  #abandoned = Promise.resolve();

  /** @param {Capture} inner */
  constructor(inner) {
    this.#inner = inner;
  }

  /** The page runs the module that the worker compiled, for capture alone: audio worklets need a window.
   * @param {WebAssembly.Module} module @param {string} worklet */
  static async prepare(module, worklet) {
    await init({ module_or_path: module });
    return new Microphone(await WebMicrophone.prepare(worklet));
  }

  /** Asks the visitor. Levels follow some 20 times a second; `onLost` tells that the device went away.
   * @param {OnLevel} onLevel @param {() => void} onLost
   * @param {{ signal?: AbortSignal }} [options] Aborted, it ends with the error `cancelled`, and the microphone is closed whatever the visitor says.
   * @returns {Promise<void>} */
  async open(onLevel, onLost, { signal } = {}) {
    await this.#abandoned;
    check(signal);
    const opening = this.#inner.open(onLevel, onLost);
    if (!signal) return opening;
    const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    await Promise.race([opening, aborted]);
    if (signal.aborted) this.#abandoned = opening.then(() => this.close(), () => {});
    check(signal);
  }

  get isOpen() {
    return this.#inner.isOpen;
  }

  /** Starts a recording. */
  record() {
    this.#inner.record();
  }

  /** Ends the recording; the microphone stays open. @returns {Recorded} */
  stop() {
    return this.#inner.stop();
  }

  /** Releases the microphone. */
  close() {
    this.#inner.close();
  }

  /** Releases it and the browser's audio thread: it cannot be opened again. A studio that is closed does so. */
  end() {
    this.#inner.end();
  }
}
