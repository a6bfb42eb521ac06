// Calls from the page to its worker, with progress, cancellation, early stop, and errors with codes.
//
// page -> worker   { id, method, args }   { id, signal: "cancel" | "stop" }
// worker -> page   { id, progress }       { id, result }       { id, error: { code, message, clip, found } }
//                  { crash: { code, message } }       { life: name of a lock that the worker holds while it lives }

import { OwnvoiceError, check, describe } from "./errors.js";

/**
 * @typedef {object} CallOptions
 * @property {AbortSignal} [signal] Ends the call with the error `cancelled`.
 * @property {AbortSignal} [stopSignal] Ends the call early with the result so far.
 * @property {(progress: any) => void} [onProgress]
 * @property {Transferable[]} [transfer] Buffers that move to the worker.
 */

/** Pause before a signal is sent again. */
const RETRY_MS = 100;

/**
 * Sends a message, a second time where the first fails: memory may be short for a moment.
 * Throws `message-failed` where the message cannot be cloned, or no memory is left to clone it.
 * @param {{ postMessage: (message: unknown, transfer: Transferable[]) => void }} port @param {unknown} message @param {Transferable[]} [transfer]
 */
function post(port, message, transfer = []) {
  try {
    port.postMessage(message, transfer);
  } catch {
    try {
      port.postMessage(message, transfer);
    } catch (error) {
      throw new OwnvoiceError("message-failed", `a message could not be sent: ${/** @type {Error} */ (error).message}`);
    }
  }
}

/** The page's side. */
export class Remote {
  /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void, onProgress?: (progress: any) => void }>} */
  #calls = new Map();
  #nextId = 1;
  /** @type {OwnvoiceError | null} Why the worker has ended. */
  #ended = null;
  #closing = new AbortController();
  /** @type {(reason: OwnvoiceError) => void} */
  #resolveEnded = () => {};
  /** @type {Promise<OwnvoiceError>} Resolves when the worker has ended, with the reason. */
  ended = new Promise((resolve) => (this.#resolveEnded = resolve));

  /** @param {Worker} worker */
  constructor(worker) {
    this.worker = worker;
    worker.onmessage = ({ data }) => this.#receive(data);
    worker.onerror = (event) => {
      // It would go on to the global scope, where a worker takes it for its own crash.
      event.preventDefault();
      // An error in a script has a message; a script that could not be loaded has none.
      this.#end(event.message ? "worker-crashed" : "worker-unavailable", event.message || "the worker could not be started");
    };
    worker.onmessageerror = () => this.#end("worker-crashed", "a message of the worker could not be read");
  }

  /**
   * @param {string} method @param {unknown} args @param {CallOptions} [options]
   * @returns {Promise<any>}
   */
  call(method, args, { signal, stopSignal, onProgress, transfer = [] } = {}) {
    if (this.#ended) return Promise.reject(this.#ended);
    if (signal?.aborted) return Promise.reject(new OwnvoiceError("cancelled", "cancelled"));
    const id = this.#nextId++;
    /** Sent again until it arrives or the call has ended: what was stopped must not go on. @param {"cancel" | "stop"} signal */
    const tell = (signal) => {
      if (!this.#calls.has(id)) return;
      try {
        post(this.worker, { id, signal });
      } catch {
        setTimeout(tell, RETRY_MS, signal);
      }
    };
    const cancel = () => tell("cancel");
    const stop = () => tell("stop");
    const answer = new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject, onProgress });
      try {
        post(this.worker, { id, method, args }, transfer);
      } catch (error) {
        this.#calls.delete(id);
        reject(/** @type {Error} */ (error));
      }
    });
    signal?.addEventListener("abort", cancel);
    stopSignal?.addEventListener("abort", stop);
    if (stopSignal?.aborted) stop();
    const unlessCancelled = answer.then((result) => {
      // The answer may have been on its way when the call was cancelled.
      check(signal);
      return result;
    });
    return unlessCancelled.finally(() => {
      signal?.removeEventListener("abort", cancel);
      stopSignal?.removeEventListener("abort", stop);
    });
  }

  /** Ends the worker; calls that are still open fail with `closed`. */
  close() {
    this.#end("closed", "the studio is closed");
  }

  /** @param {any} message */
  #receive(message) {
    if ("crash" in message) return this.#end(message.crash.code, message.crash.message);
    if ("life" in message) return this.#watch(message.life);
    const call = this.#calls.get(message.id);
    if (!call) return;
    if ("progress" in message) return call.onProgress?.(message.progress);
    this.#calls.delete(message.id);
    if (!("error" in message)) return call.resolve(message.result);
    const error = new OwnvoiceError(message.error.code, message.error.message, message.error);
    call.reject(error);
    // A card whose results cannot be read is lost, whether or not the browser reports it.
    if (error.code === "device-lost") this.#end(error.code, error.message);
  }

  /** No event reports a worker that the browser ends, but its lock is released. @param {string} life */
  #watch(life) {
    const { signal } = this.#closing;
    navigator.locks.request(life, { signal }, () => this.#end("worker-crashed", "the worker was ended")).catch(() => {}); // closed before
  }

  /** @param {string} code @param {string} message */
  #end(code, message) {
    this.#ended ??= new OwnvoiceError(code, message);
    this.#resolveEnded(this.#ended);
    this.#closing.abort();
    this.worker.terminate();
    for (const { reject } of this.#calls.values()) reject(this.#ended);
    this.#calls.clear();
  }
}

