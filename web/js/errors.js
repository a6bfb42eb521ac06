// Errors with a stable code, and the check for cancellation.

/** An error with a stable `code` for programs and a message for people. */
export class OwnvoiceError extends Error {
  /** @param {string} code @param {string} message @param {{ clip?: number, found?: number }} [details] */
  constructor(code, message, { clip, found } = {}) {
    super(message);
    this.name = "OwnvoiceError";
    /** For example `clip-too-quiet`; README.md lists the codes. @type {string} */
    this.code = code;
    /** Index of the clip at fault among those given. @type {number | undefined} */
    this.clip = clip;
    /** The value that was measured, where a limit decides; the code implies its unit: dB, seconds, percent or phones. @type {number | undefined} */
    this.found = found;
  }
}

/**
 * Converts any thrown value into a plain object, which a message can carry.
 * @internal
 * @param {unknown} error
 * @returns {{ code: string, message: string, clip?: number, found?: number }}
 */
export function describe(error) {
  if (error instanceof DOMException && error.name === "AbortError") return { code: "cancelled", message: "cancelled" };
  const { code, message, clip, found } = /** @type {{ code?: unknown, message?: string, clip?: number, found?: number }} */ (error ?? {});
  // A DOMException also has a code, but a number.
  return { code: typeof code === "string" ? code : "internal", message: message ?? String(error), clip, found };
}

/**
 * Whether the worker has ended with this error.
 * @internal
 * @param {unknown} error
 */
export const isLost = (error) => ["worker-crashed", "device-lost"].includes(/** @type {{ code?: string } | undefined} */ (error)?.code ?? "");

/**
 * Throws `cancelled` once the signal is aborted.
 * @internal
 * @param {AbortSignal} [signal]
 */
export function throwIfAborted(signal) {
  if (signal?.aborted) throw new OwnvoiceError("cancelled", "cancelled");
}

/**
 * Resolves as `promise` does, or rejects with `cancelled` as soon as the signal is aborted.
 * @internal
 * @template T @param {Promise<T>} promise @param {AbortSignal} [signal] @returns {Promise<T>}
 */
export function unlessAborted(promise, signal) {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const cancel = () => reject(new OwnvoiceError("cancelled", "cancelled"));
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel);
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", cancel));
  });
}

/**
 * Returns a signal that is aborted as soon as one of them is: `AbortSignal.any`, which Safari has from 17.4.
 * @internal
 * @param {AbortSignal[]} signals @returns {AbortSignal}
 */
export function anySignal(...signals) {
  if (AbortSignal.any) return AbortSignal.any(signals);
  const ended = new AbortController();
  for (const signal of signals) {
    if (signal.aborted) ended.abort();
    signal.addEventListener("abort", () => ended.abort(), { once: true, signal: ended.signal });
  }
  return ended.signal;
}
