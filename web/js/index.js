// ownvoice: a voice learnt from one minute of speech, in the browser. See README.md for the five lines that use it.
//
// Everything heavy happens in one worker; what is here are handles to it.

import init, { Microphone as WebMicrophone } from "../pkg/ownvoice_web.js";
import { OwnvoiceError, Remote } from "./rpc.js";
import { wavBlob } from "./wav.js";

export { OwnvoiceError, wavBlob };

/** @import { Device } from "./device.js" */

/**
 * @typedef {object} LoadOptions
 * @property {string | URL} base Folder of the base voice: manifest.json and the files it names.
 * @property {"auto" | "webgpu" | "cpu"} [device] `auto` takes WebGPU where a real adapter is, the CPU otherwise.
 * @property {string | URL} [prompts] A JSON list of `{ id, text }` to be read aloud.
 * @property {boolean} [microphone] Prepares `studio.microphone`; everything it needs is fetched now.
 * @property {string} [keep] Name of a local database in which recordings and training outlive the tab. Nothing is kept without it.
 * @property {boolean} [cache] Keeps the fetched weights in the browser's cache, by their hash (true).
 * @property {(progress: LoadProgress) => void} [onProgress]
 * @property {AbortSignal} [signal]
 * @property {string | URL} [workerUrl] @property {string | URL} [wasmUrl] @property {string | URL} [workletUrl] For servers that place the files elsewhere; the program may be gzipped or not.
 */
/**
 * @typedef {{ status: "fetching", what: "program", loadedBytes: number }
 *   | { status: "fetching", what: "base", loadedBytes: number, totalBytes: number }
 *   | { status: "starting" }} LoadProgress
 */
/** @typedef {{ samples: Float32Array, sampleRate: number, text: string }} Clip Mono, -1 to 1, any rate from 8 to 192 kHz; `text` is what is said. */
/**
 * What was found in a clip. Levels are in dB below full scale. `score` says how well the phones of the text are heard: 0 is certainty, below -2.8 is a
 * mismatch; null without a text.
 * @typedef {{ seconds: number, speechSeconds: number, levelDb: number, noiseDb: number, snrDb: number, clippedPercent: number, score: number | null }} ClipReport
 */
/** @typedef {{ text: string, recording?: Omit<Clip, "text"> }} Consent What the speaker agreed to, and the recording in which it is said. */
/**
 * @typedef {{ status: "aligning" } | { status: "finishing" } | TrainingStep | { status: "preview", iteration: number, speech: Speech }} CloneProgress
 */
/**
 * One iteration of training; `loss` is the latest that was read from the device, `seconds` counts from the first iteration.
 * @typedef {{ status: "training", iteration: number, iterations: number, loss: number, seconds: number, heldOutLoss: number | null, stop: string | null }} TrainingStep
 */
/**
 * @typedef {object} CloneOptions
 * @property {number} [iterations] At most this many (200).
 * @property {number} [seed] The same seed, clips and device give the same voice.
 * @property {Consent} [consent] Is kept in the voice: the text, and the hash of the recording as a 16-bit WAV file.
 * @property {string} [preview] A sentence that the voice speaks every 25 iterations, while it learns.
 * @property {(progress: CloneProgress) => void} [onStep]
 * @property {AbortSignal} [signal] Ends with the error `cancelled`, and forgets the training.
 * @property {AbortSignal} [stopSignal] Ends early and keeps the best so far.
 */
/** @typedef {{ status: "speaking", sentence: number, sentences: number }} SayProgress */
/** @typedef {{ signal?: AbortSignal, seed?: number, onProgress?: (progress: SayProgress) => void }} SayOptions */
/** @typedef {{ mels: number, data: Float32Array }} Mel Natural-log amplitudes, frame after frame: `[T, M]`. */
/** @typedef {{ id: string, text: string, samples: Float32Array, sampleRate: number }} Recording */
/**
 * The microphone as it is: no echo cancellation, no noise suppression, no gain control, at its own rate.
 * @typedef {object} Microphone
 * @property {(onLevel: (peakDb: number, levelDb: number) => void, onLost: () => void) => Promise<void>} open Asks the visitor.
 * @property {boolean} isOpen
 * @property {() => void} record Starts a recording.
 * @property {() => { samples: Float32Array, sampleRate: number }} stop Ends the recording; the microphone stays open.
 * @property {() => void} close Releases the microphone.
 */

/** Frees a voice in the worker when the page has dropped it. */
const dropped = new FinalizationRegistry((/** @type {() => void} */ release) => release());

/**
 * Fetches the program and the base voice, and prepares the device.
 *
 * @param {LoadOptions} options
 * @returns {Promise<Studio>}
 */
export const load = (options) => start(options, null);

/** What a new worker takes over from the one before. @typedef {{ module: WebAssembly.Module, capture: Microphone | null }} Inherited */

