// Runs a training to its end, early stop or cancellation, and stores checkpoints, so that a closed tab loses little of it.

import { checkpointIterations } from "../pkg/ownvoice_web.js";
import { sha256 } from "./download.js";
import { OwnvoiceError, anySignal, describe } from "./errors.js";
import { yieldToMessages } from "./rpc.js";
import { serialize } from "./serialize.js";
import { trainingLock } from "./store.js";
import { idOf, reportSentences } from "./voices.js";
import { wavBlob } from "./wav.js";

/** @import { Engine, Tuner, Voice } from "../pkg/ownvoice_web.js" */
/** @import { Clip, Consent, TrainingControls, TrainingOptions } from "./options.js" */
/** @import { Helpers } from "./helpers.js" */
/** @import { Aligning, Finishing, LeftOut, NotStored, PictureTaken, TrainingStep } from "./reports.js" */
/** @import { Context } from "./rpc.js" */
/** @import { PlainSpeech } from "./speech.js" */
/** @import { Store } from "./store.js" */
/** Consent as it is stored. @typedef {{ text: string, recordingSha256?: string }} StoredConsent */
/** A voice and its file. @typedef {{ voice: Voice, bytes: Uint8Array<ArrayBuffer> }} Trained */
/** What is shown of a training, and whether it starts paused. @typedef {{ preview?: string | null, pictures?: boolean, paused?: boolean }} Display */
/** This training, from now on the stored one. @typedef {{ status: "begun", run: string }} Begun */
/** The voice as it stands has spoken `text`. @typedef {{ status: "preview", iteration: number, text: string, speech: PlainSpeech }} PlainPreview */
/** What crosses from worker to page while a voice is trained. @typedef {Aligning | Begun | LeftOut | TrainingStep | PlainPreview | PictureTaken | NotStored | Finishing} WorkerProgress */

// Longest wait for the lock of the stored training: that of a worker that has ended is released within this time, that of another tab is not.
const OWNER_WAIT_MS = 3000;

/** Prefix of the keys of voices that were made with other bases. */
const OTHER = "other-";

export class Trainer {
  #engine;
  #store;
  #module;
  #helpers;
  /** @type {Required<TrainingControls>} */
  #controls = { paused: false, preview: null };
  /** Whether a write of this training has failed. The rest of the training is then not stored either. */
  #notStored = false;
  /** Aborted when the storage is cleared, which ends the stored training. */
  #deleted = new AbortController();

