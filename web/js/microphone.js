// Audio capture. Opening can be cancelled, because the visitor may never answer the browser's question.

import init, { Microphone as WebMicrophone } from "../pkg/ownvoice_web.js";
import { OwnvoiceError, throwIfAborted, unlessAborted } from "./errors.js";

/** @import { Audio } from "./options.js" */

/** Sound arrives in chunks of 40 ms, each after some milliseconds more. */
const DELAY_MS = 60;
/** Longest wait for a chunk: a device that is unplugged sends none. */
const MAX_DELAY_MS = 500;

const delay = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The microphone without echo cancellation, noise suppression or gain control, at its own sample rate. `studio.microphone` is one. */
export class Microphone {
  #inner;
  /** Resolves once an `open` that was cancelled before the visitor answered has closed the microphone. */
  #abandoned = Promise.resolve();
  /** Called at each chunk of sound. */
  #onChunk = () => {};

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
    try {
      return new Microphone(await WebMicrophone.prepare(worklet));
    } catch (error) {
      throw new OwnvoiceError("microphone-failed", `the microphone could not be prepared: ${/** @type {Error} */ (error).message}`);
    }
  }

  /**
   * Opens the microphone, with the visitor's permission.
   *
   * @param {(peakDb: number, levelDb: number) => void} onLevel Called some 20 times a second, with levels below full scale.
   * @param {() => void} onLost Called when the device is unplugged.
   * @param {{ signal?: AbortSignal, deviceId?: string }} [options] Aborting rejects with the reason, by default `cancelled`, and leaves the microphone closed, whatever the visitor answers.
   *   `deviceId` is that of an audio input of `navigator.mediaDevices.enumerateDevices`; where it is gone, the browser chooses.
   * @returns {Promise<void>}
   */
  async open(onLevel, onLost, { signal, deviceId } = {}) {
    await this.#abandoned;
    throwIfAborted(signal);
    const report = (/** @type {number} */ peakDb, /** @type {number} */ levelDb) => {
      this.#onChunk();
      onLevel(peakDb, levelDb);
    };
    const openDevice = (/** @type {ConstrainDOMString | undefined} */ id) => this.#inner.open(report, onLost, id);
    // Browsers may take a device that is only wished for as none.
    const opening = deviceId ? openDevice({ exact: deviceId }).catch((error) => (error.code === "microphone-missing" ? openDevice(undefined) : Promise.reject(error))) : openDevice(undefined);
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

  /** Ends the recording and returns it, with all sound until this call; the microphone stays open. @returns {Promise<Audio>} */
  async stop() {
    // The last sound is still on its way.
    await delay(DELAY_MS);
    await Promise.race([new Promise((resolve) => (this.#onChunk = () => resolve(undefined))), delay(MAX_DELAY_MS)]);
    return this.#inner.stop();
  }

  /** Releases the microphone. */
  close() {
    this.#inner.close();
  }

  /** Releases the microphone at the end of a block with `await using`. @returns {Promise<void>} */
  async [Symbol.asyncDispose]() {
    this.close();
  }

  /** Releases the microphone and the browser's audio thread, for good. `studio.close` calls it. */
  end() {
    this.#inner.end();
  }
}
