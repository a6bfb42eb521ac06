import { OwnvoiceError, Remote } from "./rpc.js";
import { wavBlob } from "./wav.js";
export { OwnvoiceError, wavBlob };
import type { Device } from "./device.js";
export type LoadOptions = {
    /**
     * Folder of the base voice: manifest.json and the files it names.
     */
    base: string | URL;
    /**
     * `auto` takes WebGPU where a real adapter is, the CPU otherwise.
     */
    device?: "auto" | "webgpu" | "cpu";
    /**
     * A JSON list of `{ id, text }` to be read aloud.
     */
    prompts?: string | URL;
    /**
     * Prepares `studio.microphone`; everything it needs is fetched now.
     */
    microphone?: boolean;
    /**
     * Name of a local database in which recordings and training outlive the tab. Nothing is kept without it.
     */
    keep?: string;
    onProgress?: (progress: LoadProgress) => void;
    signal?: AbortSignal;
    workerUrl?: string | URL;
    wasmUrl?: string | URL;
    /**
     * For servers that place the files elsewhere.
     */
    workletUrl?: string | URL;
};
export type LoadProgress = {
    status: "fetching";
    what: "program";
    loadedBytes: number;
} | {
    status: "fetching";
    what: "base";
    loadedBytes: number;
    totalBytes: number;
} | {
    status: "starting";
};
export type Clip = {
    samples: Float32Array;
    sampleRate: number;
    text: string;
};
export type ClipReport = {
    seconds: number;
    speechSeconds: number;
    levelDb: number;
    noiseDb: number;
    snrDb: number;
    clippedPercent: number;
};
export type CloneProgress = {
    status: "aligning";
} | {
    status: "finishing";
} | TrainingStep;
export type TrainingStep = {
    status: "training";
    iteration: number;
    iterations: number;
    loss: number;
    seconds: number;
    heldOutLoss: number | null;
    stop: string | null;
};
export type CloneOptions = {
    /**
     * At most this many (200).
     */
    iterations?: number;
    /**
     * The same seed, clips and device give the same voice.
     */
    seed?: number;
    onStep?: (progress: CloneProgress) => void;
    /**
     * Ends with the error `cancelled`, and forgets the training.
     */
    signal?: AbortSignal;
    /**
     * Ends early and keeps the best so far.
     */
    stopSignal?: AbortSignal;
};
export type SayProgress = {
    status: "speaking";
    sentence: number;
    sentences: number;
};
export type SayOptions = {
    signal?: AbortSignal;
    seed?: number;
    onProgress?: (progress: SayProgress) => void;
};
export type Mel = {
    mels: number;
    data: Float32Array;
};
export type Recording = {
    id: string;
    text: string;
    samples: Float32Array;
    sampleRate: number;
};
export type Microphone = {
    /**
     * Asks the visitor.
     */
    open: (onLevel: (peakDb: number, levelDb: number) => void, onLost: () => void) => Promise<void>;
    isOpen: boolean;
    /**
     * Starts a recording.
     */
    record: () => void;
    /**
     * Ends the recording; the microphone stays open.
     */
    stop: () => {
        samples: Float32Array;
        sampleRate: number;
    };
    /**
     * Releases the microphone.
     */
    close: () => void;
};
/**
 * Fetches the program and the base voice, and prepares the device.
 *
 * @param {LoadOptions} options
 * @returns {Promise<Studio>}
 */
