// Errors with a stable code, and the check for cancellation.

/**
 * The codes of errors; README.md says what each means.
 * @typedef {(
 *   | "clip-empty"
 *   | "clip-too-short"
 *   | "clip-too-long"
 *   | "clip-too-quiet"
 *   | "clip-clipped"
 *   | "clip-noisy"
 *   | "clip-mismatch"
 *   | "rate-unsupported"
 *   | "audio-unreadable"
 *   | "no-clips"
 *   | "text-empty"
 *   | "text-too-long"
 *   | "text-unsupported"
 *   | "voice-corrupt"
 *   | "base-mismatch"
 *   | "base-missing"
 *   | "base-corrupt"
 *   | "base-unsupported"
 *   | "checkpoint-corrupt"
 *   | "download-failed"
 *   | "no-adapter"
 *   | "device-unavailable"
 *   | "device-wrong"
 *   | "device-lost"
 *   | "precision-unsupported"
 *   | "training-diverged"
 *   | "training-elsewhere"
 *   | "nothing-stored"
 *   | "storage-full"
 *   | "storage-failed"
 *   | "storage-unavailable"
 *   | "microphone-denied"
 *   | "microphone-missing"
 *   | "microphone-unavailable"
 *   | "microphone-closed"
 *   | "microphone-failed"
 *   | "worker-unavailable"
 *   | "worker-crashed"
 *   | "message-failed"
 *   | "option-invalid"
 *   | "closed"
 *   | "cancelled"
 *   | "internal"
 * )} ErrorCode
 */

/** An error with a stable `code` for programs and a message for people. Where the caller aborted its name is `AbortError`, otherwise `OwnvoiceError`. */
export class OwnvoiceError extends Error {
  /** @param {ErrorCode | (string & {})} code Pages may make errors with codes of their own. @param {string} message @param {{ clip?: number, found?: number }} [details] */
  constructor(code, message, { clip, found } = {}) {
    super(message);
    this.name = code === "cancelled" ? "AbortError" : "OwnvoiceError";
    /** For example `clip-too-quiet`. @type {ErrorCode} */
    this.code = /** @type {ErrorCode} */ (code);
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
 * Returns what a call rejects with once its signal is aborted: the caller's own reason, or `cancelled` where `abort()` was given none.
 * @internal
 * @param {AbortSignal} signal @returns {unknown}
 */
export function reasonOf({ reason }) {
  return reason instanceof DOMException && reason.name === "AbortError" ? new OwnvoiceError("cancelled", "cancelled") : reason;
}

/**
 * Throws the reason once the signal is aborted.
 * @internal
 * @param {AbortSignal} [signal]
 */
export function throwIfAborted(signal) {
  if (signal?.aborted) throw reasonOf(signal);
}

/**
 * Resolves as `promise` does, or rejects with the reason as soon as the signal is aborted.
 * @internal
 * @template T @param {Promise<T>} promise @param {AbortSignal} [signal] @returns {Promise<T>}
 */
export function unlessAborted(promise, signal) {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const cancel = () => reject(reasonOf(signal));
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
    if (signal.aborted) ended.abort(signal.reason);
    signal.addEventListener("abort", () => ended.abort(signal.reason), { once: true, signal: ended.signal });
  }
  return ended.signal;
}
