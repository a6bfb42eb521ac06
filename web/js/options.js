// Types of what callers pass: sound, recordings, and the options of `load` and of a training.

/** @import { CloneProgress, LoadProgress, Recovery } from "./reports.js" */

/**
 * Mono sound.
 * @typedef {object} Audio
 * @property {Float32Array} samples From -1 to 1.
 * @property {number} sampleRate Hz, from 8,000 to 192,000.
 */
/**
 * A recording and its text.
 * @typedef {object} Clip
 * @property {Float32Array} samples Mono, from -1 to 1.
 * @property {number} sampleRate Hz, from 8,000 to 192,000.
 * @property {string} text The words that are spoken.
 */
/**
 * A stored recording.
 * @typedef {object} Recording
 * @property {string} id Any text; a recording of the same id is replaced.
 * @property {string} text The words that are spoken.
 * @property {Float32Array} samples Mono, from -1 to 1.
 * @property {number} sampleRate Hz
 */

/**
 * Addresses of the files of a base voice, one by one, as `ownvoice-base` exports them: bundlers copy and rename each file.
 * @typedef {object} BaseFiles
 * @property {string | URL} manifest `manifest.json`. Other files are at the paths that it names, if their addresses are not given.
 * @property {string | URL} [weights]
 * @property {string | URL} [lexicon]
 * @property {string | URL} [aligner]
 * @property {string | URL} [vocoder]
 * @property {string | URL} [prompts] Sentences to be read aloud, for the option of this name.
 */

/**
 * Options of `load`.
 * @typedef {object} LoadOptions
 * @property {string | URL | BaseFiles} [base] The base voice, by default that of the package `ownvoice-base`: the address of a folder with manifest.json and the files that it names, or the address of each file.
 * @property {"auto" | "webgpu" | "cpu"} [device] `auto` (the default) takes WebGPU where there is a hardware adapter, otherwise the CPU.
 * @property {string | URL} [prompts] A JSON list of `{ id, text }`: sentences to be read aloud.
 * @property {boolean} [microphone] Prepares `studio.microphone`, so that nothing is fetched when it opens.
 * @property {string} [storage] Name of a folder in the browser's private file system, in which recordings and training outlive the tab. Without it nothing is stored.
 * @property {number} [cores] CPU cores that train a voice where there is no GPU: by default all, at most four, and two on a phone.
 * @property {boolean} [cache] Whether the browser caches the base voice, by hash (true).
 * @property {(progress: LoadProgress) => void} [onProgress] Called as the download proceeds.
 * @property {(event: Recovery) => void} [onRecovery] Called when the worker crashed or lost its GPU, and when a new one has taken its place.
 * @property {AbortSignal} [signal] Ends the load with its reason, by default `cancelled`.
 * @property {string | URL} [workerUrl] Address of `worker.js`, if not beside the package; it may be on another host.
 * @property {string | URL} [wasmUrl] Address of the WebAssembly module, gzipped or not.
 * @property {string | URL} [workletUrl] Address of `capture-worklet.js`.
 */

/**
 * A sentence to be read aloud.
 * @typedef {object} Prompt
 * @property {string} id
 * @property {string} text
 */

/**
 * The speaker's consent.
 * @typedef {object} Consent
 * @property {string} text The statement.
 * @property {Audio} [recording] The speaker reading it.
 */
/**
 * Options of `studio.resume`.
 * @typedef {object} ResumeOptions
 * @property {string} [preview] A sentence that the voice speaks before the first iteration, and then every 25 iterations.
 * @property {boolean} [pictures] Sends a `picture` at the start, every 25 iterations and at the end.
 * @property {(progress: CloneProgress) => void} [onStep] Called at each step; after a restart of the worker again from `aligning`.
 * @property {AbortSignal} [signal] Ends the training with its reason, by default `cancelled`, and discards it.
 * @property {AbortSignal} [stopSignal] Ends the training early and returns the best voice so far.
 */
/**
 * Options of `studio.clone` beside those of `studio.resume`.
 * @typedef {object} TrainingOptions
 * @property {number} [iterations] At most this many (75).
 * @property {number} [seed] The same seed, clips and device give the same voice.
 * @property {"f32" | "mixed"} [precision] `mixed` multiplies in half precision; `precision-unsupported` where the device cannot.
 * @property {number} [rehearsal] Weight of rehearsed sentences of the base in the loss, 0 to 10 (0.4). Higher is clearer, lower is closer to the speaker. The value holds for half a minute of a typical voice: twice the speech has half the weight, a voice twice as far from the base four times the weight.
 * @property {Consent} [consent] Stored in the voice: the text, and the SHA-256 of the recording as a 16-bit WAV file.
 */
/**
 * Changes to a running training.
 * @typedef {object} TrainingControls
 * @property {boolean} [paused]
 * @property {string | null} [preview] Another preview sentence; null for none.
 */
/** @typedef {TrainingOptions & ResumeOptions} CloneOptions */

export {};
