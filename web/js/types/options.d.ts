import type { CloneProgress, LoadProgress, Recovery } from "./reports.js";
/**
 * Mono sound.
 */
export type Audio = {
    /**
     * From -1 to 1.
     */
    samples: Float32Array;
    /**
     * Hz, from 8,000 to 192,000.
     */
    sampleRate: number;
};
/**
 * A recording and its text.
 */
export type Clip = {
    /**
     * Mono, from -1 to 1.
     */
    samples: Float32Array;
    /**
     * Hz, from 8,000 to 192,000.
     */
    sampleRate: number;
    /**
     * The words that are spoken.
     */
    text: string;
};
/**
 * A stored recording.
 */
export type Recording = {
    /**
     * Any text; a recording of the same id is replaced.
     */
    id: string;
    /**
     * The words that are spoken.
     */
    text: string;
    /**
     * Mono, from -1 to 1.
     */
    samples: Float32Array;
    /**
     * Hz
     */
    sampleRate: number;
};
/**
 * Addresses of the files of a base voice, one by one, as `ownvoice-base` exports them: bundlers copy and rename each file.
 */
export type BaseFiles = {
    /**
     * `manifest.json`. Other files are at the paths that it names, if their addresses are not given.
     */
    manifest: string | URL;
    weights?: string | URL;
    lexicon?: string | URL;
    aligner?: string | URL;
    vocoder?: string | URL;
    /**
     * Sentences to be read aloud, for the option of this name.
     */
    prompts?: string | URL;
};
/**
 * Options of `load`.
 */
export type LoadOptions = {
    /**
     * The base voice, by default that of the package `ownvoice-base`: the address of a folder with manifest.json and the files that it names, or the address of each file.
     */
    base?: string | URL | BaseFiles;
    /**
     * `auto` (the default) takes WebGPU where there is a hardware adapter, otherwise the CPU.
     */
    device?: "auto" | "webgpu" | "cpu";
    /**
     * A JSON list of `{ id, text }`: sentences to be read aloud.
     */
    prompts?: string | URL;
    /**
     * Prepares `studio.microphone`, so that nothing is fetched when it opens.
     */
    microphone?: boolean;
    /**
     * Name of a folder in the browser's private file system, in which recordings and training outlive the tab. Without it nothing is stored.
     */
    storage?: string;
    /**
     * CPU cores that train a voice where there is no GPU: by default all, at most four, and two on a phone.
     */
    cores?: number;
    /**
     * Whether the browser caches the base voice, by hash (true).
     */
    cache?: boolean;
    /**
     * Called as the download proceeds.
     */
    onProgress?: (progress: LoadProgress) => void;
    /**
     * Called when the worker crashed or lost its GPU, and when a new one has taken its place.
     */
    onRecovery?: (event: Recovery) => void;
    /**
     * Ends the load with its reason, by default `cancelled`.
     */
    signal?: AbortSignal;
    /**
     * Address of `worker.js`, if not beside the package; it may be on another host.
     */
    workerUrl?: string | URL;
    /**
     * Address of the WebAssembly module, gzipped or not.
     */
    wasmUrl?: string | URL;
    /**
     * Address of `capture-worklet.js`.
     */
    workletUrl?: string | URL;
};
/**
 * A sentence to be read aloud.
 */
export type Prompt = {
    id: string;
    text: string;
};
/**
 * The speaker's consent.
 */
export type Consent = {
    /**
     * The statement.
     */
    text: string;
    /**
     * The speaker reading it.
     */
    recording?: Audio;
};
/**
 * Options of `studio.resume`.
 */
export type ResumeOptions = {
    /**
     * A sentence that the voice speaks before the first iteration, and then every 25 iterations.
     */
    preview?: string;
    /**
     * Sends a `picture` at the start, every 25 iterations and at the end.
     */
    pictures?: boolean;
    /**
     * Called at each step; after a restart of the worker again from `aligning`.
     */
    onStep?: (progress: CloneProgress) => void;
    /**
     * Ends the training with its reason, by default `cancelled`, and discards it.
     */
    signal?: AbortSignal;
    /**
     * Ends the training early and returns the best voice so far.
     */
    stopSignal?: AbortSignal;
};
/**
 * Options of `studio.clone` beside those of `studio.resume`.
 */
export type TrainingOptions = {
    /**
     * At most this many (75).
     */
    iterations?: number;
    /**
     * The same seed, clips and device give the same voice.
     */
    seed?: number;
    /**
     * `mixed` multiplies in half precision; `precision-unsupported` where the device cannot.
     */
    precision?: "f32" | "mixed";
    /**
     * Weight of rehearsed sentences of the base in the loss, 0 to 10 (0.4). Higher is clearer, lower is closer to the speaker. The value holds for half a minute of a typical voice: twice the speech has half the weight, a voice twice as far from the base four times the weight.
     */
    rehearsal?: number;
    /**
     * Stored in the voice: the text, and the SHA-256 of the recording as a 16-bit WAV file.
     */
    consent?: Consent;
};
/**
 * Changes to a running training.
 */
export type TrainingControls = {
    paused?: boolean;
    /**
     * Another preview sentence; null for none.
     */
    preview?: string | null;
};
export type CloneOptions = TrainingOptions & ResumeOptions;
export {};
