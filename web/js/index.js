// The public interface: `load`, the studio, and the types of both.
//
// WebAssembly, device and storage belong to one worker (worker.js, leader.js); the objects here are handles to it, and outlive it (connection.js).

import { Connection, train } from "./connection.js";
import { OwnvoiceError } from "./errors.js";
import { Microphone } from "./microphone.js";
import { startSession } from "./session.js";
import { Speech } from "./speech.js";
import { Storage } from "./storage.js";
import { Voice, voiceFile } from "./voice.js";
import { wavBlob } from "./wav.js";

export { Microphone, OwnvoiceError, Speech, Storage, Voice, wavBlob };

/** @import { Training } from "./connection.js" */
/** @import { Session } from "./session.js" */
/** @import { WorkerProgress } from "./training.js" */

/** @typedef {import("./options.js").Audio} Audio */
/** @typedef {import("./options.js").BaseFiles} BaseFiles */
/** @typedef {import("./options.js").Clip} Clip */
/** @typedef {import("./options.js").Recording} Recording */
/** @typedef {import("./device.js").Device} Device */
/** @typedef {import("./device.js").SelfTest} SelfTest */
/** @typedef {import("./errors.js").ErrorCode} ErrorCode */
/** @typedef {import("./options.js").CloneOptions} CloneOptions */
/** @typedef {import("./options.js").Consent} Consent */
/** @typedef {import("./options.js").LoadOptions} LoadOptions */
/** @typedef {import("./options.js").Prompt} Prompt */
/** @typedef {import("./options.js").ResumeOptions} ResumeOptions */
/** @typedef {import("./options.js").TrainingControls} TrainingControls */
/** @typedef {import("./options.js").TrainingOptions} TrainingOptions */
/** @typedef {import("./reports.js").Aligning} Aligning */
/** @typedef {import("./reports.js").CloneProgress} CloneProgress */
/** @typedef {import("./reports.js").FetchingBase} FetchingBase */
/** @typedef {import("./reports.js").FetchingProgram} FetchingProgram */
/** @typedef {import("./reports.js").Finishing} Finishing */
/** @typedef {import("./reports.js").LoadProgress} LoadProgress */
/** @typedef {import("./reports.js").LeftOut} LeftOut */
/** @typedef {import("./reports.js").NotStored} NotStored */
/** @typedef {import("./reports.js").Picture} Picture */
/** @typedef {import("./reports.js").PictureTaken} PictureTaken */
/** @typedef {import("./reports.js").Preview} Preview */
/** @typedef {import("./reports.js").Recovery} Recovery */
/** @typedef {import("./reports.js").Starting} Starting */
/** @typedef {import("./reports.js").TrainingStep} TrainingStep */
/** @typedef {import("./reports.js").ClipNote} ClipNote */
/** @typedef {import("./reports.js").ClipReport} ClipReport */
/** @typedef {import("./reports.js").DeviceMemory} DeviceMemory */
/** @typedef {import("./reports.js").PrecisionMetrics} PrecisionMetrics */
/** @typedef {import("./reports.js").PrecisionReport} PrecisionReport */
/** @typedef {import("./reports.js").PrecisionRow} PrecisionRow */
/** @typedef {import("./reports.js").Profile} Profile */
/** @typedef {import("./reports.js").ProfileRow} ProfileRow */
/** @typedef {import("./storage.js").StoredTraining} StoredTraining */
/** @typedef {import("./storage.js").Usage} Usage */
/** @typedef {import("./speech.js").Delivery} Delivery */
/** @typedef {import("./speech.js").Mel} Mel */
/** @typedef {import("./speech.js").SayOptions} SayOptions */
/** @typedef {import("./speech.js").SayProgress} SayProgress */
/** @typedef {import("./speech.js").Similarity} Similarity */
/** @typedef {import("./words.js").SpokenWord} SpokenWord */
/** @typedef {import("./speech.js").StreamOptions} StreamOptions */
/** @typedef {import("./speech.js").TextWarning} TextWarning */
/** @typedef {import("./speech.js").VoiceInfo} VoiceInfo */
/** @typedef {import("./wav.js").Origin} Origin */

/**
 * Fetches the program and the base voice, and prepares the device. Without the option `base`, the base is that of the package `ownvoice-base`.
 *
 * @example
 * const abort = new AbortController();
 * const studio = await load({
 *   base: "/models/base/",
 *   device: "auto",
 *   signal: abort.signal,
 *   onProgress(progress) {
 *     if (progress.status === "fetching") console.log(progress.what, progress.loadedBytes);
 *   },
 * });
 * console.log(studio.device.reason);
 * studio.close();
 *
 * @param {LoadOptions} [options]
 * @returns {Promise<Studio>}
 */
