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
    /** The value that was measured, where a limit decides; the code implies its unit: dB, seconds or percent. @type {number | undefined} */
    this.found = found;
  }
}

/**
 * Any thrown value as a plain object, which a message can carry.
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
 * Throws `cancelled` once the signal is aborted.
 * @internal
 * @param {AbortSignal} [signal]
 */
export function check(signal) {
  if (signal?.aborted) throw new OwnvoiceError("cancelled", "cancelled");
}
