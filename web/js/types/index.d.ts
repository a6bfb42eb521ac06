import { Kept } from "./kept.js";
import { Microphone } from "./microphone.js";
import { OwnvoiceError, Remote } from "./rpc.js";
import { Speech, Voice } from "./voice.js";
import { wavBlob } from "./wav.js";
export { Kept, Microphone, OwnvoiceError, Speech, Voice, wavBlob };
export type Device = import("./device.js").Device;
export type Recording = import("./kept.js").Recording;
export type Usage = import("./kept.js").Usage;
export type Mel = import("./voice.js").Mel;
export type SayOptions = import("./voice.js").SayOptions;
export type SayProgress = import("./voice.js").SayProgress;
export type Similarity = import("./voice.js").Similarity;
export type StreamOptions = import("./voice.js").StreamOptions;
export type VoiceInfo = import("./voice.js").VoiceInfo;
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
     * Name of a folder of the browser's own, in which recordings and training outlive the tab. Nothing is kept without it.
     */
    keep?: string;
    /**
     * On how many of the processor's cores a voice is learnt where the CPU learns: up to four, as many as there are, and two on a phone.
     */
    cores?: number;
    /**
     * Keeps the fetched weights in the browser's cache, by their hash (true).
     */
    cache?: boolean;
    onProgress?: (progress: LoadProgress) => void;
    signal?: AbortSignal;
    workerUrl?: string | URL;
    wasmUrl?: string | URL;
    /**
     * For servers that place the files elsewhere, another
     * host among them; the program may be gzipped or not.
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
    cutOff: "start" | "end" | null;
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
} | {
    status: "picture";
    iteration: number;
    picture: Picture;
} | {
    status: "not-kept";
    code: string;
    message: string;
};
export type Picture = {
    mels: number;
    frameSeconds: number;
    recorded: Float32Array;
    predicted: Float32Array;
    alignment: Float32Array;
    durations: Uint32Array;
    symbols: string[];
};
export type Profile = {
    rows: {
        module: string;
        forwardMs: number;
        backwardMs: number | null;
        forwardLaunches: number | null;
        backwardLaunches: number | null;
        forwardBytes: number | null;
        backwardBytes: number | null;
    }[];
    deviceBytes: number | null;
};
export type TrainingStep = {
    status: "training";
    iteration: number;
    iterations: number;
    loss: number;
    seconds: number;
    heldOutLoss: number | null;
    overflows: number;
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
     * `mixed` takes the products in half precision; the error is `precision-unsupported` where the device has none.
     */
    precision?: "f32" | "mixed";
    /**
     * What the base's own voices count for beside the new one, so that the model does not forget how to speak: more is clearer,
     * less is nearer to the speaker; 0 to 10 (0.2).
     */
    rehearsal?: number;
    /**
     * Is kept in the voice: the text, and the hash of the recording as a 16-bit WAV file.
     */
    consent?: Consent;
    /**
     * A sentence that the voice speaks every 25 iterations, while it learns.
     */
    preview?: string;
    /**
     * Shows the training: a `picture` at its start, every 25 iterations and at its end.
     */
    pictures?: boolean;
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
/** @typedef {import("./device.js").Device} Device */
/** @typedef {import("./kept.js").Recording} Recording */
/** @typedef {import("./kept.js").Usage} Usage */
/** @typedef {import("./voice.js").Mel} Mel */
/** @typedef {import("./voice.js").SayOptions} SayOptions */
/** @typedef {import("./voice.js").SayProgress} SayProgress */
/** @typedef {import("./voice.js").Similarity} Similarity */
/** @typedef {import("./voice.js").StreamOptions} StreamOptions */
/** @typedef {import("./voice.js").VoiceInfo} VoiceInfo */
/**
 * @typedef {object} LoadOptions
 * @property {string | URL} base Folder of the base voice: manifest.json and the files it names.
 * @property {"auto" | "webgpu" | "cpu"} [device] `auto` takes WebGPU where a real adapter is, the CPU otherwise.
 * @property {string | URL} [prompts] A JSON list of `{ id, text }` to be read aloud.
 * @property {boolean} [microphone] Prepares `studio.microphone`; everything it needs is fetched now.
 * @property {string} [keep] Name of a folder of the browser's own, in which recordings and training outlive the tab. Nothing is kept without it.
 * @property {number} [cores] On how many of the processor's cores a voice is learnt where the CPU learns: up to four, as many as there are, and two on a phone.
 * @property {boolean} [cache] Keeps the fetched weights in the browser's cache, by their hash (true).
 * @property {(progress: LoadProgress) => void} [onProgress]
 * @property {AbortSignal} [signal]
 * @property {string | URL} [workerUrl] @property {string | URL} [wasmUrl] @property {string | URL} [workletUrl] For servers that place the files elsewhere, another
 *   host among them; the program may be gzipped or not.
 */
