// A training: run to its end, early end or cancellation, steered meanwhile, and kept, so that a closed tab costs little of it.

import { sha256 } from "./download.js";
import { pack } from "./pack.js";
import { OwnvoiceError, breathe, check, describe, either } from "./rpc.js";
import { each, idOf } from "./voices.js";
import { wavBlob } from "./wav.js";

/** @import { Engine, Tuner, Voice } from "../pkg/ownvoice_web.js" */
/** @import { Helpers } from "./helpers.js" */
/** @import { Context } from "./rpc.js" */
/** @import { Store } from "./store.js" */
/** @typedef {{ samples: Float32Array, sampleRate: number, text: string }} Clip */
/** @typedef {{ text: string, recording?: Omit<Clip, "text"> }} Spoken A consent as it was given. */
/** @typedef {{ text: string, recordingSha256?: string }} Consent A consent as it is kept. */
/** @typedef {{ paused: boolean, preview: string | null }} Steering What may change while a training runs. */
/** @typedef {{ voice: Voice, bytes: Uint8Array<ArrayBuffer> }} Learned A voice, and its file. */
/** @typedef {{ clips: string }} Begun The training that is kept, by the hash of its clips: what is kept with another hash is another training's. */

// A closed tab loses at most this much training; as often, a preview is spoken.
const CHECKPOINT_ITERATIONS = 25;

// A worker that has ended takes a moment to let go of what it owned; another tab keeps it.
const OWNER_WAIT_MS = 3000;

/** Keys of voices that another base made begin with this. */
const OTHER = "other-";

export class Trainer {
  #engine;
  #store;
  #module;
  #helpers;
  /** @type {Steering} */
  #steering = { paused: false, preview: null };
  /** Whether there was no room for the training under way: half of one is of no use. */
  #unkept = false;
  /** Ends the training that is kept, when what is kept is deleted. */
  #deleted = new AbortController();

  /** @param {Engine} engine @param {Store | null} store @param {WebAssembly.Module} module @param {Helpers} helpers */
  constructor(engine, store, module, helpers) {
    this.#engine = engine;
    this.#store = store;
    this.#module = module;
    this.#helpers = helpers;
    store?.onCleared(() => this.#deleted.abort());
  }

  /** @param {{ clips: Clip[], consent?: Spoken, iterations?: number, seed?: number, precision?: string, rehearsal?: number, preview?: string, pictures?: boolean }} args
   * @param {Context} context @returns {Promise<Learned>} */
  clone({ clips, consent: given, iterations, seed, precision, rehearsal, preview, pictures = false }, context) {
    return this.#owning(context, async (context) => {
      this.#unkept = false;
      const consent = await consentOf(given);
      const before = await this.#store?.get("run", "begun");
      // Noted before the clips are aligned: should that crash, the checkpoint of the last training is none of this one's.
      const run = this.#store ? await hashOf({ clips, consent }) : "";
      await this.#tried(() => this.#store?.put("run", "begun", { clips: run }), context);
      let tuner;
      try {
        await this.#begin(preview, context);
        tuner = await this.#engine.tuner(clips, iterations, seed, precision, rehearsal);
        await breathe();
        check(context.signal);
      } catch (error) {
        tuner?.free();
        // Refused, and so the last training can be gone on with as before.
        if (before && !this.#deleted.signal.aborted) await this.#tried(() => this.#store?.put("run", "begun", before), context);
        else await this.#store?.remove("run", "begun");
        throw error;
      }
      await this.#forgetProgress(); // the voice of the last one stays until this one's is there
      await this.#keep("clips", { clips, consent }, run, context);
      return this.#train(tuner, consent, run, pictures, context);
    });
  }

