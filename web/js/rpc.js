// Calls from a page to its worker, with progress, cancellation, early stop, and errors with codes.
//
// page -> worker   { id, method, args }   { id, signal: "cancel" | "stop" }
// worker -> page   { id, progress }       { id, result }       { id, error: { code, message, clip, found } }
//                  { crash: { code, message } }       { lifetimeLock: name of a lock that the worker holds until it ends }

import { OwnvoiceError, describe, reasonOf, throwIfAborted } from "./errors.js";

/**
 * The second argument of a worker's methods.
 * @template [P=any]
 * @typedef {object} Context
 * @property {AbortSignal} signal Aborted when the caller cancels.
 * @property {AbortSignal} stopSignal Aborted when the caller wants the result so far.
 * @property {(progress: P) => void} progress Reports progress to the caller.
 */
/** The methods that a worker serves. @typedef {{ [method: string]: (args: any, context: Context) => any }} Methods */
/** The methods' names. @template M @typedef {keyof M & string} MethodName */
/** The arguments of a method. @template {Methods} M @template {MethodName<M>} K @typedef {Parameters<M[K]> extends [infer A, ...any[]] ? A : {}} Arguments */
/** What a method reports. @template {Methods} M @template {MethodName<M>} K @typedef {Parameters<M[K]> extends [any, { progress: (progress: infer P) => void }] ? P : never} Progress */
/** What a method returns, without the list of buffers to be transferred. @template {Methods} M @template {MethodName<M>} K @typedef {Awaited<ReturnType<M[K]>> extends Transfer<infer V> ? V : Exclude<Awaited<ReturnType<M[K]>>, Transfer<any>>} Result */
/**
 * @template [P=any]
 * @typedef {object} CallOptions
 * @property {AbortSignal} [signal] Ends the call with its reason, by default the error `cancelled`.
 * @property {AbortSignal} [stopSignal] Ends the call early with the result so far.
 * @property {(progress: P) => void} [onProgress]
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

/**
 * The page's side of a worker.
 * @template {Methods} M The methods of the worker.
 */
export class Remote {
  /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void, onProgress?: (progress: any) => void }>} */
  #calls = new Map();
  #nextId = 1;
  /** Why the worker has ended. @type {OwnvoiceError | null} */
  #ended = null;
  #closing = new AbortController();
  /** @type {(reason: OwnvoiceError) => void} */
  #resolveEnded = () => {};
  /** Resolves when the worker has ended, with the reason. @type {Promise<OwnvoiceError>} */
  ended = new Promise((resolve) => (this.#resolveEnded = resolve));

  /** @param {Worker} worker */
  constructor(worker) {
    this.worker = worker;
    worker.onmessage = ({ data }) => this.#receive(data);
    worker.onerror = (event) => {
      // Without this the event reaches the global scope, where a worker takes it for its own crash.
      event.preventDefault();
      // An error in a script has a message; a script that could not be loaded has none.
      this.#end(event.message ? "worker-crashed" : "worker-unavailable", event.message || "the worker could not be started");
    };
    worker.onmessageerror = () => this.#end("worker-crashed", "a message of the worker could not be read");
  }

  /**
   * Calls a method of the worker.
   * @template {MethodName<M>} K
   * @param {K} method @param {Arguments<M, K>} args @param {CallOptions<Progress<M, K>>} [options]
   * @returns {Promise<Result<M, K>>}
   */
  call(method, args, { signal, stopSignal, onProgress, transfer = [] } = {}) {
    if (this.#ended) return Promise.reject(this.#ended);
    if (signal?.aborted) return Promise.reject(reasonOf(signal));
    const id = this.#nextId++;
    /** Sends a signal, again and again until it can be sent or the call has ended. @param {"cancel" | "stop"} signal */
    const send = (signal) => {
      if (!this.#calls.has(id)) return;
      try {
        post(this.worker, { id, signal });
      } catch {
        setTimeout(send, RETRY_MS, signal);
      }
    };
    const cancel = () => send("cancel");
    const stop = () => send("stop");
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
    const unlessCancelled = answer.then(
      (result) => {
        // The answer may have been on its way when the call was cancelled.
        throwIfAborted(signal);
        return result;
      },
      (error) => {
        // The worker knows that the call was cancelled, but not why.
        if (error.code === "cancelled") throwIfAborted(signal);
        throw error;
      },
    );
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
    if ("lifetimeLock" in message) return this.#watch(message.lifetimeLock);
    const call = this.#calls.get(message.id);
    if (!call) return;
    if ("progress" in message) return call.onProgress?.(message.progress);
    this.#calls.delete(message.id);
    if (!("error" in message)) return call.resolve(message.result);
    const error = new OwnvoiceError(message.error.code, message.error.message, message.error);
    call.reject(error);
    // An adapter whose results cannot be read is lost, whether or not the browser reports it.
    if (error.code === "device-lost") this.#end(error.code, error.message);
  }

  /** Waits for the worker's lock: no event reports a worker that the browser ends, but its lock is released. @param {string} lifetimeLock */
  #watch(lifetimeLock) {
    const { signal } = this.#closing;
    navigator.locks.request(lifetimeLock, { signal }, () => this.#end("worker-crashed", "the worker was ended")).catch(() => {}); // closed before
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

/** A result whose buffers are transferred to the page. @template V */
export class Transfer {
  /** @param {V} value @param {Transferable[]} buffers */
  constructor(value, buffers) {
    this.value = value;
    this.buffers = buffers;
  }
}

/** In a worker, the port to the page or worker that started it. */
const page = /** @type {any} */ (globalThis);

/**
 * Serves methods: the worker's side.
 * @param {Methods} methods
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
        console.warn(error); // a report that cannot be sent must not end the call
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
        self.close(); // no message can be posted, but the released lock tells the page
      }
    } finally {
      running.delete(id);
    }
  });

  // A panic in WebAssembly leaves its promise pending for ever and the module in an unknown state: the worker has to be replaced.
  self.addEventListener("error", (event) => crash("worker-crashed", describe(event.error ?? event.message).message));
  self.addEventListener("unhandledrejection", (event) => crash("worker-crashed", describe(event.reason).message));

  const lifetimeLock = `ownvoice-${crypto.randomUUID()}`;
  navigator.locks?.request(lifetimeLock, () => {
    post(page, { lifetimeLock });
    return new Promise(() => {}); // until the worker ends
  });
}

/** Reports that this worker has to be replaced. Where no message can be sent, it ends, and its lock is released. @param {string} code @param {string} message */
export function crash(code, message) {
  try {
    post(page, { crash: { code, message } });
  } catch {
    self.close();
  }
}

/** Lets the event loop deliver messages, which awaiting a promise alone does not. Throws `cancelled` once the signal is aborted. @param {AbortSignal} [signal] */
export async function yieldToMessages(signal) {
  await new Promise((resolve) => setTimeout(resolve));
  signal?.throwIfAborted();
}

/**
 * Returns the callback between two parts of a long call: it reports, lets messages in, and returns whether to continue.
 * @template P @param {Pick<Context<P>, "signal" | "progress">} context @param {(done: number, of: number) => P} report
 */
export const betweenParts = ({ signal, progress }, report) => async (/** @type {number} */ done, /** @type {number} */ of) => {
  progress(report(done, of));
  await yieldToMessages();
  return !signal.aborted;
};
