// Speech of any length, which grows while it is made. Its samples are in Blobs, outside the page's memory, so that an hour takes no more of it than a minute.

import { pcm, wavBlob } from "../js/wav.js";

/** @import { Origin } from "../js/wav.js" */
/** @import { SpokenWord } from "../js/index.js" */
/** @typedef {{ samples: Float32Array, sampleRate: number }} Sound */
/** @typedef {{ text: string, words: SpokenWord[] }} Sentence */

/** Peaks per second, from which the waveform is drawn. */
const PEAKS = 50;

export class Track {
  /** @type {BlobPart[]} */
  #parts = [];
  #data = new Blob();
  #peaks = new Float32Array(1 << 10);
  #samples = 0;
  /** Where each piece ends, in samples. @type {number[]} */
  #ends = [];
  #sampleRate = 1;
  /** The silence before the next piece. */
  #pause = 0;
  #isComplete = false;
  /** @type {() => void} */
  #grown = () => {};
  /** Resolves when there is more of it, or no more to come. @type {Promise<void>} */
  #growing = new Promise((resolve) => (this.#grown = () => resolve(undefined)));

  /** Hz */
  get sampleRate() {
    return this.#sampleRate;
  }

  get seconds() {
    return this.#samples / this.#sampleRate;
  }

  /** What the waveform shows. @type {Sound | null} */
  wave = null;

  /** When each piece begins, in seconds, and what is said in it. @type {(Sentence & { at: number })[]} */
  #sentences = [];

  /** @param {Sound & Partial<Sentence>} sound @param {number} pause Silence after it, unless it is the last, in seconds. */
  add({ samples, sampleRate, text = "", words = [] }, pause) {
    this.#sampleRate = sampleRate;
    this.#append(new Float32Array(Math.round(this.#pause * sampleRate)));
    this.#sentences.push({ at: this.seconds, text, words });
    this.#append(samples);
    this.#pause = pause;
    this.#ends.push(this.#samples);
    this.#data = new Blob(this.#parts);
    this.wave = { samples: this.#peaks.subarray(0, Math.ceil(this.seconds * PEAKS)), sampleRate: PEAKS };
    this.#grown();
    this.#growing = new Promise((resolve) => (this.#grown = () => resolve(undefined)));
  }

  /** The sentence that is said at a time, and when that is in it. @param {number} seconds */
  saidAt(seconds) {
    const sentence = this.#sentences.findLast(({ at }) => at <= seconds);
    return sentence && { sentence, seconds: seconds - sentence.at };
  }

  /** Marks the end. */
  complete() {
    this.#isComplete = true;
    this.#grown();
  }

  /** @param {Float32Array} samples */
  #append(samples) {
    const begin = this.#samples;
    this.#samples += samples.length;
    const needed = Math.ceil(((begin + samples.length) / this.#sampleRate) * PEAKS) + 1;
    if (needed > this.#peaks.length) {
      const wider = new Float32Array(2 * needed);
      wider.set(this.#peaks);
      this.#peaks = wider;
    }
    samples.forEach((sample, i) => {
      const at = Math.floor(((begin + i) * PEAKS) / this.#sampleRate);
      if (Math.abs(sample) > this.#peaks[at]) this.#peaks[at] = Math.abs(sample);
    });
    this.#parts.push(new Blob([pcm(samples)]));
  }

  /** Returns the rest of the piece at a time; null at the end. Waits for it while the track grows. @param {number} from In seconds. @returns {Promise<Sound | null>} */
  async read(from) {
    let end;
    for (;;) {
      const at = Math.round(from * this.#sampleRate);
      end = this.#ends.find((end) => end > at);
      if (end !== undefined || this.#isComplete) break;
      await this.#growing;
    }
    if (end === undefined) return null;
    const bytes = await this.#data.slice(2 * Math.round(from * this.#sampleRate), 2 * end).arrayBuffer();
    return { samples: Float32Array.from(new Int16Array(bytes), (sample) => sample / 32767), sampleRate: this.#sampleRate };
  }

  /** Returns a WAV file. @param {Origin} origin */
  toBlob(origin) {
    return wavBlob(this.#data, this.#sampleRate, origin);
  }
}
