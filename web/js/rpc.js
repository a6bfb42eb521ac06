// One typed line between a page and its worker: calls with progress, two ways to end them, and errors that keep their code.
//
// page -> worker   { id, method, args }   { id, signal: "cancel" | "stop" }
// worker -> page   { id, progress }       { id, result }       { id, error: { code, message, clip, found } }
//                  { crash: { code, message } }       { life: the name of a lock that the worker holds for as long as it lives }

/** An error with a stable `code` for programs, and a message for people. */
export class OwnvoiceError extends Error {
  /** @param {string} code @param {string} message @param {{ clip?: number, found?: number }} [about] */
  constructor(code, message, { clip, found } = {}) {
    super(message);
    this.name = "OwnvoiceError";
    /** @type {string} */
    this.code = code;
    /** @type {number | undefined} Which of the given clips it is about, counted from 0. */
    this.clip = clip;
    /** @type {number | undefined} What was measured, where a measure decides: dB, seconds or percent. */
    this.found = found;
  }
}

/** @param {unknown} error @returns {{ code: string, message: string, clip?: number, found?: number }} */
export function describe(error) {
  if (error instanceof DOMException && error.name === "AbortError") return { code: "cancelled", message: "cancelled" };
  const { code, message, clip, found } = /** @type {{ code?: unknown, message?: string, clip?: number, found?: number }} */ (error ?? {});
  // A DOMException has a code as well, but a number.
  return { code: typeof code === "string" ? code : "internal", message: message ?? String(error), clip, found };
}

/**
 * @typedef {object} CallOptions
 * @property {AbortSignal} [signal] Ends the call with the error `cancelled`.
 * @property {AbortSignal} [stopSignal] Ends the call early with what it has so far.
 * @property {(progress: any) => void} [onProgress]
 * @property {Transferable[]} [transfer] Buffers that move to the worker.
 */

/** The page's end. */
export class Remote {
  /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void, onProgress?: (progress: any) => void }>} */
  #calls = new Map();
  #nextId = 1;
  /** @type {OwnvoiceError | null} Why no call can succeed any more. */
  #ended = null;
  #closing = new AbortController();
  /** @type {(reason: OwnvoiceError) => void} */
  #tellEnd = () => {};
  /** @type {Promise<OwnvoiceError>} Resolves when the worker has ended, with the reason. */
  ended = new Promise((resolve) => (this.#tellEnd = resolve));

  /** @param {Worker} worker */
  constructor(worker) {
    this.worker = worker;
    worker.onmessage = ({ data }) => this.#receive(data);
    // An error in a script has a message; a script that could not be had has none.
    worker.onerror = ({ message }) => this.#end(message ? "worker-crashed" : "worker-unavailable", message || "the worker could not be started");
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
    const cancel = () => this.worker.postMessage({ id, signal: "cancel" });
    const stop = () => this.worker.postMessage({ id, signal: "stop" });
    const answer = new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject, onProgress });
      this.worker.postMessage({ id, method, args }, transfer);
    });
    signal?.addEventListener("abort", cancel);
    stopSignal?.addEventListener("abort", stop);
    if (stopSignal?.aborted) stop();
    const wanted = answer.then((result) => {
      // The cancelling and the answer may have crossed on their way.
      check(signal);
      return result;
    });
    return wanted.finally(() => {
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
    if ("error" in message) call.reject(new OwnvoiceError(message.error.code, message.error.message, message.error));
    else call.resolve(message.result);
  }

  /** A worker that the browser ends tells nobody, but its lock is given to the next in line. @param {string} life */
  #watch(life) {
    const { signal } = this.#closing;
    navigator.locks.request(life, { signal }, () => this.#end("worker-crashed", "the worker was ended")).catch(() => {}); // closed first
  }

  /** @param {string} code @param {string} message */
  #end(code, message) {
    this.#ended ??= new OwnvoiceError(code, message);
    this.#tellEnd(this.#ended);
    this.#closing.abort();
    this.worker.terminate();
    for (const { reject } of this.#calls.values()) reject(this.#ended);
    this.#calls.clear();
  }
}

/**
 * What a method of the worker is given beside its arguments.
 * @typedef {object} Context
 * @property {AbortSignal} signal
 * @property {AbortSignal} stopSignal
 * @property {(progress: any) => void} progress
 */

/** A result whose buffers move to the page instead of being copied. */
export class Transfer {
  /** @param {unknown} value @param {Transferable[]} buffers */
  constructor(value, buffers) {
    this.value = value;
    this.buffers = buffers;
  }
}

/**
 * The worker's end.
 * @param {{ [method: string]: (args: any, context: Context) => any }} methods
 */
export function serve(methods) {
  /** @type {Map<number, { cancel: AbortController, stop: AbortController }>} */
  const running = new Map();
  const post = /** @type {(message: unknown, transfer?: Transferable[]) => void} */ (self.postMessage.bind(self));

  self.addEventListener("message", async ({ data: { id, method, args, signal } }) => {
    if (signal) return running.get(id)?.[/** @type {"cancel" | "stop"} */ (signal)].abort();
    const controls = { cancel: new AbortController(), stop: new AbortController() };
    running.set(id, controls);
    try {
      const context = { signal: controls.cancel.signal, stopSignal: controls.stop.signal, progress: (/** @type {any} */ progress) => post({ id, progress }) };
      const result = await methods[method](args, context);
      if (result instanceof Transfer) post({ id, result: result.value }, result.buffers);
      else post({ id, result });
    } catch (error) {
      post({ id, error: describe(error) });
    } finally {
      running.delete(id);
    }
  });

  // A panic in WebAssembly leaves its promise open for ever: it is heard here, and nothing after it can be trusted.
  self.addEventListener("error", (event) => crash("worker-crashed", describe(event.error ?? event.message).message));
  self.addEventListener("unhandledrejection", (event) => crash("worker-crashed", describe(event.reason).message));

  const life = `ownvoice-${crypto.randomUUID()}`;
  navigator.locks?.request(life, () => {
    post({ life });
    return new Promise(() => {}); // until the worker ends
  });
}

/** Says that nothing the worker would answer can be trusted any more. @param {string} code @param {string} message */
export const crash = (code, message) => self.postMessage({ crash: { code, message } });

/** @param {AbortSignal} [signal] */
export function check(signal) {
  if (signal?.aborted) throw new OwnvoiceError("cancelled", "cancelled");
}

/** Aborted as soon as one of them is: `AbortSignal.any`, which Safari has from 17.4. @param {AbortSignal[]} signals @returns {AbortSignal} */
export function either(...signals) {
  if (AbortSignal.any) return AbortSignal.any(signals);
  const ended = new AbortController();
  for (const signal of signals) {
    if (signal.aborted) ended.abort();
    // No longer than this one is of use.
    signal.addEventListener("abort", () => ended.abort(), { once: true, signal: ended.signal });
  }
  return ended.signal;
}

/** Lets messages in: promises alone never give the event loop a turn. */
export const breathe = () => new Promise((resolve) => setTimeout(resolve));
