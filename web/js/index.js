// The public interface: `load`, the studio, and the types of both.
//
// WebAssembly, device and storage belong to one worker (worker.js); the objects here are handles to it.

import { coresFor } from "./cores.js";
import { OwnvoiceError } from "./errors.js";
import { Microphone } from "./microphone.js";
import { Remote } from "./rpc.js";
import { startWorker } from "./start.js";
import { Storage } from "./storage.js";
import { Speech, Voice } from "./voice.js";
import { wavBlob } from "./wav.js";

export { Microphone, OwnvoiceError, Speech, Storage, Voice, wavBlob };

/** @import { Inherited } from "./start.js" */

/** @typedef {import("./clip.js").Audio} Audio */
/** @typedef {import("./clip.js").Clip} Clip */
/** @typedef {import("./device.js").Device} Device */
/** @typedef {import("./device.js").SelfTest} SelfTest */
/** @typedef {import("./options.js").CloneOptions} CloneOptions */
/** @typedef {import("./options.js").Consent} Consent */
/** @typedef {import("./options.js").ResumeOptions} ResumeOptions */
/** @typedef {import("./options.js").TrainingControls} TrainingControls */
/** @typedef {import("./options.js").TrainingOptions} TrainingOptions */
/** @typedef {import("./progress.js").Aligning} Aligning */
/** @typedef {import("./progress.js").CloneProgress} CloneProgress */
/** @typedef {import("./progress.js").FetchingBase} FetchingBase */
/** @typedef {import("./progress.js").FetchingProgram} FetchingProgram */
/** @typedef {import("./progress.js").Finishing} Finishing */
/** @typedef {import("./progress.js").LoadProgress} LoadProgress */
/** @typedef {import("./progress.js").NotStored} NotStored */
/** @typedef {import("./progress.js").Picture} Picture */
/** @typedef {import("./progress.js").PictureTaken} PictureTaken */
/** @typedef {import("./progress.js").Preview} Preview */
/** @typedef {import("./progress.js").Starting} Starting */
/** @typedef {import("./progress.js").TrainingStep} TrainingStep */
/** @typedef {import("./reports.js").ClipReport} ClipReport */
/** @typedef {import("./reports.js").DeviceMemory} DeviceMemory */
/** @typedef {import("./reports.js").PrecisionMetrics} PrecisionMetrics */
/** @typedef {import("./reports.js").PrecisionReport} PrecisionReport */
/** @typedef {import("./reports.js").PrecisionRow} PrecisionRow */
/** @typedef {import("./reports.js").Profile} Profile */
/** @typedef {import("./reports.js").ProfileRow} ProfileRow */
/** @typedef {import("./storage.js").Recording} Recording */
/** @typedef {import("./storage.js").StoredTraining} StoredTraining */
/** @typedef {import("./storage.js").Usage} Usage */
/** @typedef {import("./voice.js").Delivery} Delivery */
/** @typedef {import("./voice.js").Mel} Mel */
/** @typedef {import("./voice.js").SayOptions} SayOptions */
/** @typedef {import("./voice.js").SayProgress} SayProgress */
/** @typedef {import("./voice.js").Similarity} Similarity */
/** @typedef {import("./voice.js").StreamOptions} StreamOptions */
/** @typedef {import("./voice.js").TextWarning} TextWarning */
/** @typedef {import("./voice.js").VoiceInfo} VoiceInfo */
/** @typedef {import("./wav.js").Origin} Origin */

/**
 * Options of `load`.
 * @typedef {object} LoadOptions
 * @property {string | URL} base Folder of the base voice: manifest.json and the files that it names.
 * @property {"auto" | "webgpu" | "cpu"} [device] `auto` (the default) takes WebGPU where there is a hardware adapter, otherwise the CPU.
 * @property {string | URL} [prompts] A JSON list of `{ id, text }`: sentences to be read aloud.
 * @property {boolean} [microphone] Prepares `studio.microphone`, so that nothing is fetched when it opens.
 * @property {string} [storage] Name of a folder in the browser's private file system, in which recordings and training outlive the tab. Without it nothing is stored.
 * @property {number} [cores] CPU cores that train a voice where there is no GPU: by default all, at most four, and two on a phone.
 * @property {boolean} [cache] Caches the base voice in the browser, by hash (true).
 * @property {(progress: LoadProgress) => void} [onProgress] Called as the download proceeds.
 * @property {AbortSignal} [signal] Ends the load with `cancelled`.
 * @property {string | URL} [workerUrl] Where `worker.js` is, if not beside the package; may be on another host.
 * @property {string | URL} [wasmUrl] Where the WebAssembly module is, gzipped or not.
 * @property {string | URL} [workletUrl] Where `capture-worklet.js` is.
 */