export const load = async (options = {}) => new Studio(options, await startSession(options));

/** A loaded base voice on a device. `load` makes it. */
export class Studio {
  #connection;
  #microphone;
  #options;
  #module;
  /** The controls of each running training. @type {Set<Required<TrainingControls>>} */
  #controls = new Set();

  /**
   * @internal
   * @param {LoadOptions} options @param {Session} session
   */
  constructor(options, session) {
    const { loaded, microphone } = session;
    this.#options = options;
    this.#module = loaded.module;
    const onSession = (/** @type {Session} */ { loaded }) => (this.device = loaded.device);
    // The callback and the signal of the load are not those of a restart.
    const connection = new Connection(session, (inherited, signal) => startSession({ ...options, onProgress: undefined, signal }, inherited), onSession, options.onRecovery);
    this.#connection = connection;
    this.#microphone = microphone;
    /**
     * The device in use, and the reason for it. A recovery can change it.
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
    this.base = new Voice(connection, session, loaded.base, null);
    /** Hash of the base: a saved voice opens only on the base that it was made with. @type {string} */
    this.hash = loaded.hash;
    /** The sentences of the option `prompts`. @type {Prompt[]} */
    this.prompts = loaded.prompts;
    /** Recordings and training that outlive the tab; null without the option `storage`, or where the browser has none. @type {Storage | null} */
    this.storage = loaded.storage ? new Storage(loaded.storage, connection) : null;
    /** Why `storage` is null although it was requested: `storage-unavailable`, as in some private windows. @type {{ code: string, message: string } | null} */
    this.storageError = loaded.storageError;
    /** Whether the base voice is cached, so that the next visit does not fetch it. @type {boolean} */
    this.cached = loaded.cached;
    /** Resolves when the studio has ended for good: `closed`, or the reason where a worker could not be replaced. @type {Promise<OwnvoiceError>} */
    this.ended = connection.ended;
  }

