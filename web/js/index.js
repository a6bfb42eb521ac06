// ownvoice: a voice learnt from one minute of speech, in the browser. See README.md for the five lines that use it.
//
// Everything heavy happens in one worker; what is here are handles to it.

import { coresFor } from "./cores.js";
import { Kept } from "./kept.js";
import { Microphone } from "./microphone.js";
import { OwnvoiceError, Remote } from "./rpc.js";
import { startWorker } from "./start.js";
import { Speech, Voice } from "./voice.js";
import { wavBlob } from "./wav.js";

export { Kept, Microphone, OwnvoiceError, Speech, Voice, wavBlob };

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
export const load = (options) => start(options, {});

/** What a new worker takes over from the one before; `failed` is the adapter with which that one ended before it could be used.
 * @typedef {{ module?: WebAssembly.Module, capture?: Microphone | null, failed?: { adapter: string, message: string } }} Inherited */

/** @param {LoadOptions} options @param {Inherited} inherited @returns {Promise<Studio>} */
async function start(options, inherited) {
  const { base, device = "auto", prompts, microphone = false, keep, cores, cache = true, onProgress, signal, workerUrl, wasmUrl, workletUrl } = options;
  const here = globalThis.document?.baseURI ?? import.meta.url;
  const absolute = (/** @type {string | URL} */ url) => new URL(url, here).href;
  // Bundlers look for exactly these expressions.
  const wasm = wasmUrl ? absolute(wasmUrl) : new URL("../pkg/ownvoice_web_bg.wasm.gz", import.meta.url).href;
  // Vite would make a data: URL of so small a file, which policies forbid.
  const worklet = workletUrl ? absolute(workletUrl) : new URL("./capture-worklet.js?no-inline", import.meta.url).href;

  const { worker, started } = startWorker(workerUrl && absolute(workerUrl));
  const remote = new Remote(worker);
  /** The adapter under test. @type {string | null} */
  let adapter = null;
  try {
    const watch = (/** @type {any} */ progress) => (progress.status === "testing" ? (adapter = progress.adapter) : onProgress?.(progress));
    const folder = absolute(`${base}`.replace(/\/?$/, "/"));
    const { module, failed } = inherited;
    const args = { base: folder, device, prompts: prompts && absolute(prompts), wasmUrl: wasm, module, keep, cache, cores: coresFor(cores, navigator), failed };
    const loaded = await remote.call("load", args, { signal, onProgress: watch });
    const capture = inherited.capture ?? (microphone ? await Microphone.prepare(loaded.module, worklet) : null);
    // Whoever watched this load does not watch the next.
    const restart = (/** @type {Partial<LoadOptions>} */ changed) => start({ ...options, onProgress: undefined, signal: undefined, ...changed }, { module: loaded.module, capture });
    return new Studio(remote, loaded, capture, restart);
  } catch (error) {
    remote.close();
    const { code = "", message } = /** @type {OwnvoiceError} */ (error);
    if (device === "auto" && adapter !== null && ["device-lost", "worker-crashed"].includes(code)) return start(options, { ...inherited, failed: { adapter, message } });
    throw error;
  } finally {
    started();
  }
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
    this.device = loaded.device;
    /** @type {Voice} Speaks as the base voice does, before any training. */
    this.base = new Voice(remote, loaded.base);
    /** @type {string} Names the base: a saved voice opens only on the base it was made with. */
    this.hash = loaded.hash;
    /** @type {{ id: string, text: string }[]} */
    this.prompts = loaded.prompts;
    /** @type {Kept | null} What outlives the tab; null without `keep`, or where the browser keeps nothing. */
    this.kept = loaded.keeps ? new Kept(loaded.keeps, remote) : null;
    /** @type {{ code: string, message: string } | null} Why nothing is kept although it was asked for: `storage-unavailable`, as in some private windows. */
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
   * Compiles what a training will run, so that nobody waits for it then: call it when the visitor begins to record. At once on the CPU.
   *
   * @param {{ signal?: AbortSignal }} [options] Ends the wait; what is being compiled will be of use all the same.
   * @returns {Promise<void>}
   */
  async prepare({ signal } = {}) {
    await this.#remote.call("prepare", {}, { signal });
  }

  /**
   * What a training step takes on this device, module by module; the first runs are left out as warm-up.
   *
   * @param {{ runs?: number, onProgress?: (progress: { module: number, modules: number }) => void, signal?: AbortSignal }} [options]
   * @returns {Promise<Profile>}
   */
  async profile({ runs = 5, onProgress, signal } = {}) {
    return this.#remote.call("profile", { runs }, { signal, onProgress });
  }

  /**
   * Learns a voice.
   *
   * @param {Clip[]} clips
   * @param {CloneOptions} [options]
   * @returns {Promise<Voice>}
   */
  async clone(clips, { iterations, seed, precision, rehearsal, consent, preview, pictures, onStep, signal, stopSignal } = {}) {
    const args = { clips: clips.map(({ samples, sampleRate, text }) => ({ samples, sampleRate, text })), consent, iterations, seed, precision, rehearsal, preview, pictures };
    return new Voice(this.#remote, await this.#remote.call("clone", args, { signal, stopSignal, onProgress: heard(onStep) }));
  }

  /**
   * Goes on with a training that a closed tab, a lost device or a crashed worker cut off.
   *
   * @param {Pick<CloneOptions, "preview" | "pictures" | "onStep" | "signal" | "stopSignal">} [options]
   * @returns {Promise<Voice>}
   */
  async resume({ preview, pictures, onStep, signal, stopSignal } = {}) {
    return new Voice(this.#remote, await this.#remote.call("resume", { preview, pictures }, { signal, stopSignal, onProgress: heard(onStep) }));
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

  /** @returns {Promise<{ usedBytes: number, heldBytes: number } | null>} Graphics memory, in use and held for the next use; null on the CPU. */
  deviceMemory() {
    return this.#remote.call("deviceMemory", {});
  }

  /** Opens a saved voice. @param {Blob} blob @param {{ signal?: AbortSignal }} [options] @returns {Promise<Voice>} */
  async open(blob, { signal } = {}) {
    return new Voice(this.#remote, await this.#remote.call("open", { bytes: new Uint8Array(await blob.arrayBuffer()) }, { signal }));
  }

  /** Fails with the reason, as code and in words, where a clip is not fit to learn from, or does not say its text.
   * @param {Omit<Clip, "text"> & { text?: string }} clip @param {{ signal?: AbortSignal }} [options] @returns {Promise<ClipReport>} */
  checkClip({ samples, sampleRate, text }, { signal } = {}) {
    return this.#remote.call("checkClip", { samples, sampleRate, text }, { signal });
  }

  /** @param {Blob} blob A WAV file of any format and channel count. @param {{ signal?: AbortSignal }} [options] @returns {Promise<Omit<Clip, "text">>} */
  async readWav(blob, { signal } = {}) {
    return this.#remote.call("readWav", { bytes: new Uint8Array(await blob.arrayBuffer()) }, { signal });
  }

  /** Ends the worker and frees everything. */
  close() {
    this.#capture?.end();
    this.#remote.close();
  }
}

/** Progress with speech in it, as its callers know speech. @param {CloneOptions["onStep"]} onStep */
const heard = (onStep) => onStep && ((/** @type {any} */ progress) => onStep(progress.speech ? { ...progress, speech: new Speech(progress.speech, "", progress.text) } : progress));