/**
 * @typedef {{ status: "fetching", what: "program", loadedBytes: number }
 *   | { status: "fetching", what: "base", loadedBytes: number, totalBytes: number }
 *   | { status: "starting" }} LoadProgress
 */
/** @typedef {{ samples: Float32Array, sampleRate: number, text: string }} Clip Mono, -1 to 1, any rate from 8 to 192 kHz; `text` is what is said. */
/**
 * What was found in a clip. Levels are in dB below full scale. `score` says how well the phones of the text are heard: 0 is certainty, below -2.8 is a
 * mismatch; null without a text. `cutOff` is where someone is speaking at the very end of the clip: a recording begun late or ended early.
 * @typedef {{ seconds: number, speechSeconds: number, levelDb: number, noiseDb: number, snrDb: number, clippedPercent: number, cutOff: "start" | "end" | null, score: number | null }} ClipReport
 */
/** @typedef {{ text: string, recording?: Omit<Clip, "text"> }} Consent What the speaker agreed to, and the recording in which it is said. */
/**
 * `not-kept` comes once, where the training could not be kept (`storage-full`): it goes on, but would not outlive the tab.
 * @typedef {{ status: "aligning" } | { status: "finishing" } | TrainingStep | { status: "preview", iteration: number, speech: Speech }
 *   | { status: "picture", iteration: number, picture: Picture } | { status: "not-kept", code: string, message: string }} CloneProgress
 */
/**
 * The last clip, which is held out from training until its last 25 iterations, where there are five clips or more: its spectrogram as it was recorded and as
 * the voice makes it now, `[T, M]` each, and how surely each symbol is heard in each frame of the latter, `[T, L]`, 0 to 1. `durations` are the frames of each
 * symbol.
 * @typedef {{ mels: number, frameSeconds: number, recorded: Float32Array, predicted: Float32Array, alignment: Float32Array, durations: Uint32Array, symbols: string[] }} Picture
 */
/**
 * What a training step takes: milliseconds, launches on the graphics card and bytes of the buffers that they are given of each module, forward and backward;
 * null where there is none, or where nothing is launched. `whole step` beside them is the step in one piece. `deviceBytes` is the graphics memory that is held.
 * @typedef {{ rows: { module: string, forwardMs: number, backwardMs: number | null, forwardLaunches: number | null, backwardLaunches: number | null,
 *   forwardBytes: number | null, backwardBytes: number | null }[],
 *   deviceBytes: number | null }} Profile
 */
/**
 * One iteration of training, of `iterations`, which become fewer when the voice no longer gains; `loss` is the latest that was read from the device, `seconds`
 * counts from the first iteration, and `overflows` the iterations that were left out because half precision did not hold their gradients.
 * @typedef {{ status: "training", iteration: number, iterations: number, loss: number, seconds: number, heldOutLoss: number | null, overflows: number, stop: string | null }} TrainingStep
 */
/**
 * @typedef {object} CloneOptions
 * @property {number} [iterations] At most this many (200).
 * @property {number} [seed] The same seed, clips and device give the same voice.
 * @property {"f32" | "mixed"} [precision] `mixed` takes the products in half precision; the error is `precision-unsupported` where the device has none.
 * @property {number} [rehearsal] What the base's own voices count for beside the new one, so that the model does not forget how to speak: more is clearer,
 *   less is nearer to the speaker; 0 to 10 (0.2).
 * @property {Consent} [consent] Is kept in the voice: the text, and the hash of the recording as a 16-bit WAV file.
 * @property {string} [preview] A sentence that the voice speaks every 25 iterations, while it learns.
 * @property {boolean} [pictures] Shows the training: a `picture` at its start, every 25 iterations and at its end.
 * @property {(progress: CloneProgress) => void} [onStep]
 * @property {AbortSignal} [signal] Ends with the error `cancelled`, and forgets the training.
 * @property {AbortSignal} [stopSignal] Ends early and keeps the best so far.
 */
/**
 * Fetches the program and the base voice, and prepares the device.
 *
 * @example
 * const ending = new AbortController();
 * const studio = await load({
 *   base: "/models/base/",
 *   device: "auto",
 *   signal: ending.signal,
 *   onProgress(progress) {
 *     if (progress.status === "fetching") console.log(progress.what, progress.loadedBytes);
 *   },
 * });
 * console.log(studio.device.reason);
 * studio.close();
 *
 * @param {LoadOptions} options
 * @returns {Promise<Studio>}
 */