  /** The microphone; requires `load({ microphone: true })`. @returns {Microphone} */
  get microphone() {
    if (!this.#microphone) throw new OwnvoiceError("option-invalid", "the microphone requires load({ microphone: true })");
    return this.#microphone;
  }

  /**
   * Compiles the GPU pipelines of a training in advance, for example while the visitor records. On the CPU there is nothing to compile.
   *
   * @param {{ signal?: AbortSignal }} [options] Aborting ends the wait, not the compilation.
   * @returns {Promise<void>}
   */
  async prepare({ signal } = {}) {
    await this.#connection.call("prepare", {}, { signal });
  }

  /**
   * Measures a training step on this device, module by module, after a warm-up.
   *
   * @param {{ runs?: number, onProgress?: (progress: { module: number, modules: number }) => void, signal?: AbortSignal }} [options]
   * @returns {Promise<Profile>}
   */
  async profile({ runs = 5, onProgress, signal } = {}) {
    return this.#connection.call("profile", { runs }, { signal, onProgress });
  }

  /**
   * Compares a training step on this device with the CPU, operation by operation. Speech-like noise is trained on, and no recording.
   *
   * @param {{ precision?: "f32" | "mixed", cosine?: number, onProgress?: (progress: { done: number, of: number }) => void, signal?: AbortSignal }} [options]
   *   A tensor differs below the `cosine` (0.98); `precision-unsupported` where the device has no half precision.
   * @returns {Promise<PrecisionReport>}
   */
  async precision({ precision, cosine = 0.98, onProgress, signal } = {}) {
    return this.#connection.call("precision", { precision, cosine }, { signal, onProgress });
  }

  /**
   * Trains a voice on clips. Where the worker ends meanwhile, the training continues in the next: from the stored checkpoint, or from its beginning.
   *
   * @param {Clip[]} clips About a minute of speech in all; one long recording is cut at its pauses.
   * @param {CloneOptions} [options]
   * @returns {Promise<Voice>}
   */
  async clone(clips, { iterations, seed, precision, rehearsal, consent, preview, pictures, onStep, signal, stopSignal } = {}) {
    const plain = clips.map(({ samples, sampleRate, text }) => ({ samples, sampleRate, text }));
    const args = { clips: plain, consent, iterations, seed, precision, rehearsal, pictures };
    return this.#train({ method: "clone", args }, { preview, onStep, signal, stopSignal });
  }

  /**
   * Resumes a stored training that ended before its voice was finished, for example with a closed tab.
   *
   * @param {ResumeOptions} [options]
   * @returns {Promise<Voice>}
   */
  async resume({ preview, pictures, onStep, signal, stopSignal } = {}) {
    return this.#train({ method: "resume", args: { pictures } }, { preview, onStep, signal, stopSignal });
  }

  /** @param {Training} training @param {Omit<ResumeOptions, "pictures">} options @returns {Promise<Voice>} */
  async #train(training, { preview, onStep, signal, stopSignal }) {
    const controls = { paused: false, preview: preview ?? null };
    const onProgress = onStep && ((/** @type {Exclude<WorkerProgress, { status: "begun" }>} */ progress) => onStep(withSpeech(progress)));
    this.#controls.add(controls);
    try {
      const { session, bytes, ...held } = await train(this.#connection, training, { signal, stopSignal, onProgress }, controls);
      return new Voice(this.#connection, session, held, voiceFile(bytes));
    } finally {
      this.#controls.delete(controls);
    }
  }

  /**
   * Pauses or continues the running training, or changes its preview sentence.
   *
   * @param {TrainingControls} change
   * @returns {Promise<void>}
   */
  updateTraining(change) {
    for (const controls of this.#controls) Object.assign(controls, change);
    return this.#connection.call("updateTraining", change);
  }

  /** Returns the bytes of WebAssembly memory, including the weights where the CPU computes. It never shrinks. @returns {Promise<number>} */
  memoryBytes() {
    return this.#connection.call("memory", {});
  }

  /** Returns the graphics memory in use; null on the CPU. @returns {Promise<DeviceMemory | null>} */
  deviceMemory() {
    return this.#connection.call("deviceMemory", {});
  }

  /**
   * Opens a saved voice.
   *
   * @param {Blob} blob From `voice.save()` or the command line.
   * @param {{ signal?: AbortSignal }} [options]
   * @returns {Promise<Voice>}
   */
  async open(blob, { signal } = {}) {
    const bytes = new Uint8Array(await blob.arrayBuffer());
    return this.#connection.run(async (session) => {
      const held = await session.remote.call("open", { bytes }, { signal });
      return new Voice(this.#connection, session, held, voiceFile(bytes));
    }, signal);
  }

  /**
   * Measures a recording, and with a `text` also whether it contains these words. Rejects with the reason where the recording is unfit for training.
   *
   * @param {Audio & { text?: string }} clip
   * @param {{ signal?: AbortSignal }} [options]
   * @returns {Promise<ClipReport>}
   */
  checkClip({ samples, sampleRate, text }, { signal } = {}) {
    return this.#connection.call("checkClip", { samples, sampleRate, text }, { signal });
  }

  /**
   * Decodes a WAV file of any format, mixed down to one channel.
   *
   * @param {Blob} blob
   * @param {{ signal?: AbortSignal }} [options]
   * @returns {Promise<Audio>}
   */
  async readWav(blob, { signal } = {}) {
    return this.#connection.call("readWav", { bytes: new Uint8Array(await blob.arrayBuffer()) }, { signal });
  }

  /**
   * Loads another base beside this one, in a worker of its own: one that `storage.keepBase` has kept. Fails with `base-missing` where it is not.
   *
   * @param {string} hash
   * @param {{ signal?: AbortSignal }} [options]
   * @returns {Promise<Studio>}
   */
  async openBase(hash, { signal } = {}) {
    const options = { ...this.#options, baseHash: hash, prompts: undefined, microphone: false, onProgress: undefined, onRecovery: undefined, signal };
    return new Studio(options, await startSession(options, { module: this.#module }));
  }

  /** Ends the worker and frees everything. */
  close() {
    this.#microphone?.end();
    this.#connection.close();
  }

  // Where a browser lacks the symbol, the method is named "undefined", and nothing calls it.
  /** Closes the studio at the end of a block with `await using`. @returns {Promise<void>} */
  async [Symbol.asyncDispose]() {
    this.close();
  }
}

/** Replaces the plain speech of a preview by a `Speech`. @param {Exclude<WorkerProgress, { status: "begun" }>} progress @returns {CloneProgress} */
function withSpeech(progress) {
  if (progress.status !== "preview") return progress;
  const { text, speech, ...rest } = progress;
  return { ...rest, speech: new Speech(speech, "", text) };
}
