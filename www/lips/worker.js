// The worker of the page of lips, which owns its WebAssembly. Each method answers one call of the page.

import { compile, fetchBase, fetchManifest, inFolder } from "../js/download.js";
import { Transfer, serve, yieldToMessages } from "../js/rpc.js";
import init, { LipFilm, LipLessons, LipReader, LipVoice } from "./pkg/ownvoice_web_lips.js";

/** @import { Context } from "../js/rpc.js" */
/** @import { Picture } from "./pictures.js" */

/** @type {LipReader} */
let reader;
/** The video to be spoken. @type {LipFilm} */
let film;
/** The pictures of the take that is being read. @type {LipFilm | null} */
let takeFilm = null;
/** The takes. @type {LipLessons} */
let lessons;
/** The learned voice. @type {LipVoice | null} */
let own = null;

/** Replaces the learned voice. @param {LipVoice | null} voice */
function adopt(voice) {
  own?.free();
  own = voice;
}

const methods = {
  /** Returns the names of the voices, and the least number of windows that can be learned from. @param {{ base: string, wasmUrl: string }} args Folder of the model, address of the program. @param {Context} context */
  async load({ base, wasmUrl }, { signal, progress }) {
    const files = inFolder(base);
    const manifest = await fetchManifest(files, signal);
    const [module, { parts, cached }] = await Promise.all([
      compile(wasmUrl, signal, (loadedBytes) => progress({ status: "fetching", what: "program", loadedBytes })),
      fetchBase(files, manifest, ["weights"], true, [], signal, (loadedBytes, totalBytes) => progress({ status: "fetching", what: "base", loadedBytes, totalBytes })),
    ]);
    await cached;
    progress({ status: "starting" });
    await init({ module_or_path: module });
    reader = new LipReader(manifest, parts.weights, parts.vocoder);
    film = new LipFilm();
    lessons = new LipLessons();
    return { speakers: reader.speakers, leastWindows: lessons.leastWindows };
  },

  /** Begins another video to be spoken. */
  clear() {
    film.free();
    film = new LipFilm();
  },

  /** Adds a picture to the video to be spoken, and returns the faces in it. @param {Picture} picture */
  addPicture: ({ width, height, rgba }) => film.look(width, height, new Uint8Array(rgba.buffer)),

  /** Speaks the video in a voice of the base, or in the learned one where no speaker is named. @param {{ speaker: string }} args */
  async speak({ speaker }) {
    const speech = await (own && !speaker ? reader.speakAs(film, own) : reader.speak(film, speaker));
    return new Transfer(speech, [speech.samples.buffer]);
  },

  /** Adds a picture to a take. @param {Picture} picture */
  addTrainingPicture({ width, height, rgba }) {
    takeFilm ??= new LipFilm();
    return takeFilm.look(width, height, new Uint8Array(rgba.buffer));
  },

  /** Encodes the pictures of a take with their sound, and drops them. @param {{ samples: Float32Array, sampleRate: number }} sound */
  addTake({ samples, sampleRate }) {
    const film = takeFilm ?? new LipFilm();
    takeFilm = null;
    try {
      return lessons.take(reader, film, samples, sampleRate);
    } finally {
      film.free();
    }
  },

  /** Drops the pictures of a take that was given up. */
  dropPictures() {
    takeFilm?.free();
    takeFilm = null;
  },

  /** @param {{ ids: number[] }} args */
  removeTakes: ({ ids }) => ids.forEach((id) => lessons.remove(id)),

  /** Trains on all takes; where it is stopped early, the best voice so far is kept. @param {{ iterations?: number }} args @param {Context} context */
  async train({ iterations }, { signal, stopSignal, progress }) {
    const tuner = await lessons.tuner(reader, iterations);
    try {
      progress({ status: "begun", before: tuner.before });
      for (let stop = null; !stop && !stopSignal.aborted; ) {
        const step = await tuner.step();
        ({ stop } = step);
        progress({ status: "step", ...step });
        await yieldToMessages(signal);
      }
    } catch (error) {
      tuner.free();
      throw error;
    }
    adopt(await tuner.finish());
    return learnedVoice();
  },

  /** @param {{ bytes: Uint8Array }} args */
  open({ bytes }) {
    adopt(LipVoice.open(reader, bytes));
    return learnedVoice();
  },

  /** Forgets the learned voice and all takes. */
  forget() {
    adopt(null);
    lessons.free();
    lessons = new LipLessons();
  },
};
/** @typedef {typeof methods} LipMethods */

serve(methods);

async function learnedVoice() {
  const voice = /** @type {LipVoice} */ (own);
  const bytes = await voice.save(reader);
  return new Transfer({ tuning: voice.tuning, bytes }, [bytes.buffer]);
}
