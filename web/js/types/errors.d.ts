/**
 * The codes of errors; README.md says what each means.
 */
export type ErrorCode = ("clip-empty" | "clip-too-short" | "clip-too-long" | "clip-too-quiet" | "clip-clipped" | "clip-noisy" | "clip-mismatch" | "rate-unsupported" | "audio-unreadable" | "no-clips" | "text-empty" | "text-too-long" | "text-unsupported" | "voice-corrupt" | "base-mismatch" | "base-missing" | "base-corrupt" | "base-unsupported" | "checkpoint-corrupt" | "download-failed" | "no-adapter" | "device-unavailable" | "device-wrong" | "device-lost" | "precision-unsupported" | "training-diverged" | "training-elsewhere" | "nothing-stored" | "storage-full" | "storage-failed" | "storage-unavailable" | "microphone-denied" | "microphone-missing" | "microphone-unavailable" | "microphone-closed" | "microphone-failed" | "worker-unavailable" | "worker-crashed" | "message-failed" | "option-invalid" | "closed" | "cancelled" | "internal");
/** An error with a stable `code` for programs and a message for people. Where the caller aborted its name is `AbortError`, otherwise `OwnvoiceError`. */
export declare class OwnvoiceError extends Error {
    /** For example `clip-too-quiet`. */
    code: ErrorCode;
    /** Index of the clip at fault among those given. */
    clip: number | undefined;
    /** The value that was measured, where a limit decides; the code implies its unit: dB, seconds, percent or phones. */
    found: number | undefined;
    /** @param {ErrorCode | (string & {})} code Pages may make errors with codes of their own. @param {string} message @param {{ clip?: number, found?: number }} [details] */
    constructor(code: ErrorCode | (string & {}), message: string, { clip, found }?: {
        clip?: number;
        found?: number;
    });
}
