// Speech, and how it is asked for.

import { wavBlob } from "./wav.js";
import { placed } from "./words.js";

/** @import { SpokenWord, TimedWord } from "./words.js" */

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
 * @property {AbortSignal} [signal] Ends the call with its reason, by default `cancelled`.
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
 * A reason why a text may not be spoken as it is meant. It is spoken nevertheless.
 * @typedef {object} TextWarning
 * @property {"text-language" | "text-unspoken"} code The text seems to be of another language, or contains letters that are left out.
 * @property {string} message
 * @property {string} detail The language by its English name, or the letters.
 */
/** Speech as the worker sends it. @typedef {Pick<Speech, "samples" | "sampleRate" | "mel" | "durations" | "symbols" | "stop"> & { words: TimedWord[] }} PlainSpeech */
/**
 * Similarity to the speaker, 0 to 1: the overlap of the distributions of cepstra and pitch. It is not a listener's judgement.
 * @typedef {object} Similarity
 * @property {number} base Similarity of the base voice: the lower anchor.
 * @property {number} clone Similarity of this voice.
 * @property {number} sameSpeaker Similarity of the speaker's own recordings to each other: the upper anchor.
 */
/**
 * Where a voice comes from.
 * @typedef {object} VoiceInfo
 * @property {string} id The first 16 digits of its file's SHA-256.
 * @property {boolean} adapted False for the base itself.
 * @property {boolean} hasPitch Whether `pitch` and `liveliness` can be changed.
 * @property {number} iterations Iterations of its training.
 * @property {number} seconds Seconds of speech that it was trained on.
 * @property {{ text: string, recordingSha256: string | null } | null} consent The speaker's consent.
 */

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
   * @param {PlainSpeech & { warnings?: TextWarning[] }} spoken @param {string} voice @param {string} text
   */
  constructor({ samples, sampleRate, mel, durations, symbols, words, stop, warnings = [] }, voice, text) {
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
    /** The words with their times. @type {SpokenWord[]} */
    this.words = placed(text, words);
    /** Why the speech ended: all of the text is spoken, or a single word exceeds the longest sentence and is cut short. @type {"durations" | "max-frames"} */
    this.stop = stop;
    /** Why the text may not be spoken as it is meant; in a stream, those of the whole text. @type {TextWarning[]} */
    this.warnings = warnings;
    /** Seconds of silence to leave after the speech, in a stream. @type {number} */
    this.pauseSeconds = 0;
    /** Id of the voice; empty for a preview during training. @type {string} */
    this.voice = voice;
  }

  /**
   * Joins the speeches of a stream, with their pauses.
   *
   * @param {Speech[]} speeches At least one, of one voice.
   * @returns {Speech}
   */
  static join(speeches) {
    const [{ sampleRate, mel, voice, warnings }] = speeches;
    const last = speeches.length - 1;
    const silences = speeches.map(({ pauseSeconds }, index) => (index < last ? pauseSeconds : 0));
    const quietest = speeches.reduce((least, { mel }) => mel.data.reduce((a, b) => Math.min(a, b), least), 0);
    const samples = joined(speeches.map(({ samples }) => samples), silences.map((seconds) => Math.round(seconds * sampleRate)), 0);
    const data = joined(speeches.map(({ mel }) => mel.data), silences.map((seconds) => Math.round(seconds / mel.frameSeconds) * mel.mels), quietest);
    const durations = Uint32Array.from(speeches.flatMap(({ durations }) => [...durations]));
    const { stop } = speeches.find(({ stop }) => stop !== "durations") ?? speeches[last];
    const symbols = speeches.flatMap(({ symbols }) => symbols);
    let from = 0;
    const words = speeches.flatMap(({ words, samples }, index) => {
      const begun = from;
      from += samples.length / sampleRate + silences[index];
      return words.map(({ text, begin, end }) => ({ text, begin: begun + begin, end: begun + end }));
    });
    return new Speech({ samples, sampleRate, mel: { ...mel, data }, durations, symbols, words, stop, warnings }, voice, speeches.map(({ text }) => text).join(" "));
  }

  /** Returns the sound for the Web Audio API. @param {BaseAudioContext} context @returns {AudioBuffer} */
  toAudioBuffer(context) {
    const buffer = context.createBuffer(1, this.samples.length, this.sampleRate);
    buffer.getChannelData(0).set(this.samples);
    return buffer;
  }

  /** Returns a WAV file, marked as synthetic and with the id of its voice. @returns {Blob} */
  toBlob() {
    return wavBlob(this.samples, this.sampleRate, originOf(this.voice));
  }
}

/** Returns the marks of synthetic speech. @param {string} voice Id of the voice; empty for one in training. */
export const originOf = (voice) => ({ ISFT: "ownvoice", ICMT: `Synthetic speech, made by ownvoice with ${voice ? `voice ${voice}` : "a voice in training"}` });

/** Concatenates arrays, each followed by a gap filled with `filler`. @param {Float32Array[]} parts @param {number[]} gaps @param {number} filler */
function joined(parts, gaps, filler) {
  const whole = new Float32Array(parts.reduce((sum, { length }, index) => sum + length + gaps[index], 0)).fill(filler);
  let offset = 0;
  parts.forEach((part, index) => {
    whole.set(part, offset);
    offset += part.length + gaps[index];
  });
  return whole;
}
