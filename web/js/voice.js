// A voice, and what it says.

import { check, either } from "./rpc.js";
import { wavBlob } from "./wav.js";

/** @import { Remote } from "./rpc.js" */
/** @import { Clip } from "./index.js" */

/** @typedef {{ status: "speaking", sentence: number, sentences: number }} SayProgress */
/**
 * How a text is spoken.
 * @typedef {object} Delivery
 * @property {number} [speed] Times the voice's own, 0.25 to 4.
 * @property {number} [pitch] Semitones above the voice's own, -12 to 12.
 * @property {number} [liveliness] Times the voice's own movement of pitch: 0 is monotone, 3 the most.
 * @property {number} [seed] The same seed gives the same speech.
 */
/** @typedef {Delivery & { signal?: AbortSignal, onProgress?: (progress: SayProgress) => void }} SayOptions */
/** @typedef {Delivery & { signal?: AbortSignal }} StreamOptions */
/** @typedef {{ mels: number, frameSeconds: number, data: Float32Array }} Mel Natural-log amplitudes, frame after frame: `[T, M]`. */
/**
 * How near a voice is to its speaker, 0 to 1, between two anchors: the base voice, and the speaker's own other recordings, as near as anything can come.
 * The overlap of the distributions of cepstra and pitch; not a listener's judgement.
 * @typedef {{ base: number, clone: number, sameSpeaker: number }} Similarity
 */
/** @typedef {{ id: string, adapted: boolean, hasPitch: boolean, iterations: number, seconds: number, consent: { text: string, recordingSha256: string | null } | null }} VoiceInfo
 * How a voice was made: iterations, from how many seconds of speech. `hasPitch`: whether pitch and liveliness can be changed. `id` is the beginning of its file's SHA-256. */
/** @typedef {{ samples: Float32Array, sampleRate: number, mel: Mel, durations: Uint32Array, symbols: string[], stop: string }} Spoken What the worker sends. */

/** Frees a voice in the worker when the page has dropped it. */
const dropped = new FinalizationRegistry((/** @type {() => void} */ release) => release());

/**
 * Someone's voice, in the worker.
 *
 * @example
 * const studio = await load({ base: "/models/base/" });
 * const voice = await studio.clone(clips, { iterations: 50 });
 * for await (const speech of voice.stream("The first sentence is heard at once. The second is made meanwhile.")) {
 *   console.log(speech.text, speech.samples.length / speech.sampleRate);
 * }
 * const file = await voice.save(); // a Blob
 * const again = await studio.open(file);
 * console.log(again.info.iterations);
 */
export class Voice {
  #remote;
  #handle;

