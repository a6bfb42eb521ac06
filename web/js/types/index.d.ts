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
    /**
     * Keeps the fetched weights in the browser's cache, by their hash (true).
     */
    cache?: boolean;
    onProgress?: (progress: LoadProgress) => void;
    signal?: AbortSignal;
    workerUrl?: string | URL;
    wasmUrl?: string | URL;
    /**
     * For servers that place the files elsewhere; the program may be gzipped or not.
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
    score: number | null;
};
export type Consent = {
    text: string;
    recording?: Omit<Clip, "text">;
};
export type CloneProgress = {
    status: "aligning";
} | {
    status: "finishing";
} | TrainingStep | {
    status: "preview";
    iteration: number;
    speech: Speech;
};
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
    /**
     * Is kept in the voice: the text, and the hash of the recording as a 16-bit WAV file.
     */
    consent?: Consent;
    /**
     * A sentence that the voice speaks every 25 iterations, while it learns.
     */
    preview?: string;
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
export declare const load: (options: LoadOptions) => Promise<Studio>;
export type Inherited = {
    module: WebAssembly.Module;
    capture: Microphone | null;
};
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
    /** @type {boolean} Whether the next visit finds the weights without the network. */
    cached: boolean;
    /** @type {Promise<OwnvoiceError>} Resolves when the worker has ended, whoever ended it: `worker-crashed`, `device-lost` or `closed`. */
    ended: Promise<OwnvoiceError>;
    /** @param {Remote} remote @param {any} loaded @param {Microphone | null} capture @param {(changed: any) => Promise<Studio>} restart */
    constructor(remote: Remote, loaded: any, capture: Microphone | null, restart: (changed: any) => Promise<Studio>);
    /** `load({ microphone: true })` prepares it. @returns {Microphone} */
    get microphone(): Microphone;
    /**
     * Learns a voice.
     *
     * @param {Clip[]} clips
     * @param {CloneOptions} [options]
     * @returns {Promise<Voice>}
     */
    clone(clips: Clip[], { iterations, seed, consent, preview, onStep, signal, stopSignal }?: CloneOptions): Promise<Voice>;
    /**
     * Goes on with a training that a closed tab, a lost device or a crashed worker cut off.
     *
     * @param {Pick<CloneOptions, "preview" | "onStep" | "signal" | "stopSignal">} [options]
     * @returns {Promise<Voice>}
     */
    resume({ preview, onStep, signal, stopSignal }?: Pick<CloneOptions, "preview" | "onStep" | "signal" | "stopSignal">): Promise<Voice>;
    /** Changes a training under way: lets it rest, or go on; gives it another sentence to preview, or none.
     * @param {{ paused?: boolean, preview?: string | null }} change @returns {Promise<void>} */
    steer(change: {
        paused?: boolean;
        preview?: string | null;
    }): Promise<void>;
    /**
     * Throws the worker away, dead or alive, and builds another on the same base: nothing but the weights' cache is asked for them. Voices of the old
     * studio are gone with it; what is kept (`studio.kept`) is there still.
     *
     * @param {Pick<LoadOptions, "device" | "onProgress" | "signal">} [changed]
     * @returns {Promise<Studio>} in place of this one
     */
    restart(changed?: Pick<LoadOptions, "device" | "onProgress" | "signal">): Promise<Studio>;
    /** @returns {Promise<number>} Bytes of the program's memory, weights on the CPU included. */
    memoryBytes(): Promise<number>;
    /** Opens a saved voice. @param {Blob} blob @returns {Promise<Voice>} */
    open(blob: Blob): Promise<Voice>;
    /** Fails with the reason, as code and in words, where a clip is not fit to learn from, or does not say its text.
     * @param {Omit<Clip, "text"> & { text?: string }} clip @returns {Promise<ClipReport>} */
    checkClip({ samples, sampleRate, text }: Omit<Clip, "text"> & {
        text?: string;
    }): Promise<ClipReport>;
    /** @param {Blob} blob A WAV file of any format and channel count. @returns {Promise<Omit<Clip, "text">>} */
    readWav(blob: Blob): Promise<Omit<Clip, "text">>;
    /** Ends the worker and frees everything. */
    close(): void;
}
export type VoiceInfo = {
    id: string;
    adapted: boolean;
    iterations: number;
    seconds: number;
    consent: {
        text: string;
        recordingSha256: string | null;
    } | null;
};
/** @typedef {{ id: string, adapted: boolean, iterations: number, seconds: number, consent: { text: string, recordingSha256: string | null } | null }} VoiceInfo
 * How a voice was made: iterations, from how many seconds of speech. `id` is the beginning of its file's SHA-256. */
/** Someone's voice, in the worker. */
export declare class Voice {
    #private;
    /** @type {VoiceInfo} */
    info: VoiceInfo;
    /** @param {Remote} remote @param {{ handle: number, info: VoiceInfo }} held */
    constructor(remote: Remote, { handle, info }: {
        handle: number;
        info: VoiceInfo;
    });
    /**
     * Speaks a text of any length, sentence by sentence.
     *
     * @param {string} text
     * @param {SayOptions} [options]
     * @returns {Promise<Speech>}
     */
    say(text: string, { signal, seed, onProgress }?: SayOptions): Promise<Speech>;
    /** Frees it at once, instead of when the browser finds that it was dropped. */
    close(): Promise<void>;
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
    /** The id of the voice that spoke; empty for a preview of one that is still learning. */
    voice: string;
    /** @param {{ samples: Float32Array, sampleRate: number, mel: Mel, durations: Uint32Array, symbols: string[], stop: string }} spoken @param {string} voice */
    constructor({ samples, sampleRate, mel, durations, symbols, stop }: {
        samples: Float32Array;
        sampleRate: number;
        mel: Mel;
        durations: Uint32Array;
        symbols: string[];
        stop: string;
    }, voice: string);
    /** @returns {Blob} A WAV file that says of itself that it is synthetic, by what, and with which voice. */
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