  /** @param {Engine} engine @param {Store | null} store @param {WebAssembly.Module} module @param {Helpers} helpers */
  constructor(engine, store, module, helpers) {
    this.#engine = engine;
    this.#store = store;
    this.#module = module;
    this.#helpers = helpers;
    store?.onCleared(() => this.#deleted.abort());
  }

  /** Trains a voice. @param {{ clips: Clip[] } & TrainingOptions & Display} args @param {Context<WorkerProgress>} context @returns {Promise<Trained>} */
  clone({ clips, consent: given, iterations, seed, precision, rehearsal, pictures = false, ...display }, context) {
    return this.#owning(context, async (context) => {
      this.#notStored = false;
      const consent = await consentOf(given);
      const before = await this.#tried(() => this.#store?.get("run", "begun"), context);
      // Stored before the alignment: should that crash, this training must not resume from the checkpoint of the last one.
      const run = this.#store ? await hashOf({ clips, consent }) : "";
      if (await this.#tried(() => this.#store?.put("run", "begun", { clips: run }), context)) context.progress({ status: "begun", run });
      let tuner;
      try {
        await this.#startAligning(display, context);
        tuner = await this.#engine.tuner(clips, { iterations, seed, precision, rehearsal, faults: [] });
        await yieldToMessages(context.signal);
      } catch (error) {
        tuner?.free();
        // After rejected clips the previous training can still be resumed.
        if (before && !this.#deleted.signal.aborted) await this.#tried(() => this.#store?.put("run", "begun", before), context);
        else if (!this.#notStored) await this.#discard();
        throw error;
      }
      await this.#tried(() => this.#removeProgress(), context); // the previous voice stays until this one is finished
      await this.#put("clips", { clips, consent }, run, context);
      return this.#train(tuner, consent, run, pictures, context);
    });
  }

  /** Resumes from the stored checkpoint. @param {Display} args @param {Context<WorkerProgress>} context @returns {Promise<Trained>} */
  resume({ pictures = false, ...display }, context) {
    return this.#owning(context, async (context) => {
      const checkpoint = await this.#checkpoint();
      const stored = checkpoint && (await this.#store?.get("run", "clips"));
      if (!stored || (await hashOf(stored)) !== checkpoint.clips) throw new OwnvoiceError("nothing-stored", "no training is stored");
      this.#notStored = false;
      context.progress({ status: "begun", run: checkpoint.clips });
      await this.#startAligning(display, context);
      return this.#train(await this.#engine.resume(stored.clips, checkpoint.bytes), stored.consent, checkpoint.clips, pictures, context);
    });
  }

  /** Returns the stored checkpoint and voice, each with the run that it belongs to, and the voices of other bases. */
  async stored() {
    const checkpoint = await this.#checkpoint();
    const stored = await this.#store?.get("run", "voice");
    /** @type {Uint8Array<ArrayBuffer> | null} */
    const voice = stored?.bytes ?? null;
    /** @type {(Uint8Array<ArrayBuffer> | undefined)[]} */
    const others = [];
    for (const key of (await this.#store?.keys("run")) ?? []) {
      if (key.startsWith(OTHER)) others.push((await this.#store?.get("run", key))?.bytes);
    }
    const opens = voice !== null && this.#opens(voice);
    if (voice !== null && !opens) others.push(voice);
    return {
      checkpoint: checkpoint ? { iteration: checkpoint.iteration, iterations: checkpoint.iterations, run: checkpoint.clips } : null,
      voice: opens ? voice : null,
      voiceRun: opens ? (stored.clips ?? null) : null,
      others: others.filter((bytes) => bytes !== undefined),
    };
  }

  /** Returns the clips of the stored training. @returns {Promise<Clip[]>} */
  async clips() {
    return (await this.#store?.get("run", "clips"))?.clips ?? [];
  }

  /** Deletes a finished voice that is stored. @param {string} id */
  async removeVoice(id) {
    for (const key of (await this.#store?.keys("run")) ?? []) {
      if (key !== "voice" && !key.startsWith(OTHER)) continue;
      const stored = await this.#store?.get("run", key);
      if (stored && (await idOf(stored.bytes)) === id) await this.#store?.remove("run", key);
    }
  }

  /** @param {TrainingControls} change */
  updateTraining(change) {
    Object.assign(this.#controls, change);
  }

  /** Removes a stored training, unless another is stored or running. @param {string} run */
  async discard(run) {
    await this.#locked(new AbortController().signal, async () => {
      if ((await this.#store?.get("run", "begun"))?.clips === run) await this.#discard();
    });
  }

  /** Returns the stored checkpoint, unless it belongs to another training than the last that was begun. */
  async #checkpoint() {
    const [begun, checkpoint] = await Promise.all([this.#store?.get("run", "begun"), this.#store?.get("run", "checkpoint")]);
    return checkpoint && checkpoint.clips === begun?.clips ? checkpoint : null;
  }

  /** Whether this base opens a voice file. @param {Uint8Array} bytes */
  #opens(bytes) {
    try {
      this.#engine.open(bytes).free();
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Runs a training while this worker holds the lock of the stored training: clips of one tab must not meet weights of another.
   * @param {Context<WorkerProgress>} context @param {(context: Context<WorkerProgress>) => Promise<Trained>} work
   */
  async #owning(context, work) {
    if (!this.#store) return work(context);
    return this.#locked(context.signal, () => {
      this.#deleted = new AbortController();
      return work({ ...context, signal: anySignal(context.signal, this.#deleted.signal) });
    });
  }

  /** Calls `work` under the lock; fails with `training-elsewhere` where another training holds it. @template T @param {AbortSignal} signal @param {() => Promise<T>} work @returns {Promise<T>} */
  async #locked(signal, work) {
    let owned = false;
    const owning = () => {
      owned = true;
      return work();
    };
    try {
      return await navigator.locks.request(trainingLock(`${this.#store?.name}`), { signal: anySignal(signal, AbortSignal.timeout(OWNER_WAIT_MS)) }, owning);
    } catch (error) {
      if (owned) throw error;
      signal.throwIfAborted();
      throw new OwnvoiceError("training-elsewhere", "another training is running, here or in another tab; one at a time is stored");
    }
  }

  /** @param {Display} display @param {Context<WorkerProgress>} context */
  async #startAligning({ preview = null, paused = false }, { signal, progress }) {
    this.#controls = { paused, preview };
    progress({ status: "aligning" });
    await yieldToMessages(signal);
  }

  /**
   * Trains to the end. Between two iterations the worker answers other calls.
   * @param {Tuner} tuner @param {StoredConsent | null} consent @param {string} run Hash of its clips. @param {boolean} pictures @param {Context<WorkerProgress>} context
   * @returns {Promise<Trained>}
   */
  async #train(tuner, consent, run, pictures, context) {
    const { signal, stopSignal, progress } = context;
    const sendPicture = async (/** @type {number} */ iteration) => pictures && progress({ status: "picture", iteration, picture: await tuner.picture() });
    const sendPreview = async (/** @type {number} */ iteration) => {
      const text = this.#controls.preview;
      if (text) progress({ status: "preview", iteration, text, speech: await speakPreview(tuner, text, signal) });
    };
    const helpers = this.#helpers;
    const interval = checkpointIterations();
    for (const error of tuner.leftOut()) progress({ status: "left-out", ...describe(error) });
    try {
      await helpers.join(this.#module, tuner);
      await sendPicture(tuner.iteration);
      await sendPreview(tuner.iteration);
      for (;;) {
        const sharing = helpers.sharing(tuner);
        const started = sharing ? await helpers.startIteration(tuner) : null;
        const step = await tuner.step(sharing, started && started.gradients);
        progress({ status: "training", ...step });
        await yieldToMessages();
        while (this.#controls.paused && !signal.aborted && !stopSignal.aborted) await new Promise((resolve) => setTimeout(resolve, 50));
        signal.throwIfAborted();
        const { iteration, iterations } = step;
        const ends = step.stop || stopSignal.aborted;
        if (ends || iteration % interval === 0) await sendPicture(iteration);
        if (ends) break;
        if (iteration % interval !== 0) continue;
        if (this.#store && !this.#notStored) await this.#put("checkpoint", { bytes: await tuner.checkpoint(), clips: run, iteration, iterations }, run, context);
        await sendPreview(iteration);
      }
    } catch (error) {
      tuner.free();
      if (signal.aborted) await this.#discard();
      throw error;
    } finally {
      await helpers.leave(tuner);
    }
    progress({ status: "finishing" });
    const voice = await tuner.finish(); // frees the tuner
    try {
      if (consent) voice.setConsent(consent.text, consent.recordingSha256);
      const bytes = /** @type {Uint8Array<ArrayBuffer>} */ (await voice.save());
      signal.throwIfAborted();
      await this.#keepVoiceOfOtherBase(context);
      // The last checkpoint stays where the voice could not be stored.
      if (await this.#put("voice", { bytes, clips: run }, run, context)) await this.#discard();
      return { voice, bytes };
    } catch (error) {
      voice.free();
      if (signal.aborted) await this.#discard();
      throw error;
    }
  }

  /** Stores a voice of another base under another key, before it is overwritten. @param {Context<WorkerProgress>} context */
  async #keepVoiceOfOtherBase(context) {
    const voice = await this.#tried(() => this.#store?.get("run", "voice"), context);
    if (!voice || this.#opens(voice.bytes)) return;
    const id = await idOf(voice.bytes);
    await this.#tried(() => this.#store?.put("run", `${OTHER}${id}`, voice), context);
  }

  /**
   * Stores a part of a training. If the storage has been cleared meanwhile, the training ends.
   * @param {string} key @param {unknown} value @param {string} run @param {Context<WorkerProgress>} context
   */
  async #put(key, value, run, context) {
    const stored = await this.#tried(() => this.#store?.put("run", key, value, async (read) => (await read("run", "begun"))?.clips === run), context);
    if (stored !== false) return stored;
    this.#deleted.abort();
    this.#deleted.signal.throwIfAborted();
  }

  /**
   * Uses the storage. A failure is reported once and does not end the training.
   * @template T @param {() => Promise<T> | undefined} use @param {Context<WorkerProgress>} context @returns {Promise<T | undefined>}
   */
  async #tried(use, { progress }) {
    if (!this.#store || this.#notStored) return;
    try {
      return await use();
    } catch (error) {
      this.#notStored = true;
      const { code, message } = describe(error);
      progress({ status: "not-stored", code, message });
    }
  }

  /** Removes checkpoint and clips. The checkpoint is first, because it is useless without its clips. */
  async #removeProgress() {
    await this.#store?.remove("run", "checkpoint");
    await this.#store?.remove("run", "clips");
  }

  /** Removes all of the stored training but the voice. A failure is harmless: the next visit offers to resume a training that has ended. */
  async #discard() {
    try {
      await this.#store?.remove("run", "begun");
      await this.#removeProgress();
    } catch (error) {
      console.info(`The checkpoint could not be removed: ${describe(error).message}`);
    }
  }
}

/** Speaks with the voice as it stands. @param {Tuner} tuner @param {string} text @param {AbortSignal} signal */
async function speakPreview(tuner, text, signal) {
  const voice = tuner.preview();
  try {
    return await voice.say(text, {}, reportSentences({ signal, progress() {} }));
  } finally {
    voice.free();
  }
}

/** Returns the consent as the voice file has it. @param {Consent | undefined} given @returns {Promise<StoredConsent | null>} */
async function consentOf(given) {
  if (!given) return null;
  const { text, recording } = given;
  if (!recording) return { text };
  const wav = await wavBlob(recording.samples, recording.sampleRate).arrayBuffer();
  return { text, recordingSha256: await sha256(wav) };
}

/** Returns the hash of clips and consent, which identifies a training. @param {{ clips: Clip[], consent: StoredConsent | null }} data */
const hashOf = async ({ clips, consent }) => sha256(await serialize({ clips, consent }));