/**
 * A sentence to be read aloud.
 * @typedef {object} Prompt
 * @property {string} id
 * @property {string} text
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

/** @param {LoadOptions} options @param {Inherited} inherited @returns {Promise<Studio>} */
async function start(options, inherited) {
  const { base, device = "auto", prompts, microphone = false, storage, cores, cache = true, onProgress, signal, workerUrl, wasmUrl, workletUrl } = options;
  const here = globalThis.document?.baseURI ?? import.meta.url;
  const absolute = (/** @type {string | URL} */ url) => new URL(url, here).href;
  // Bundlers look for exactly these expressions. What they make of them may be a path, which a worker from a blob cannot resolve.
  const wasm = absolute(wasmUrl ?? new URL("../pkg/ownvoice_web_bg.wasm.gz", import.meta.url).href);
  // Vite would inline so small a file as a data: URL, which policies forbid.
  const worklet = absolute(workletUrl ?? new URL("./capture-worklet.js?no-inline", import.meta.url).href);

  const { worker, started } = startWorker(workerUrl && absolute(workerUrl));
  const remote = new Remote(worker);
  /** The adapter under test. @type {string | null} */
  let adapter = null;
  try {
    const watch = (/** @type {any} */ progress) => (progress.status === "testing" ? (adapter = progress.adapter) : onProgress?.(progress));
    const folder = absolute(`${base}`.replace(/\/?$/, "/"));
    const { module, failed } = inherited;
    const args = { base: folder, device, prompts: prompts && absolute(prompts), wasmUrl: wasm, module, storage, cache, cores: coresFor(cores, navigator), failed };
    const loaded = await remote.call("load", args, { signal, onProgress: watch });
    const capture = inherited.capture ?? (microphone ? await Microphone.prepare(loaded.module, worklet) : null);
    // The callbacks and the signal of this load are not those of a later one.
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

/** A loaded base voice on a device. `load` makes it. */
export class Studio {
  #remote;
  #capture;
  #restart;

  /**
   * @internal
   * @param {Remote} remote @param {any} loaded @param {Microphone | null} capture @param {(changed: any) => Promise<Studio>} restart
   */
  constructor(remote, loaded, capture, restart) {
    this.#remote = remote;
    this.#capture = capture;
    this.#restart = restart;
    /**
     * The device in use, and the reason for it.
     *
     * @example
     * const studio = await load({ base: "/models/base/" });
     * const { kind, name, reason, code, selfTest } = studio.device;
     * console.log(kind === "webgpu" ? `on ${name}` : `on the CPU: ${reason}`, code, selfTest);
     *
     * @type {Device}
     */
    this.device = loaded.device;
    /** The base itself as a voice, without training. @type {Voice} */
    this.base = new Voice(remote, loaded.base);
    /** Hash of the base: a saved voice opens only on the base that it was made with. @type {string} */
    this.hash = loaded.hash;
    /** The sentences of the option `prompts`. @type {Prompt[]} */
    this.prompts = loaded.prompts;
    /** Recordings and training that outlive the tab; null without the option `storage`, or where the browser has none. @type {Storage | null} */
    this.storage = loaded.storage ? new Storage(loaded.storage, remote) : null;
    /** Why `storage` is null although it was asked for: `storage-unavailable`, as in some private windows. @type {{ code: string, message: string } | null} */
    this.storageError = loaded.storageError;
    /** Whether the base voice is cached, so that the next visit does not fetch it. @type {boolean} */
    this.cached = loaded.cached;
    /** Resolves when the worker has ended: `worker-crashed`, `device-lost` or `closed`. @type {Promise<OwnvoiceError>} */
    this.ended = remote.ended;
  }

  /** Audio capture; requires `load({ microphone: true })`. @returns {Microphone} */
  get microphone() {
    if (!this.#capture) throw new OwnvoiceError("option-invalid", "load with microphone: true to record");
    return this.#capture;
  }

  /**
   * Compiles the GPU pipelines of a training in advance, for example while the visitor records. On the CPU there is nothing to compile.
   *
   * @param {{ signal?: AbortSignal }} [options] Aborting ends the wait, not the compilation.
   * @returns {Promise<void>}
   */
  async prepare({ signal } = {}) {
    await this.#remote.call("prepare", {}, { signal });
  }

  /**
   * Measures a training step on this device, module by module, after a warm-up.
   *
   * @param {{ runs?: number, onProgress?: (progress: { module: number, modules: number }) => void, signal?: AbortSignal }} [options]
   * @returns {Promise<Profile>}
   */
  async profile({ runs = 5, onProgress, signal } = {}) {
    return this.#remote.call("profile", { runs }, { signal, onProgress });
  }

  /**
   * Compares a training step on this device with the CPU, operation by operation. Speech-like noise is trained on, and no recording.
   *
   * @param {{ precision?: "f32" | "mixed", cosine?: number, onProgress?: (progress: { done: number, of: number }) => void, signal?: AbortSignal }} [options]
   *   A tensor differs below the `cosine` (0.98); `precision-unsupported` where the device has no half precision.
   * @returns {Promise<PrecisionReport>}
   */
  async precision({ precision, cosine = 0.98, onProgress, signal } = {}) {
    return this.#remote.call("precision", { precision, cosine }, { signal, onProgress });
  }

  /**
   * Trains a voice on clips.
   *
   * @param {Clip[]} clips About a minute of speech in all; one long recording is cut at its pauses.
   * @param {CloneOptions} [options]
   * @returns {Promise<Voice>}
   */
  async clone(clips, { iterations, seed, precision, rehearsal, consent, preview, pictures, onStep, signal, stopSignal } = {}) {
    const args = { clips: clips.map(({ samples, sampleRate, text }) => ({ samples, sampleRate, text })), consent, iterations, seed, precision, rehearsal, preview, pictures };
    return new Voice(this.#remote, await this.#remote.call("clone", args, { signal, stopSignal, onProgress: withSpeech(onStep) }));
  }

  /**
   * Resumes a stored training that a closed tab, a lost device or a crashed worker interrupted.
   *
   * @param {ResumeOptions} [options]
   * @returns {Promise<Voice>}
   */
  async resume({ preview, pictures, onStep, signal, stopSignal } = {}) {
    return new Voice(this.#remote, await this.#remote.call("resume", { preview, pictures }, { signal, stopSignal, onProgress: withSpeech(onStep) }));
  }

  /**
   * Pauses or continues the running training, or changes its preview sentence.
   *
   * @param {TrainingControls} change
   * @returns {Promise<void>}
   */
  updateTraining(change) {
    return this.#remote.call("updateTraining", change);
  }

  /**
   * Ends the worker and loads the same base in a new one, from memory and cache. Voices of the old studio are gone; `studio.storage` is not affected.
   *
   * @param {Pick<LoadOptions, "device" | "onProgress" | "signal">} [changed]
   * @returns {Promise<Studio>} To be used in place of this one.
   */
  restart(changed = {}) {
    this.#remote.close();
    return this.#restart(changed);
  }

  /** Bytes of WebAssembly memory, including the weights where the CPU computes. @returns {Promise<number>} */
  memoryBytes() {
    return this.#remote.call("memory", {});
  }

  /** Graphics memory; null on the CPU. @returns {Promise<DeviceMemory | null>} */
  deviceMemory() {
    return this.#remote.call("deviceMemory", {});
  }

  /**
   * Opens a saved voice.
   *
   * @param {Blob} blob From `voice.save()` or the command line.
   * @param {{ signal?: AbortSignal }} [options]
   * @returns {Promise<Voice>}
   */
  async open(blob, { signal } = {}) {
    return new Voice(this.#remote, await this.#remote.call("open", { bytes: new Uint8Array(await blob.arrayBuffer()) }, { signal }));
  }

  /**
   * Measures a recording, and with a `text` also whether it contains these words. Rejects with the reason where it is unfit for training.
   *
   * @param {Audio & { text?: string }} clip
   * @param {{ signal?: AbortSignal }} [options]
   * @returns {Promise<ClipReport>}
   */
  checkClip({ samples, sampleRate, text }, { signal } = {}) {
    return this.#remote.call("checkClip", { samples, sampleRate, text }, { signal });
  }

  /**
   * Decodes a WAV file of any format, mixed down to one channel.
   *
   * @param {Blob} blob
   * @param {{ signal?: AbortSignal }} [options]
   * @returns {Promise<Audio>}
   */
  async readWav(blob, { signal } = {}) {
    return this.#remote.call("readWav", { bytes: new Uint8Array(await blob.arrayBuffer()) }, { signal });
  }

  /** Ends the worker and frees everything. */
  close() {
    this.#capture?.end();
    this.#remote.close();
  }
}

/** Progress with `Speech` objects in place of plain ones. @param {CloneOptions["onStep"]} onStep */
const withSpeech = (onStep) => onStep && ((/** @type {any} */ progress) => onStep(progress.speech ? { ...progress, speech: new Speech(progress.speech, "", progress.text) } : progress));
