// The worker of the page of lips: owner of its WebAssembly. Each method answers one call of the page.

import { compile } from "../js/base.js";
import { BaseCache, get, verified } from "../js/download.js";
import { OwnvoiceError, check } from "../js/errors.js";
import { Transfer, breathe, serve } from "../js/rpc.js";
import init, { LipFilm, LipLessons, LipReader, LipVoice } from "./pkg/ownvoice_web_lips.js";

/** @import { Promised } from "../js/download.js" */
/** @import { Context } from "../js/rpc.js" */
/** @import { Picture } from "./pictures.js" */

/** @type {LipReader} */
let reader;
/** What is to be spoken. @type {LipFilm} */
let film;
/** What is to be learned from, as long as it is read. @type {LipFilm | null} */
let lesson = null;
/** @type {LipLessons} */
let lessons;
/** What was learned. @type {LipVoice | null} */
let own = null;

/** @param {LipVoice | null} voice */
function adopt(voice) {
  own?.free();
  own = voice;
}

/** The part of a manifest that is read here. @param {string} text @returns {{ weights: Promised, vocoder?: Promised }} */
function files(text) {
  try {
    const { weights, vocoder } = JSON.parse(text).files;
    for (const { path, bytes, sha256 } of vocoder ? [weights, vocoder] : [weights]) {
      if (typeof path !== "string" || typeof bytes !== "number" || typeof sha256 !== "string") throw new Error("a file lacks path, bytes or sha256");
    }
    return { weights, vocoder };
  } catch (error) {
    throw new OwnvoiceError("base-corrupt", `the manifest cannot be read: ${/** @type {Error} */ (error).message}`);
  }
}

serve({
  /** Returns the names of the voices, and how many windows are the least to learn from. @param {{ base: string, wasmUrl: string }} args Folder and address. @param {Context} context */
  async load({ base, wasmUrl }, { signal, progress }) {
    const manifest = await (await get(new URL("manifest.json", base), signal)).text();
    const { weights, vocoder } = files(manifest);
    const cache = await BaseCache.open(base);
    const totalBytes = weights.bytes + (vocoder?.bytes ?? 0);
    const loaded = new Map();
    /** @param {Promised} file */
    const fetched = (file) =>
      verified(base, file, cache, signal, (bytes) => {
        loaded.set(file, bytes);
        progress({ status: "fetching", what: "base", loadedBytes: [...loaded.values()].reduce((a, b) => a + b, 0), totalBytes });
      });
    const [module, weightBytes, vocoderBytes] = await Promise.all([
      compile(wasmUrl, signal, (loadedBytes) => progress({ status: "fetching", what: "program", loadedBytes })),
      fetched(weights),
      vocoder && fetched(vocoder),
    ]);
    await cache?.tidy([weights, ...(vocoder ? [vocoder] : [])].map(({ sha256 }) => sha256)).catch(() => false);
    progress({ status: "starting" });
    await init({ module_or_path: module });
    reader = new LipReader(manifest, weightBytes, vocoderBytes);
    film = new LipFilm();
    lessons = new LipLessons();
    return { speakers: reader.speakers, leastWindows: lessons.leastWindows };
  },

  /** Begins another video to be spoken. */
  clear() {
    film.free();
    film = new LipFilm();
  },

  /** @param {Picture} picture */
  look: ({ width, height, rgba }) => film.look(width, height, new Uint8Array(rgba.buffer)),

  /** In one of the base's voices, or in one's own where none is named. @param {{ speaker: string }} args */
  async speak({ speaker }) {
    const speech = await (own && !speaker ? reader.speakAs(film, own) : reader.speak(film, speaker));
    return new Transfer(speech, [speech.samples.buffer]);
  },

  /** @param {Picture} picture Of a video to be learned from. */
  lookToLearn({ width, height, rgba }) {
    lesson ??= new LipFilm();
    return lesson.look(width, height, new Uint8Array(rgba.buffer));
  },

  /** Ends the video to be learned from, which is kept encoded alone. @param {{ samples: Float32Array, sampleRate: number } | null} sound None where it was given up. */
  take(sound) {
    const seen = lesson ?? new LipFilm();
    lesson = null;
    try {
      return sound && lessons.take(reader, seen, sound.samples, sound.sampleRate);
    } finally {
      seen.free();
    }
  },

  /** @param {{ ids: number[] }} args */
  removeTakes: ({ ids }) => ids.forEach((id) => lessons.remove(id)),

  /** Learns from all takes; stopped early, the best so far is kept. @param {{ iterations?: number }} args @param {Context} context */
  async tune({ iterations }, { signal, stopSignal, progress }) {
    const tuner = await lessons.tuner(reader, iterations);
    try {
      progress({ status: "begun", before: tuner.before });
      for (let stop = null; !stop && !stopSignal.aborted; ) {
        const step = await tuner.step();
        ({ stop } = step);
        progress({ status: "step", ...step });
        await breathe();
        check(signal);
      }
    } catch (error) {
      tuner.free();
      throw error;
    }
    adopt(await tuner.finish());
    return learned();
  },

  /** @param {{ bytes: Uint8Array }} args */
  open({ bytes }) {
    adopt(LipVoice.open(reader, bytes));
    return learned();
  },

  /** Forgets what was learned, and from what. */
  forget() {
    adopt(null);
    lessons.free();
    lessons = new LipLessons();
  },
});

async function learned() {
  const voice = /** @type {LipVoice} */ (own);
  const bytes = await voice.save(reader);
  return new Transfer({ tuning: voice.tuning, bytes }, [bytes.buffer]);
}