/** @param {LoadOptions} options @param {Inherited | null} inherited @returns {Promise<Studio>} */
async function start(options, inherited) {
  const { base, device = "auto", prompts, microphone = false, keep, cache = true, onProgress, signal, workerUrl, wasmUrl, workletUrl } = options;
  const here = globalThis.document?.baseURI ?? import.meta.url;
  const absolute = (/** @type {string | URL} */ url) => new URL(url, here).href;
  // Bundlers look for exactly these expressions.
  const worker = workerUrl ? new Worker(workerUrl, { type: "module" }) : new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  const wasm = wasmUrl ? absolute(wasmUrl) : new URL("../pkg/ownvoice_web_bg.wasm.gz", import.meta.url).href;
  const worklet = workletUrl ? absolute(workletUrl) : new URL("./capture-worklet.js", import.meta.url).href;

  const remote = new Remote(worker);
  try {
    const folder = absolute(`${base}`.replace(/\/?$/, "/"));
    const args = { base: folder, device, prompts: prompts && absolute(prompts), wasmUrl: wasm, module: inherited?.module, keep, cache };
    const loaded = await remote.call("load", args, { signal, onProgress });
    const capture = inherited?.capture ?? (microphone ? await prepareCapture(loaded.module, worklet) : null);
    // Whoever watched this load does not watch the next.
    const restart = (/** @type {Partial<LoadOptions>} */ changed) => start({ ...options, onProgress: undefined, signal: undefined, ...changed }, { module: loaded.module, capture });
    return new Studio(remote, loaded, capture, restart);
  } catch (error) {
    remote.close();
    throw error;
  }
}

/** The page runs the module that the worker compiled, for capture alone: audio worklets need a window.
 * @param {WebAssembly.Module} module @param {string} worklet */
async function prepareCapture(module, worklet) {
  await init({ module_or_path: module });
  return WebMicrophone.prepare(worklet);
}

/** A loaded base voice on a device. */
export class Studio {
  #remote;
  #capture;
  #restart;

  /** @param {Remote} remote @param {any} loaded @param {Microphone | null} capture @param {(changed: any) => Promise<Studio>} restart */
  constructor(remote, loaded, capture, restart) {
    this.#remote = remote;
    this.#capture = capture;
    this.#restart = restart;
    /** @type {Device} Which device computes, and why. */
    this.device = loaded.device;
    /** @type {Voice} Speaks as the base voice does, before any training. */
    this.base = new Voice(remote, loaded.base);
    /** @type {string} Names the base: a saved voice opens only on the base it was made with. */
    this.hash = loaded.hash;
    /** @type {{ id: string, text: string }[]} */
    this.prompts = loaded.prompts;
    /** @type {Kept | null} What outlives the tab; null without `keep`, or where the browser keeps nothing. */
    this.kept = loaded.keeps ? new Kept(remote) : null;
    /** @type {string | null} Why nothing is kept although it was asked for. */
    this.keepReason = loaded.keepReason;
    /** @type {boolean} Whether the next visit finds the weights without the network. */
    this.cached = loaded.cached;
    /** @type {Promise<OwnvoiceError>} Resolves when the worker has ended, whoever ended it: `worker-crashed`, `device-lost` or `closed`. */
    this.ended = remote.ended;
  }