  /** @param {Remote} remote @param {{ handle: number, info: VoiceInfo }} held */
  constructor(remote, { handle, info }) {
    this.#remote = remote;
    this.#handle = handle;
    /** @type {VoiceInfo} */
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
   * Speaks a text piece by piece, one speech a sentence, each as soon as it is made, while the next is being made. A long first sentence is cut after its
   * first clause, so that sound comes soon. Keep `speech.pauseSeconds` of silence after each.
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
    /** @type {{ text: string, pauseSeconds: number }[]} */
    const parts = await this.#remote.call("parts", { text }, { signal: ended });
    const made = (/** @type {number} */ index) => {
      const { text, pauseSeconds } = parts[index];
      const speech = this.say(text, { ...delivery, signal: ended }).then((speech) => Object.assign(speech, { pauseSeconds }));
      speech.catch(() => {}); // told where it is awaited, or of no interest to who has left
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
   * How near it comes to the speaker of these recordings: it says some of their texts, and so does the base.
   *
   * @param {Clip[]} clips At least two; from twenty seconds of speech on the figures are steady.
   * @param {{ signal?: AbortSignal, onProgress?: (progress: SayProgress) => void }} [options]
   * @returns {Promise<Similarity>}
   */
  similarity(clips, { signal, onProgress } = {}) {
    const plain = clips.map(({ samples, sampleRate, text }) => ({ samples, sampleRate, text }));
    return this.#remote.call("similarity", { voice: this.#handle, clips: plain }, { signal, onProgress });
  }

  /** Frees it at once, instead of when the browser finds that it was dropped. */
  close() {
    return release(this.#remote, this.#handle);
  }

  /** @param {{ signal?: AbortSignal }} [options] @returns {Promise<Blob>} A file that `studio.open` reads, and the command line too. */
  async save({ signal } = {}) {
    return new Blob([await this.#remote.call("save", { voice: this.#handle }, { signal })], { type: "application/octet-stream" });
  }
}

/** @param {Remote} remote @param {number} handle @returns {Promise<void>} */
const release = (remote, handle) => remote.call("release", { voice: handle }).catch(() => {}); // a closed studio has freed it already

/**
 * Something said.
 *
 * @example
 * const studio = await load({ base: "/models/base/" });
 * const speech = await studio.base.say("Anything at all.");
 * console.log(speech.samples.length / speech.sampleRate, "seconds,", speech.mel.data.length / speech.mel.mels, "frames");
 * const address = URL.createObjectURL(speech.toBlob()); // a WAV file, for <audio src> or a download
 */
export class Speech {
  /** @param {Spoken} spoken @param {string} voice @param {string} text */
  constructor({ samples, sampleRate, mel, durations, symbols, stop }, voice, text) {
    /** What is said. */
    this.text = text;
    /** Mono, -1 to 1. */
    this.samples = samples;
    /** Hz */
    this.sampleRate = sampleRate;
    this.mel = mel;
    /** Frames of each symbol. */
    this.durations = durations;
    this.symbols = symbols;
    /** Why it ended. */
    this.stop = stop;
    /** Silence to be kept after it, where it is a piece of a stream. */
    this.pauseSeconds = 0;
    /** The id of the voice that spoke; empty for a preview of one that is still learning. */
    this.voice = voice;
  }

  /**
   * The pieces of a stream as one speech, with their pauses.
   *
   * @param {Speech[]} speeches At least one, of one voice.
   * @returns {Speech}
   */
  static join(speeches) {
    const [{ sampleRate, mel, voice }] = speeches;
    const last = speeches.length - 1;
    const silences = speeches.map(({ pauseSeconds }, index) => (index < last ? pauseSeconds : 0));
    const quiet = speeches.reduce((least, { mel }) => mel.data.reduce((a, b) => Math.min(a, b), least), 0);
    const samples = joined(speeches.map(({ samples }) => samples), silences.map((seconds) => Math.round(seconds * sampleRate)), 0);
    const data = joined(speeches.map(({ mel }) => mel.data), silences.map((seconds) => Math.round(seconds / mel.frameSeconds) * mel.mels), quiet);
    const durations = Uint32Array.from(speeches.flatMap(({ durations }) => [...durations]));
    const stop = speeches.find(({ stop }) => stop !== speeches[last].stop)?.stop ?? speeches[last].stop;
    const symbols = speeches.flatMap(({ symbols }) => symbols);
    return new Speech({ samples, sampleRate, mel: { ...mel, data }, durations, symbols, stop }, voice, speeches.map(({ text }) => text).join(" "));
  }

  /** @returns {Blob} A WAV file that says of itself that it is synthetic, by what, and with which voice. */
  toBlob() {
    const voice = this.voice ? `voice ${this.voice}` : "a voice that is still learning";
    return wavBlob(this.samples, this.sampleRate, { ISFT: "ownvoice", ICMT: `Synthetic speech, made by ownvoice with ${voice}` });
  }
}

/** Arrays one after the other, each with so many `filler`s behind it. @param {Float32Array[]} parts @param {number[]} gaps @param {number} filler */
function joined(parts, gaps, filler) {
  const whole = new Float32Array(parts.reduce((sum, { length }, index) => sum + length + gaps[index], 0)).fill(filler);
  let at = 0;
  parts.forEach((part, index) => {
    whole.set(part, at);
    at += part.length + gaps[index];
  });
  return whole;
}