export declare function load({ base, device, prompts, microphone, keep, onProgress, signal, workerUrl, wasmUrl, workletUrl }: LoadOptions): Promise<Studio>;
/** A loaded base voice on a device. */
export declare class Studio {
    #private;
    /** @type {Device} Which device computes, and why. */
    device: Device;
    /** @type {Voice} Speaks as the base voice does, before any training. */
    base: Voice;
    /** @type {string} Names the base: a saved voice opens only on the base it was made with. */
    hash: string;
    /** @type {{ id: string, text: string }[]} */
    prompts: {
        id: string;
        text: string;
    }[];
    /** @type {Kept | null} What outlives the tab; null without `keep`, or where the browser keeps nothing. */
    kept: Kept | null;
    /** @type {string | null} Why nothing is kept although it was asked for. */
    keepReason: string | null;
    /** @param {Remote} remote @param {any} loaded @param {Microphone | null} capture */
    constructor(remote: Remote, loaded: any, capture: Microphone | null);
    /** `load({ microphone: true })` prepares it. @returns {Microphone} */
    get microphone(): Microphone;
    /**
     * Learns a voice.
     *
     * @param {Clip[]} clips
     * @param {CloneOptions} [options]
     * @returns {Promise<Voice>}
     */
    clone(clips: Clip[], { iterations, seed, onStep, signal, stopSignal }?: CloneOptions): Promise<Voice>;
    /**
     * Goes on with a training that a closed tab cut off.
     *
     * @param {Pick<CloneOptions, "onStep" | "signal" | "stopSignal">} [options]
     * @returns {Promise<Voice>}
     */
    resume({ onStep, signal, stopSignal }?: Pick<CloneOptions, "onStep" | "signal" | "stopSignal">): Promise<Voice>;
    /** Opens a saved voice. @param {Blob} blob @returns {Promise<Voice>} */
    open(blob: Blob): Promise<Voice>;
    /** Fails with the reason, as code and in words, where a clip is not fit to learn from. @param {Omit<Clip, "text">} clip @returns {Promise<ClipReport>} */
    checkClip({ samples, sampleRate }: Omit<Clip, "text">): Promise<ClipReport>;
    /** @param {Blob} blob A WAV file of any format and channel count. @returns {Promise<Omit<Clip, "text">>} */
    readWav(blob: Blob): Promise<Omit<Clip, "text">>;
    /** Ends the worker and frees everything. */
    close(): void;
}
/** Someone's voice, in the worker. */
export declare class Voice {
    #private;
    /** @type {{ adapted: boolean, iterations: number, seconds: number }} How it was made: iterations, from how many seconds of speech. */
    info: {
        adapted: boolean;
        iterations: number;
        seconds: number;
    };
    /** @param {Remote} remote @param {{ handle: number, info: Voice["info"] }} held */
    constructor(remote: Remote, { handle, info }: {
        handle: number;
        info: Voice["info"];
    });
    /**
     * Speaks a text of any length, sentence by sentence.
     *
     * @param {string} text
     * @param {SayOptions} [options]
     * @returns {Promise<Speech>}
     */
    say(text: string, { signal, seed, onProgress }?: SayOptions): Promise<Speech>;
    /** @returns {Promise<Blob>} A file that `studio.open` reads, and the command line too. */
    save(): Promise<Blob>;
}
/** Something said. */
export declare class Speech {
    /** Mono, -1 to 1. */
    samples: Float32Array<ArrayBufferLike>;
    /** Hz */
    sampleRate: number;
    mel: Mel;
    /** Frames of each symbol. */
    durations: Uint32Array<ArrayBufferLike>;
    symbols: string[];
    /** Why it ended. */
    stop: string;
    /** @param {{ samples: Float32Array, sampleRate: number, mel: Mel, durations: Uint32Array, symbols: string[], stop: string }} spoken */
    constructor({ samples, sampleRate, mel, durations, symbols, stop }: {
        samples: Float32Array;
        sampleRate: number;
        mel: Mel;
        durations: Uint32Array;
        symbols: string[];
        stop: string;
    });
    /** @returns {Blob} A WAV file. */
    toBlob(): Blob;
}
/** Recordings and training that outlive the tab, on this machine only. */
export declare class Kept {
    #private;
    /** @param {Remote} remote */
    constructor(remote: Remote);
    /** @returns {Promise<Recording[]>} */
    recordings(): Promise<Recording[]>;
    /** @param {Recording} recording @returns {Promise<void>} Resolves once it is on disk. */
    put({ id, text, samples, sampleRate }: Recording): Promise<void>;
    /** @param {string} id @returns {Promise<void>} */
    remove(id: string): Promise<void>;
    /**
     * Where the last training stood (`studio.resume` goes on with it), and the voice that it made (`studio.open` opens it).
     * @returns {Promise<{ checkpoint: { iteration: number, iterations: number } | null, voice: Blob | null }>}
     */
    training(): Promise<{
        checkpoint: {
            iteration: number;
            iterations: number;
        } | null;
        voice: Blob | null;
    }>;
    /** Forgets everything. @returns {Promise<void>} */
    clear(): Promise<void>;
}