/**
 * The second argument of the worker's methods.
 * @typedef {object} Context
 * @property {AbortSignal} signal
 * @property {AbortSignal} stopSignal
 * @property {(progress: any) => void} progress
 */

/** A result whose buffers are transferred to the page. */
export class Transfer {
  /** @param {unknown} value @param {Transferable[]} buffers */
  constructor(value, buffers) {
    this.value = value;
    this.buffers = buffers;
  }
}

/** Of a worker: who started it. */
const page = /** @type {any} */ (globalThis);

/**
 * The worker's side.
 * @param {{ [method: string]: (args: any, context: Context) => any }} methods
 */
export function serve(methods) {
  /** @type {Map<number, { cancel: AbortController, stop: AbortController }>} */
  const running = new Map();
  self.addEventListener("message", async ({ data: { id, method, args, signal } }) => {
    if (signal) return running.get(id)?.[/** @type {"cancel" | "stop"} */ (signal)].abort();
    const report = (/** @type {any} */ progress) => {
      try {
        post(page, { id, progress });
      } catch (error) {
        console.warn(error); // the work is worth more than a report of it
      }
    };
    const controls = { cancel: new AbortController(), stop: new AbortController() };
    running.set(id, controls);
    try {
      const context = { signal: controls.cancel.signal, stopSignal: controls.stop.signal, progress: report };
      const result = await methods[method](args, context);
      if (result instanceof Transfer) post(page, { id, result: result.value }, result.buffers);
      else post(page, { id, result });
    } catch (error) {
      try {
        post(page, { id, error: describe(error) });
      } catch {
        self.close(); // no message can be posted, but the end of a lifetime is noticed
      }
    } finally {
      running.delete(id);
    }
  });

  // A panic in WebAssembly leaves its promise pending for ever and the module in an unknown state: the worker has to be replaced.
  self.addEventListener("error", (event) => crash("worker-crashed", describe(event.error ?? event.message).message));
  self.addEventListener("unhandledrejection", (event) => crash("worker-crashed", describe(event.reason).message));

  const life = `ownvoice-${crypto.randomUUID()}`;
  navigator.locks?.request(life, () => {
    post(page, { life });
    return new Promise(() => {}); // until the worker ends
  });
}

/** Reports that this worker has to be replaced; where that fails, the end of its lifetime does. @param {string} code @param {string} message */
export function crash(code, message) {
  try {
    post(page, { crash: { code, message } });
  } catch {
    self.close();
  }
}

/** Aborted as soon as one of them is: `AbortSignal.any`, which Safari has from 17.4. @param {AbortSignal[]} signals @returns {AbortSignal} */
export function either(...signals) {
  if (AbortSignal.any) return AbortSignal.any(signals);
  const ended = new AbortController();
  for (const signal of signals) {
    if (signal.aborted) ended.abort();
    signal.addEventListener("abort", () => ended.abort(), { once: true, signal: ended.signal });
  }
  return ended.signal;
}

/** Lets the event loop deliver messages: promises alone do not. */
export const breathe = () => new Promise((resolve) => setTimeout(resolve));