  /** Goes on from the last checkpoint that was kept. @param {{ preview?: string, pictures?: boolean }} args @param {Context} context @returns {Promise<Learned>} */
  resume({ preview, pictures = false }, context) {
    return this.#owning(context, async (context) => {
      const checkpoint = await this.#checkpoint();
      const kept = checkpoint && (await this.#store?.get("run", "clips"));
      if (!kept || (await hashOf(kept)) !== checkpoint.clips) throw new OwnvoiceError("nothing-kept", "no training is kept to go on with");
      this.#unkept = false;
      await this.#begin(preview, context);
      return this.#train(await this.#engine.resume(kept.clips, checkpoint.bytes), kept.consent, checkpoint.clips, pictures, context);
    });
  }

  /** What is left of the last training: where it stood, or the voice it made; and voices that this base cannot open. */
  async kept() {
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

  /** Changes a training under way. @param {Partial<Steering>} change */
  steer(change) {
    Object.assign(this.#steering, change);
  }

  /** The last one, unless it is another training's than the last that was begun. */
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
   * One training at a time is kept, whichever tab it runs in: clips of one must not meet weights of another.
   * @param {Context} context @param {(context: Context) => Promise<Learned>} work
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
      throw new OwnvoiceError("training-elsewhere", "another training is under way, here or in another tab; one at a time is kept");
    }
  }

  /** @param {string | undefined} preview @param {Context} context */
  async #begin(preview, { signal, progress }) {
    this.#steering = { paused: false, preview: preview ?? null };
    progress({ status: "aligning" });
    await breathe();
    check(signal);
  }

  /** The worker answers other calls between two iterations. @param {Tuner} tuner @param {Consent | null} consent @param {string} run Hash of its clips. @param {boolean} pictures @param {Context} context
   * @returns {Promise<Learned>} */
  async #train(tuner, consent, run, pictures, context) {
    const { signal, stopSignal, progress } = context;
    const show = async (/** @type {number} */ iteration) => pictures && progress({ status: "picture", iteration, picture: await tuner.picture() });
    const helpers = this.#helpers;
    try {
      await helpers.equip(this.#module, tuner);
      await show(tuner.iteration);
      for (;;) {
        const sharing = helpers.sharing(tuner);
        const begun = sharing ? await helpers.begin(tuner) : null;
        const step = await tuner.step(sharing, begun && begun.helped);
        progress({ status: "training", ...step });
        await breathe();
        while (this.#steering.paused && !signal.aborted && !stopSignal.aborted) await new Promise((resolve) => setTimeout(resolve, 50));
        check(signal);
        const { iteration, iterations } = step;
        const ends = step.stop || stopSignal.aborted;
        if (ends || iteration % CHECKPOINT_ITERATIONS === 0) await show(iteration);
        if (ends) break;
        if (iteration % CHECKPOINT_ITERATIONS !== 0) continue;
        if (this.#store && !this.#unkept) await this.#keep("checkpoint", { bytes: await tuner.checkpoint(), clips: run, iteration, iterations }, run, context);
        const text = this.#steering.preview;
        if (text) progress({ status: "preview", iteration, text, speech: await speakPreview(tuner, text, signal) });
      }
    } catch (error) {
      tuner.free();
      if (signal.aborted) await this.#forget();
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
      await this.#keep("voice", { bytes }, run, context);
      await this.#forget();
      return { voice, bytes };
    } catch (error) {
      voice.free();
      if (signal.aborted) await this.#forget();
      throw error;
    }
  }

  /** A voice that this base cannot open is nobody's to overwrite. @param {Context} context */
  async #setAside(context) {
    const kept = await this.#store?.get("run", "voice");
    if (!kept || this.#opens(kept.bytes)) return;
    const id = await idOf(kept.bytes);
    await this.#tried(() => this.#store?.put("run", `${OTHER}${id}`, kept), context);
  }

  /**
   * Keeps a part of a training, unless all that is kept has been deleted meanwhile: that ends the training.
   * @param {string} key @param {unknown} value @param {string} run @param {Context} context
   */
  async #keep(key, value, run, context) {
    const kept = await this.#tried(() => this.#store?.put("run", key, value, async (read) => (await read("run", "begun"))?.clips === run), context);
    if (kept !== false) return;
    this.#deleted.abort();
    check(this.#deleted.signal);
  }

  /**
   * Writes, if there is room. A full disk is told, once, and ends nothing: the training itself needs no disk.
   * @param {() => Promise<boolean> | undefined} write @param {Context} context @returns {Promise<boolean | undefined>}
   */
  async #tried(write, { progress }) {
    if (!this.#store || this.#unkept) return;
    try {
      return await write();
    } catch (error) {
      this.#unkept = true;
      const { code, message } = describe(error);
      progress({ status: "not-kept", code, message });
    }
  }

  /** Its checkpoint first: without its clips it would be of no use. */
  async #forgetProgress() {
    await this.#store?.remove("run", "checkpoint");
    await this.#store?.remove("run", "clips");
  }

  async #forget() {
    await this.#forgetProgress();
    await this.#store?.remove("run", "begun");
  }
}

/** The voice as it stands speaks, and the training goes on. @param {Tuner} tuner @param {string} text @param {AbortSignal} signal */
async function speakPreview(tuner, text, signal) {
  const voice = tuner.preview();
  try {
    return await voice.say(text, {}, each({ signal, progress() {} }));
  } finally {
    voice.free();
  }
}

/** What of a consent goes into the voice file. @param {Spoken | undefined} given @returns {Promise<Consent | null>} */
async function consentOf(given) {
  if (!given) return null;
  const { text, recording } = given;
  if (!recording) return { text };
  const wav = await wavBlob(recording.samples, recording.sampleRate).arrayBuffer();
  return { text, recordingSha256: await sha256(wav) };
}

/** Names a training by what it learns from. @param {{ clips: Clip[], consent: Consent | null }} kept */
const hashOf = async ({ clips, consent }) => sha256(await pack({ clips, consent }));
