export type OnLevel = (peakDb: number, levelDb: number) => void;
export type Recorded = {
    samples: Float32Array;
    sampleRate: number;
};
export type Capture = {
    open: (onLevel: OnLevel, onLost: () => void) => Promise<void>;
    readonly isOpen: boolean;
    record: () => void;
    stop: () => Recorded;
    close: () => void;
    end: () => void;
};
/** @typedef {(peakDb: number, levelDb: number) => void} OnLevel */
/** @typedef {{ samples: Float32Array, sampleRate: number }} Recorded */
/** @typedef {{ open: (onLevel: OnLevel, onLost: () => void) => Promise<void>, readonly isOpen: boolean, record: () => void, stop: () => Recorded, close: () => void, end: () => void }} Capture The program's. */
/** The microphone as it is: no echo cancellation, no noise suppression, no gain control, at its own rate. */
export declare class Microphone {
    #private;
    /** @param {Capture} inner */
    constructor(inner: Capture);
    /** The page runs the module that the worker compiled, for capture alone: audio worklets need a window.
     * @param {WebAssembly.Module} module @param {string} worklet */
    static prepare(module: WebAssembly.Module, worklet: string): Promise<Microphone>;
    /** Asks the visitor. Levels follow some 20 times a second; `onLost` tells that the device went away.
     * @param {OnLevel} onLevel @param {() => void} onLost
     * @param {{ signal?: AbortSignal }} [options] Aborted, it ends with the error `cancelled`, and the microphone is closed whatever the visitor says.
     * @returns {Promise<void>} */
    open(onLevel: OnLevel, onLost: () => void, { signal }?: {
        signal?: AbortSignal;
    }): Promise<void>;
    get isOpen(): boolean;
    /** Starts a recording. */
    record(): void;
    /** Ends the recording; the microphone stays open. @returns {Recorded} */
    stop(): Recorded;
    /** Releases the microphone. */
    close(): void;
    /** Releases it and the browser's audio thread: it cannot be opened again. A studio that is closed does so. */
    end(): void;
}