  /** `load({ microphone: true })` prepares it. @returns {Microphone} */
  get microphone() {
    if (!this.#capture) throw new OwnvoiceError("option-invalid", "load with microphone: true to record");
    return this.#capture;
  }

  /**
   * Learns a voice.
   *
   * @param {Clip[]} clips
   * @param {CloneOptions} [options]
   * @returns {Promise<Voice>}
   */
  async clone(clips, { iterations, seed, consent, preview, onStep, signal, stopSignal } = {}) {
    const args = { clips: clips.map(({ samples, sampleRate, text }) => ({ samples, sampleRate, text })), consent, iterations, seed, preview };
    return new Voice(this.#remote, await this.#remote.call("clone", args, { signal, stopSignal, onProgress: heard(onStep) }));
  }

  /**
   * Goes on with a training that a closed tab, a lost device or a crashed worker cut off.
   *
   * @param {Pick<CloneOptions, "preview" | "onStep" | "signal" | "stopSignal">} [options]
   * @returns {Promise<Voice>}
   */
  async resume({ preview, onStep, signal, stopSignal } = {}) {
    return new Voice(this.#remote, await this.#remote.call("resume", { preview }, { signal, stopSignal, onProgress: heard(onStep) }));
  }

  /** Changes a training under way: lets it rest, or go on; gives it another sentence to preview, or none.
   * @param {{ paused?: boolean, preview?: string | null }} change @returns {Promise<void>} */
  steer(change) {
    return this.#remote.call("steer", change);
  }

  /**
   * Throws the worker away, dead or alive, and builds another on the same base: nothing but the weights' cache is asked for them. Voices of the old
   * studio are gone with it; what is kept (`studio.kept`) is there still.
   *
   * @param {Pick<LoadOptions, "device" | "onProgress" | "signal">} [changed]
   * @returns {Promise<Studio>} in place of this one
   */
  restart(changed = {}) {
    this.#remote.close();
    return this.#restart(changed);
  }

  /** @returns {Promise<number>} Bytes of the program's memory, weights on the CPU included. */
  memoryBytes() {
    return this.#remote.call("memory", {});
  }

  /** Opens a saved voice. @param {Blob} blob @returns {Promise<Voice>} */
  async open(blob) {
    return new Voice(this.#remote, await this.#remote.call("open", { bytes: new Uint8Array(await blob.arrayBuffer()) }));
  }

  /** Fails with the reason, as code and in words, where a clip is not fit to learn from, or does not say its text.
   * @param {Omit<Clip, "text"> & { text?: string }} clip @returns {Promise<ClipReport>} */
  checkClip({ samples, sampleRate, text }) {
    return this.#remote.call("checkClip", { samples, sampleRate, text });
  }

  /** @param {Blob} blob A WAV file of any format and channel count. @returns {Promise<Omit<Clip, "text">>} */
  async readWav(blob) {
    return this.#remote.call("readWav", { bytes: new Uint8Array(await blob.arrayBuffer()) });
  }

  /** Ends the worker and frees everything. */
  close() {
    this.#capture?.close();
    this.#remote.close();
  }
}

/** Progress with speech in it, as its callers know speech. @param {CloneOptions["onStep"]} onStep */
const heard = (onStep) => onStep && ((/** @type {any} */ progress) => onStep(progress.speech ? { ...progress, speech: new Speech(progress.speech, "") } : progress));

/** @typedef {{ id: string, adapted: boolean, iterations: number, seconds: number, consent: { text: string, recordingSha256: string | null } | null }} VoiceInfo
 * How a voice was made: iterations, from how many seconds of speech. `id` is the beginning of its file's SHA-256. */

/** Someone's voice, in the worker. */
export class Voice {
  #remote;
  #handle;

  /** @param {Remote} remote @param {{ handle: number, info: VoiceInfo }} held */
  constructor(remote, { handle, info }) {
    this.#remote = remote;
    this.#handle = handle;
    /** @type {VoiceInfo} */
    this.info = info;
    dropped.register(this, () => release(remote, handle));
  }

  /**
   * Speaks a text of any length, sentence by sentence.
   *
   * @param {string} text
   * @param {SayOptions} [options]
   * @returns {Promise<Speech>}
   */
  async say(text, { signal, seed, onProgress } = {}) {
    return new Speech(await this.#remote.call("say", { voice: this.#handle, text, seed }, { signal, onProgress }), this.info.id);
  }

  /** Frees it at once, instead of when the browser finds that it was dropped. */
  close() {
    return release(this.#remote, this.#handle);
  }

  /** @returns {Promise<Blob>} A file that `studio.open` reads, and the command line too. */
  async save() {
    return new Blob([await this.#remote.call("save", { voice: this.#handle })], { type: "application/octet-stream" });
  }
}

/** @param {Remote} remote @param {number} handle @returns {Promise<void>} */
const release = (remote, handle) => remote.call("release", { voice: handle }).catch(() => {}); // a closed studio has freed it already

/** Something said. */
export class Speech {
  /** @param {{ samples: Float32Array, sampleRate: number, mel: Mel, durations: Uint32Array, symbols: string[], stop: string }} spoken @param {string} voice */
  constructor({ samples, sampleRate, mel, durations, symbols, stop }, voice) {
    /** Mono, -1 to 1. */
    this.samples = samples;
    /** Hz */
    this.sampleRate = sampleRate;
    this.mel = mel;
    /** Frames of each symbol. */
    this.durations = durations;
    this.symbols = symbols;
    /** Why it ended. */
    this.stop = stop;
    /** The id of the voice that spoke; empty for a preview of one that is still learning. */
    this.voice = voice;
  }

  /** @returns {Blob} A WAV file that says of itself that it is synthetic, by what, and with which voice. */
  toBlob() {
    const voice = this.voice ? `voice ${this.voice}` : "a voice that is still learning";
    return wavBlob(this.samples, this.sampleRate, { ISFT: "ownvoice", ICMT: `Synthetic speech, made by ownvoice with ${voice}` });
  }
}

/** Recordings and training that outlive the tab, on this machine only. */
export class Kept {
  #remote;

  /** @param {Remote} remote */
  constructor(remote) {
    this.#remote = remote;
  }

  /** @returns {Promise<Recording[]>} */
  recordings() {
    return this.#remote.call("recordings", {});
  }

  /** @param {Recording} recording @returns {Promise<void>} Resolves once it is on disk. */
  put({ id, text, samples, sampleRate }) {
    return this.#remote.call("keepRecording", { id, text, samples, sampleRate });
  }

  /** @param {string} id @returns {Promise<void>} */
  remove(id) {
    return this.#remote.call("forgetRecording", { id });
  }

  /**
   * Where the last training stood (`studio.resume` goes on with it), and the voice that it made (`studio.open` opens it).
   * @returns {Promise<{ checkpoint: { iteration: number, iterations: number } | null, voice: Blob | null }>}
   */
  async training() {
    const { checkpoint, voice } = await this.#remote.call("run", {});
    return { checkpoint, voice: voice && new Blob([voice]) };
  }

  /** Forgets everything. @returns {Promise<void>} */
  clear() {
    return this.#remote.call("forgetAll", {});
  }
}
