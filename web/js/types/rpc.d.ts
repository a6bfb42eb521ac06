/** An error with a stable `code` for programs, and a message for people. */
export declare class OwnvoiceError extends Error {
    /** @type {string} */
    code: string;
    /** @type {number | undefined} Which of the given clips it is about, counted from 0. */
    clip: number | undefined;
    /** @type {number | undefined} What was measured, where a measure decides: dB, seconds or percent. */
    found: number | undefined;
    /** @param {string} code @param {string} message @param {{ clip?: number, found?: number }} [about] */
    constructor(code: string, message: string, { clip, found }?: {
        clip?: number;
        found?: number;
    });
}
/** @param {unknown} error @returns {{ code: string, message: string, clip?: number, found?: number }} */
export declare function describe(error: unknown): {
    code: string;
    message: string;
    clip?: number;
    found?: number;
};
export type CallOptions = {
    /**
     * Ends the call with the error `cancelled`.
     */
    signal?: AbortSignal;
    /**
     * Ends the call early with what it has so far.
     */
    stopSignal?: AbortSignal;
    onProgress?: (progress: any) => void;
    /**
     * Buffers that move to the worker.
     */
    transfer?: Transferable[];
};
/**
 * @typedef {object} CallOptions
 * @property {AbortSignal} [signal] Ends the call with the error `cancelled`.
 * @property {AbortSignal} [stopSignal] Ends the call early with what it has so far.
 * @property {(progress: any) => void} [onProgress]
 * @property {Transferable[]} [transfer] Buffers that move to the worker.
 */
/** The page's end. */
export declare class Remote {
    #private;
    worker: Worker;
    /** @type {Promise<OwnvoiceError>} Resolves when the worker has ended, with the reason. */
    ended: Promise<OwnvoiceError>;
    /** @param {Worker} worker */
    constructor(worker: Worker);
    /**
     * @param {string} method @param {unknown} args @param {CallOptions} [options]
     * @returns {Promise<any>}
     */
    call(method: string, args: unknown, { signal, stopSignal, onProgress, transfer }?: CallOptions): Promise<any>;
    /** Ends the worker; calls that are still open fail with `closed`. */
    close(): void;
}
export type Context = {
    signal: AbortSignal;
    stopSignal: AbortSignal;
    progress: (progress: any) => void;
};
/**
 * What a method of the worker is given beside its arguments.
 * @typedef {object} Context
 * @property {AbortSignal} signal
 * @property {AbortSignal} stopSignal
 * @property {(progress: any) => void} progress
 */
/** A result whose buffers move to the page instead of being copied. */
export declare class Transfer {
    value: unknown;
    buffers: Transferable[];
    /** @param {unknown} value @param {Transferable[]} buffers */
    constructor(value: unknown, buffers: Transferable[]);
}
/**
 * The worker's end.
 * @param {{ [method: string]: (args: any, context: Context) => any }} methods
 */
export declare function serve(methods: {
    [method: string]: (args: any, context: Context) => any;
}): void;
/** Says that nothing the worker would answer can be trusted any more. @param {string} code @param {string} message */
export declare const crash: (code: string, message: string) => void;
/** @param {AbortSignal} [signal] */
export declare function check(signal?: AbortSignal): void;
/** Aborted as soon as one of them is: `AbortSignal.any`, which Safari has from 17.4. @param {AbortSignal[]} signals @returns {AbortSignal} */
export declare function either(...signals: AbortSignal[]): AbortSignal;
/** Lets messages in: promises alone never give the event loop a turn. */
export declare const breathe: () => Promise<any>;
