// A voice, and the speech that it makes.

import { check } from "./errors.js";
import { either } from "./rpc.js";
import { wavBlob } from "./wav.js";

/** @import { Remote } from "./rpc.js" */
/** @import { Clip } from "./clip.js" */

/**
 * A sentence is about to be spoken.
 * @typedef {object} SayProgress
 * @property {"speaking"} status
 * @property {number} sentence From 1.
 * @property {number} sentences
 */
/**
 * How a text is spoken.
 * @typedef {object} Delivery
 * @property {number} [speed] Relative to the voice's own, 0.25 to 4.
 * @property {number} [pitch] Semitones above the voice's own, -12 to 12.
 * @property {number} [liveliness] Pitch range relative to the voice's own: 0 is monotone, 3 the most.
 * @property {number} [seed] The same seed gives the same speech.
 */
/**
 * Options of `voice.stream` beside the delivery.
 * @typedef {object} Cancellable
 * @property {AbortSignal} [signal] Ends it with `cancelled`.
 */
/**
 * Options of `voice.say` and `voice.similarity` beside the delivery.
 * @typedef {object} Watched
 * @property {(progress: SayProgress) => void} [onProgress] Called before each sentence.
 */
/** @typedef {Delivery & Cancellable & Watched} SayOptions */
/** @typedef {Delivery & Cancellable} StreamOptions */
/**
 * A mel spectrogram.
 * @typedef {object} Mel
 * @property {number} mels Channels (M).
 * @property {number} frameSeconds Duration of a frame.
 * @property {Float32Array} data Natural logarithms of the amplitudes, frame after frame: `[T, M]`.
 */
/**
 * A reason why a text may not be spoken as it is meant. It is spoken all the same.
 * @typedef {object} TextWarning
 * @property {"text-language" | "text-unspoken"} code The text seems to be of another language, or contains letters that are left out.
 * @property {string} message
 * @property {string} detail The language by its English name, or the letters.
 */
/**
 * Similarity to the speaker, 0 to 1: overlap of the distributions of cepstra and pitch. Not a listener's judgement.
 * @typedef {object} Similarity
 * @property {number} base Of the base voice: the lower anchor.
 * @property {number} clone Of this voice.
 * @property {number} sameSpeaker Of the speaker's own recordings among each other: the upper anchor.
 */
/**
 * Where a voice comes from.
 * @typedef {object} VoiceInfo
 * @property {string} id The first 16 digits of its file's SHA-256.
 * @property {boolean} adapted False for the base itself.
 * @property {boolean} hasPitch Whether `pitch` and `liveliness` can be changed.
 * @property {number} iterations Of its training.
 * @property {number} seconds Of speech that it was trained on.
 * @property {{ text: string, recordingSha256: string | null } | null} consent The speaker's consent.
 */

/** Frees a voice in the worker once the page has no reference to it. */
const dropped = new FinalizationRegistry((/** @type {() => void} */ release) => release());

/**
 * A voice, which the worker holds.
 *
 * @example
 * const studio = await load({ base: "/models/base/" });
 * const voice = await studio.clone(clips, { iterations: 50 });
 * for await (const speech of voice.stream("The first sentence plays at once. The second is made meanwhile.")) {
 *   console.log(speech.text, speech.samples.length / speech.sampleRate);
 * }
 * const file = await voice.save(); // a Blob
 * const again = await studio.open(file);
 * console.log(again.info.iterations);
 */
export class Voice {
  #remote;
  #handle;