export declare const load: (options: LoadOptions) => Promise<Studio>;
export type Inherited = {
    module?: WebAssembly.Module;
    capture?: Microphone | null;
    failed?: {
        adapter: string;
        message: string;
    };
};
/** A loaded base voice on a device. */
export declare class Studio {
    #private;
    /**
     * Which device computes, and why.
     *
     * @example
     * const studio = await load({ base: "/models/base/" });
     * const { kind, name, reason, code, selfTest } = studio.device;
     * console.log(kind === "webgpu" ? `on ${name}` : `on the CPU: ${reason}`, code, selfTest);
     *
     * @type {Device}
     */
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
    /** @type {{ code: string, message: string } | null} Why nothing is kept although it was asked for: `storage-unavailable`, as in some private windows. */
    keepReason: {
        code: string;
        message: string;
    } | null;
    /** @type {boolean} Whether the next visit finds the weights without the network. */
    cached: boolean;
    /** @type {Promise<OwnvoiceError>} Resolves when the worker has ended, whoever ended it: `worker-crashed`, `device-lost` or `closed`. */
    ended: Promise<OwnvoiceError>;
    /** @param {Remote} remote @param {any} loaded @param {Microphone | null} capture @param {(changed: any) => Promise<Studio>} restart */
    constructor(remote: Remote, loaded: any, capture: Microphone | null, restart: (changed: any) => Promise<Studio>);
    /** `load({ microphone: true })` prepares it. @returns {Microphone} */
    get microphone(): Microphone;
    /**
     * Compiles what a training will run, so that nobody waits for it then: call it when the visitor begins to record. At once on the CPU.
     *
     * @param {{ signal?: AbortSignal }} [options] Ends the wait; what is being compiled will be of use all the same.
     * @returns {Promise<void>}
     */
    prepare({ signal }?: {
        signal?: AbortSignal;
    }): Promise<void>;
    /**
     * What a training step takes on this device, module by module; the first runs are left out as warm-up.
     *
     * @param {{ runs?: number, onProgress?: (progress: { module: number, modules: number }) => void, signal?: AbortSignal }} [options]
     * @returns {Promise<Profile>}
     */
    profile({ runs, onProgress, signal }?: {
        runs?: number;
        onProgress?: (progress: {
            module: number;
            modules: number;
        }) => void;
        signal?: AbortSignal;
    }): Promise<Profile>;
    /**
     * Learns a voice.
     *
     * @param {Clip[]} clips
     * @param {CloneOptions} [options]
     * @returns {Promise<Voice>}
     */
    clone(clips: Clip[], { iterations, seed, precision, rehearsal, consent, preview, pictures, onStep, signal, stopSignal }?: CloneOptions): Promise<Voice>;
    /**
     * Goes on with a training that a closed tab, a lost device or a crashed worker cut off.
     *
     * @param {Pick<CloneOptions, "preview" | "pictures" | "onStep" | "signal" | "stopSignal">} [options]
     * @returns {Promise<Voice>}
     */
    resume({ preview, pictures, onStep, signal, stopSignal }?: Pick<CloneOptions, "preview" | "pictures" | "onStep" | "signal" | "stopSignal">): Promise<Voice>;
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
    /** @returns {Promise<{ usedBytes: number, heldBytes: number } | null>} Graphics memory, in use and held for the next use; null on the CPU. */
    deviceMemory(): Promise<{
        usedBytes: number;
        heldBytes: number;
    } | null>;
    /** Opens a saved voice. @param {Blob} blob @param {{ signal?: AbortSignal }} [options] @returns {Promise<Voice>} */
    open(blob: Blob, { signal }?: {
        signal?: AbortSignal;
    }): Promise<Voice>;
    /** Fails with the reason, as code and in words, where a clip is not fit to learn from, or does not say its text.
     * @param {Omit<Clip, "text"> & { text?: string }} clip @param {{ signal?: AbortSignal }} [options] @returns {Promise<ClipReport>} */
    checkClip({ samples, sampleRate, text }: Omit<Clip, "text"> & {
        text?: string;
    }, { signal }?: {
        signal?: AbortSignal;
    }): Promise<ClipReport>;
    /** @param {Blob} blob A WAV file of any format and channel count. @param {{ signal?: AbortSignal }} [options] @returns {Promise<Omit<Clip, "text">>} */
    readWav(blob: Blob, { signal }?: {
        signal?: AbortSignal;
    }): Promise<Omit<Clip, "text">>;
    /** Ends the worker and frees everything. */
    close(): void;
}
