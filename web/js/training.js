// Training: runs it to its end, early stop or cancellation, and stores checkpoints, so that a closed tab loses little of it.

import { sha256 } from "./download.js";
import { serialize } from "./serialize.js";
import { OwnvoiceError, check, describe } from "./errors.js";
import { breathe, either } from "./rpc.js";
import { each, idOf } from "./voices.js";
import { wavBlob } from "./wav.js";

/** @import { Engine, Tuner, Voice } from "../pkg/ownvoice_web.js" */
/** @import { Clip } from "./clip.js" */
/** @import { Consent, TrainingControls, TrainingOptions } from "./options.js" */
/** @import { Helpers } from "./helpers.js" */
/** @import { Context } from "./rpc.js" */
/** @import { Store } from "./store.js" */
/** Consent as it is stored. @typedef {{ text: string, recordingSha256?: string }} StoredConsent */
/** A voice and its file. @typedef {{ voice: Voice, bytes: Uint8Array<ArrayBuffer> }} Trained */
/** The part of the options that crosses to the worker. @typedef {{ preview?: string, pictures?: boolean }} Shown */

// A closed tab loses at most this much training. Previews are spoken at the same interval.
const CHECKPOINT_ITERATIONS = 25;

// The lock of a worker that has ended is released within this time; that of another tab is not.
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
  /** Whether a write of this training has failed: the rest of it is not stored either. */
  #notStored = false;
  /** Ends the stored training when the storage is cleared. */
  #deleted = new AbortController();

  /** @param {Engine} engine @param {Store | null} store @param {WebAssembly.Module} module @param {Helpers} helpers */
  constructor(engine, store, module, helpers) {
    this.#engine = engine;
    this.#store = store;
    this.#module = module;
    this.#helpers = helpers;
    store?.onCleared(() => this.#deleted.abort());
  }

  /** @param {{ clips: Clip[] } & TrainingOptions & Shown} args @param {Context} context @returns {Promise<Trained>} */
  clone({ clips, consent: given, iterations, seed, precision, rehearsal, preview, pictures = false }, context) {
    return this.#owning(context, async (context) => {
      this.#notStored = false;
      const consent = await consentOf(given);
      const before = await this.#tried(() => this.#store?.get("run", "begun"), context);
      // Stored before the alignment: should that crash, this training must not resume from the checkpoint of the last one.
      const run = this.#store ? await hashOf({ clips, consent }) : "";
      await this.#tried(() => this.#store?.put("run", "begun", { clips: run }), context);
      let tuner;
      try {
        await this.#begin(preview, context);
        tuner = await this.#engine.tuner(clips, iterations, seed, precision, rehearsal, []);
        await breathe();
        check(context.signal);
      } catch (error) {
        tuner?.free();
        // The clips were rejected: the last training can still be resumed.
        if (before && !this.#deleted.signal.aborted) await this.#tried(() => this.#store?.put("run", "begun", before), context);
        else if (!this.#notStored) await this.#discard();
        throw error;
      }
      await this.#tried(() => this.#removeProgress(), context); // the last voice stays until this one is finished
      await this.#put("clips", { clips, consent }, run, context);
      return this.#train(tuner, consent, run, pictures, context);
    });
  }

  /** Resumes from the stored checkpoint. @param {Shown} args @param {Context} context @returns {Promise<Trained>} */
  resume({ preview, pictures = false }, context) {
    return this.#owning(context, async (context) => {
      const checkpoint = await this.#checkpoint();
      const stored = checkpoint && (await this.#store?.get("run", "clips"));
      if (!stored || (await hashOf(stored)) !== checkpoint.clips) throw new OwnvoiceError("nothing-stored", "no training is stored");
      this.#notStored = false;
      await this.#begin(preview, context);
      return this.#train(await this.#engine.resume(stored.clips, checkpoint.bytes), stored.consent, checkpoint.clips, pictures, context);
    });
  }

  /** The stored checkpoint and voice, and voices of other bases. */
  async stored() {
    const checkpoint = await this.#checkpoint();
    const voice = (await this.#store?.get("run", "voice"))?.bytes ?? null;
    const others = [];
    for (const key of (await this.#store?.keys("run")) ?? []) {
      if (key.startsWith(OTHER)) others.push((await this.#store?.get("run", key))?.bytes);
    }
    const opens = voice !== null && this.#opens(voice);
    if (voice !== null && !opens) others.push(voice);
    return {
      checkpoint: checkpoint ? { iteration: checkpoint.iteration, iterations: checkpoint.iterations } : null,
      voice: opens ? voice : null,
      others: others.filter((bytes) => bytes !== undefined),
    };
  }

  /** @param {TrainingControls} change */
  updateTraining(change) {
    Object.assign(this.#controls, change);
  }

  /** The stored one, unless it belongs to another training than the last that was begun. */
  async #checkpoint() {
    const [begun, checkpoint] = await Promise.all([this.#store?.get("run", "begun"), this.#store?.get("run", "checkpoint")]);
    return checkpoint && checkpoint.clips === begun?.clips ? checkpoint : null;
  }

  /** @param {Uint8Array} bytes A voice file. */
  #opens(bytes) {
    try {
      this.#engine.open(bytes).free();
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Runs `work` while this worker owns the stored training: clips of one tab must not meet weights of another.
   * @param {Context} context @param {(context: Context) => Promise<Trained>} work
   */
  async #owning(context, work) {
    if (!this.#store) return work(context);
    let owned = false;
    const train = () => {
      owned = true;
      this.#deleted = new AbortController();
      return work({ ...context, signal: either(context.signal, this.#deleted.signal) });
    };
    try {
      return await navigator.locks.request(`ownvoice-training-${this.#store.name}`, { signal: either(context.signal, AbortSignal.timeout(OWNER_WAIT_MS)) }, train);
    } catch (error) {
      if (owned) throw error;
      check(context.signal);
      throw new OwnvoiceError("training-elsewhere", "another training is running, here or in another tab; one at a time is stored");
    }
  }

  /** @param {string | undefined} preview @param {Context} context */
  async #begin(preview, { signal, progress }) {
    this.#controls = { paused: false, preview: preview ?? null };
    progress({ status: "aligning" });
    await breathe();
    check(signal);
  }

  /**
   * The worker answers other calls between two iterations.
   * @param {Tuner} tuner @param {StoredConsent | null} consent @param {string} run Hash of its clips. @param {boolean} pictures @param {Context} context
   * @returns {Promise<Trained>}
   */
  async #train(tuner, consent, run, pictures, context) {
    const { signal, stopSignal, progress } = context;
    const show = async (/** @type {number} */ iteration) => pictures && progress({ status: "picture", iteration, picture: await tuner.picture() });
    const helpers = this.#helpers;
    try {
      await helpers.join(this.#module, tuner);
      await show(tuner.iteration);
      for (;;) {
        const sharing = helpers.sharing(tuner);
        const begun = sharing ? await helpers.begin(tuner) : null;
        const step = await tuner.step(sharing, begun && begun.helped);
        progress({ status: "training", ...step });
        await breathe();
        while (this.#controls.paused && !signal.aborted && !stopSignal.aborted) await new Promise((resolve) => setTimeout(resolve, 50));
        check(signal);
        const { iteration, iterations } = step;
        const ends = step.stop || stopSignal.aborted;
        if (ends || iteration % CHECKPOINT_ITERATIONS === 0) await show(iteration);
        if (ends) break;
        if (iteration % CHECKPOINT_ITERATIONS !== 0) continue;
        if (this.#store && !this.#notStored) await this.#put("checkpoint", { bytes: await tuner.checkpoint(), clips: run, iteration, iterations }, run, context);
        const text = this.#controls.preview;
        if (text) progress({ status: "preview", iteration, text, speech: await speakPreview(tuner, text, signal) });
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
      check(signal);
      await this.#setAside(context);
      // Without a stored voice the last checkpoint stays.
      if (await this.#put("voice", { bytes }, run, context)) await this.#discard();
      return { voice, bytes };
    } catch (error) {
      voice.free();
      if (signal.aborted) await this.#discard();
      throw error;
    }
  }

  /** Moves a stored voice of another base out of the way. @param {Context} context */
  async #setAside(context) {
    const voice = await this.#tried(() => this.#store?.get("run", "voice"), context);
    if (!voice || this.#opens(voice.bytes)) return;
    const id = await idOf(voice.bytes);
    await this.#tried(() => this.#store?.put("run", `${OTHER}${id}`, voice), context);
  }

  /**
   * Stores a part of a training. If the storage has been cleared meanwhile, the training ends.
   * @param {string} key @param {unknown} value @param {string} run @param {Context} context
   */
  async #put(key, value, run, context) {
    const stored = await this.#tried(() => this.#store?.put("run", key, value, async (read) => (await read("run", "begun"))?.clips === run), context);
    if (stored !== false) return stored;
    this.#deleted.abort();
    check(this.#deleted.signal);
  }

  /**
   * Uses the storage. A failure is reported once and does not end the training, which needs no storage.
   * @template T @param {() => Promise<T> | undefined} use @param {Context} context @returns {Promise<T | undefined>}
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

  /** The checkpoint first: it is useless without its clips. */
  async #removeProgress() {
    await this.#store?.remove("run", "checkpoint");
    await this.#store?.remove("run", "clips");
  }

  /** Where it fails, the next visit offers to resume a training that has ended: nothing is lost. */
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
    return await voice.say(text, {}, each({ signal, progress() {} }));
  } finally {
    voice.free();
  }
}

/** The consent as the voice file has it. @param {Consent | undefined} given @returns {Promise<StoredConsent | null>} */
async function consentOf(given) {
  if (!given) return null;
  const { text, recording } = given;
  if (!recording) return { text };
  const wav = await wavBlob(recording.samples, recording.sampleRate).arrayBuffer();
  return { text, recordingSha256: await sha256(wav) };
}

/** Identifies a training by its data. @param {{ clips: Clip[], consent: StoredConsent | null }} data */
const hashOf = async ({ clips, consent }) => sha256(await serialize({ clips, consent }));