  /**
   * @internal
   * @param {Remote} remote @param {{ handle: number, info: VoiceInfo }} held
   */
  constructor(remote, { handle, info }) {
    this.#remote = remote;
    this.#handle = handle;
    /** Where the voice comes from. @type {VoiceInfo} */
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
  async say(text, { signal, onProgress, ...delivery } = {}) {
    const spoken = await this.#remote.call("say", { voice: this.#handle, text, delivery }, { signal, onProgress });
    return new Speech(spoken, this.info.id, text);
  }

  /**
   * Speaks a text sentence by sentence: yields each as soon as it is made, while the next is being made. A long first sentence is cut after its first clause,
   * so that sound comes soon. Leave `speech.pauseSeconds` of silence after each.
   *
   * However the loop ends (its end, `break`, an error, the signal), the work in the worker ends with it.
   *
   * @param {string} text
   * @param {StreamOptions} [options]
   * @returns {AsyncGenerator<Speech, void, undefined>}
   */
  async *stream(text, { signal, ...delivery } = {}) {
    const left = new AbortController();
    const ended = signal ? either(signal, left.signal) : left.signal;
    /** @type {{ parts: { text: string, pauseSeconds: number }[], warnings: TextWarning[] }} */
    const { parts, warnings } = await this.#remote.call("parts", { text }, { signal: ended });
    const made = (/** @type {number} */ index) => {
      const { text, pauseSeconds } = parts[index];
      const speech = this.say(text, { ...delivery, signal: ended }).then((speech) => Object.assign(speech, { pauseSeconds, warnings }));
      speech.catch(() => {}); // handled where it is awaited; ignored once the loop has ended
      return speech;
    };
    try {
      let next = made(0);
      for (let index = 0; index < parts.length; index++) {
        const speech = await next;
        if (index + 1 < parts.length) next = made(index + 1);
        check(signal);
        yield speech;
      }
    } finally {
      left.abort();
    }
  }

  /**
   * Measures the similarity to the speaker of these recordings, by speaking some of their texts with this voice and with the base.
   *
   * @param {Clip[]} clips At least two; the figures are stable from twenty seconds of speech.
   * @param {Cancellable & Watched} [options]
   * @returns {Promise<Similarity>}
   */
  similarity(clips, { signal, onProgress } = {}) {
    const plain = clips.map(({ samples, sampleRate, text }) => ({ samples, sampleRate, text }));
    return this.#remote.call("similarity", { voice: this.#handle, clips: plain }, { signal, onProgress });
  }

  /** Frees the voice now, instead of at garbage collection. @returns {Promise<void>} */
  close() {
    return release(this.#remote, this.#handle);
  }

  /** The voice as a file, for `studio.open` and the command line. @param {Cancellable} [options] @returns {Promise<Blob>} */
  async save({ signal } = {}) {
    return new Blob([await this.#remote.call("save", { voice: this.#handle }, { signal })], { type: "application/octet-stream" });
  }
}

/** @param {Remote} remote @param {number} handle @returns {Promise<void>} */
const release = (remote, handle) => remote.call("release", { voice: handle }).catch(() => {}); // a closed studio has freed it

/**
 * Synthetic speech.
 *
 * @example
 * const studio = await load({ base: "/models/base/" });
 * const speech = await studio.base.say("Anything at all.");
 * console.log(speech.samples.length / speech.sampleRate, "seconds,", speech.mel.data.length / speech.mel.mels, "frames");
 * const address = URL.createObjectURL(speech.toBlob()); // a WAV file, for <audio src> or a download
 */
export class Speech {
  /**
   * @internal
   * @param {Pick<Speech, "samples" | "sampleRate" | "mel" | "durations" | "symbols" | "stop"> & { warnings?: TextWarning[] }} spoken @param {string} voice @param {string} text
   */
  constructor({ samples, sampleRate, mel, durations, symbols, stop, warnings = [] }, voice, text) {
    /** The text that is spoken. @type {string} */
    this.text = text;
    /** Mono, from -1 to 1. @type {Float32Array} */
    this.samples = samples;
    /** Hz @type {number} */
    this.sampleRate = sampleRate;
    /** The spectrogram before the vocoder. @type {Mel} */
    this.mel = mel;
    /** Frames of each symbol. @type {Uint32Array} */
    this.durations = durations;
    /** Names of the symbols. @type {string[]} */
    this.symbols = symbols;
    /** Why it ended: all of the text is spoken, or a single word exceeds the longest sentence and is cut short. @type {"durations" | "max-frames"} */
    this.stop = stop;
    /** Why the text may not be spoken as it is meant; in a stream, those of the whole text. @type {TextWarning[]} */
    this.warnings = warnings;
    /** Silence to leave after it, in a stream. @type {number} */
    this.pauseSeconds = 0;
    /** Id of the voice; empty for a preview during training. @type {string} */
    this.voice = voice;
  }

  /**
   * Joins the pieces of a stream, with their pauses.
   *
   * @param {Speech[]} speeches At least one, of one voice.
   * @returns {Speech}
   */
  static join(speeches) {
    const [{ sampleRate, mel, voice, warnings }] = speeches;
    const last = speeches.length - 1;
    const silences = speeches.map(({ pauseSeconds }, index) => (index < last ? pauseSeconds : 0));
    const quiet = speeches.reduce((least, { mel }) => mel.data.reduce((a, b) => Math.min(a, b), least), 0);
    const samples = joined(speeches.map(({ samples }) => samples), silences.map((seconds) => Math.round(seconds * sampleRate)), 0);
    const data = joined(speeches.map(({ mel }) => mel.data), silences.map((seconds) => Math.round(seconds / mel.frameSeconds) * mel.mels), quiet);
    const durations = Uint32Array.from(speeches.flatMap(({ durations }) => [...durations]));
    const { stop } = speeches.find(({ stop }) => stop !== "durations") ?? speeches[last];
    const symbols = speeches.flatMap(({ symbols }) => symbols);
    return new Speech({ samples, sampleRate, mel: { ...mel, data }, durations, symbols, stop, warnings }, voice, speeches.map(({ text }) => text).join(" "));
  }

  /** A WAV file, marked as synthetic and with the id of its voice. @returns {Blob} */
  toBlob() {
    const voice = this.voice ? `voice ${this.voice}` : "a voice in training";
    return wavBlob(this.samples, this.sampleRate, { ISFT: "ownvoice", ICMT: `Synthetic speech, made by ownvoice with ${voice}` });
  }
}

/** Concatenates arrays, each followed by its gap of `filler`. @param {Float32Array[]} parts @param {number[]} gaps @param {number} filler */
function joined(parts, gaps, filler) {
  const whole = new Float32Array(parts.reduce((sum, { length }, index) => sum + length + gaps[index], 0)).fill(filler);
  let at = 0;
  parts.forEach((part, index) => {
    whole.set(part, at);
    at += part.length + gaps[index];
  });
  return whole;
}
