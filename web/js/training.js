// A training: run to its end, early end or cancellation, steered meanwhile, and kept, so that a closed tab costs little of it.

import { sha256 } from "./download.js";
import { OwnvoiceError, breathe, check, describe } from "./rpc.js";
import { each } from "./voices.js";
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

// A closed tab loses at most this much training; as often, a preview is spoken.
const CHECKPOINT_ITERATIONS = 25;

export class Trainer {
  #engine;
  #store;
  #module;
  #helpers;
  /** @type {Steering} */
  #steering = { paused: false, preview: null };
  /** Whether there was no room for the training under way: half of one is of no use. */
  #unkept = false;

  /** @param {Engine} engine @param {Store | null} store @param {WebAssembly.Module} module @param {Helpers} helpers */
  constructor(engine, store, module, helpers) {
    this.#engine = engine;
    this.#store = store;
    this.#module = module;
    this.#helpers = helpers;
  }

  /** @param {{ clips: Clip[], consent?: Spoken, iterations?: number, seed?: number, precision?: string, rehearsal?: number, preview?: string, pictures?: boolean }} args
   * @param {Context} context @returns {Promise<Learned>} */
  async clone({ clips, consent: given, iterations, seed, precision, rehearsal, preview, pictures = false }, context) {
    await this.#begin(preview, context);
    const consent = await consentOf(given);
    const tuner = await this.#engine.tuner(clips, iterations, seed, precision, rehearsal);
    await this.#forget(); // the voice of the last one stays until this one's is there
    await this.#keep("clips", { clips, consent }, context);
    return this.#train(tuner, consent, pictures, context);
  }

  /** Goes on from the last checkpoint that was kept. @param {{ preview?: string, pictures?: boolean }} args @param {Context} context @returns {Promise<Learned>} */
  async resume({ preview, pictures = false }, context) {
    const [kept, checkpoint] = await Promise.all([this.#store?.get("run", "clips"), this.#store?.get("run", "checkpoint")]);
    if (!kept || !checkpoint) throw new OwnvoiceError("nothing-kept", "no training is kept to go on with");
    await this.#begin(preview, context);
    return this.#train(await this.#engine.resume(kept.clips, checkpoint.bytes), kept.consent, pictures, context);
  }

  /** Changes a training under way. @param {Partial<Steering>} change */
  steer(change) {
    Object.assign(this.#steering, change);
  }

  /** @param {string | undefined} preview @param {Context} context */
  async #begin(preview, { signal, progress }) {
    this.#steering = { paused: false, preview: preview ?? null };
    this.#unkept = false;
    progress({ status: "aligning" });
    await breathe();
    check(signal);
  }

  /** The worker answers other calls between two iterations. @param {Tuner} tuner @param {Consent | null} consent @param {boolean} pictures @param {Context} context */
  async #train(tuner, consent, pictures, context) {
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
        if (this.#store && !this.#unkept) await this.#keep("checkpoint", { bytes: await tuner.checkpoint(), iteration, iterations }, context);
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
    if (consent) voice.setConsent(consent.text, consent.recordingSha256);
    const bytes = /** @type {Uint8Array<ArrayBuffer>} */ (await voice.save());
    await this.#keep("voice", { bytes }, context);
    await this.#forget();
    return { voice, bytes };
  }

  /**
   * Keeps a part of a training, if there is room. A full disk is told, once, and ends nothing: the training itself needs no disk.
   * @param {string} key @param {unknown} value @param {Context} context
   */
  async #keep(key, value, { progress }) {
    if (!this.#store || this.#unkept) return;
    try {
      await this.#store.put("run", key, value);
    } catch (error) {
      this.#unkept = true;
      const { code, message } = describe(error);
      progress({ status: "not-kept", code, message });
    }
  }

  /** Its checkpoint first: without its clips it would be of no use. */
  async #forget() {
    await this.#store?.remove("run", "checkpoint");
    await this.#store?.remove("run", "clips");
  }
}

/** The voice as it stands speaks, and the training goes on. @param {Tuner} tuner @param {string} text @param {AbortSignal} signal */
async function speakPreview(tuner, text, signal) {
  const voice = tuner.preview();
  try {
    return await voice.say(text, undefined, each({ signal, progress() {} }));
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
