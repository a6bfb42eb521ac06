// A voice, which the worker holds.

import { OwnvoiceError, anySignal, throwIfAborted } from "./errors.js";
import { Speech } from "./speech.js";

/** @import { Clip } from "./options.js" */
/** @import { Connection } from "./connection.js" */
/** @import { LeaderMethods } from "./leader.js" */
/** @import { Arguments, CallOptions, Progress, Result } from "./rpc.js" */
/** @import { Session } from "./session.js" */
/** @import { Cancellable, Delivery, SayOptions, Similarity, StreamOptions, TextWarning, VoiceInfo, Watched } from "./speech.js" */

/** The worker's copy of a voice. A new worker opens it again from its file. */
class WorkerVoice {
  #connection;
  #session;
  /** The handle in that session. @type {Promise<number>} */
  #handle;
  #released = false;

  /** @param {Connection} connection @param {Session} session @param {number} handle In that session. @param {Blob | null} file Null for the base, which every session has. */
  constructor(connection, session, handle, file) {
    this.#connection = connection;
    this.#session = session;
    this.#handle = Promise.resolve(handle);
    this.file = file;
  }

  /** Calls a method of the worker with this voice. @template {"say" | "similarity" | "save"} K
   * @param {K} method @param {Omit<Arguments<LeaderMethods, K>, "voice">} args @param {CallOptions<Progress<LeaderMethods, K>>} options @returns {Promise<Result<LeaderMethods, K>>} */
  call(method, args, options) {
    return this.#connection.run(async (session) => {
      const all = /** @type {Arguments<LeaderMethods, K>} */ ({ ...args, voice: await this.#handleIn(session) });
      return session.remote.call(method, all, options);
    }, options.signal);
  }

  /** Releases the copy. */
  async release() {
    this.#released = true;
    if (!this.#connection.isCurrent(this.#session)) return; // it ended with its worker
    try {
      await this.#session.remote.call("release", { voice: await this.#handle });
    } catch {
      // A worker that has ended has freed it.
    }
  }

  /** @param {Session} session */
  #handleIn(session) {
    if (this.#released) throw new OwnvoiceError("closed", "this voice has been released");
    if (session !== this.#session) {
      this.#session = session;
      this.#handle = this.#open(session);
    }
    return this.#handle;
  }

  /** @param {Session} session */
  async #open({ loaded, remote }) {
    if (!this.file) return loaded.base.handle;
    const { handle } = await remote.call("open", { bytes: new Uint8Array(await this.file.arrayBuffer()) });
    return handle;
  }
}

/** A part of a text, and the silence after it. @typedef {{ text: string, pauseSeconds: number, warnings: TextWarning[] }} Part */

/** @param {Promise<Part[]>} parts */
async function* of(parts) {
  yield* await parts;
}

/** Joins the parts of each sentence, between which there is no pause. @param {Part[]} parts */
const sentencesOf = (parts) =>
  parts.reduce((/** @type {Part[]} */ sentences, part) => {
    const last = sentences.at(-1);
    return last?.pauseSeconds === 0 ? [...sentences.slice(0, -1), { ...part, text: `${last.text} ${part.text}` }] : [...sentences, part];
  }, []);

/**
 * Yields the parts of a text that is still being written, each once another one begins. Only the first sentence is cut.
 * @param {AsyncIterable<string>} pieces @param {(text: string) => Promise<Part[]>} split
 */
async function* asWritten(pieces, split) {
  let waiting = "";
  let isFirst = true;
  for await (const piece of pieces) {
    waiting += piece;
    // Blanks and signs alone are no text yet.
    const parts = await split(waiting).catch((error) => (isUnspeakable(error) ? [] : Promise.reject(error)));
    if (isFirst && parts.length < 2) continue;
    if (isFirst) yield /** @type {Part} */ (parts.shift());
    isFirst = false;
    const sentences = sentencesOf(parts);
    const last = sentences.pop();
    yield* sentences;
    if (last) waiting = last.text + /\s*$/.exec(waiting)?.[0];
  }
  try {
    const parts = await split(waiting);
    yield* isFirst ? parts : sentencesOf(parts);
  } catch (error) {
    if (isFirst || !isUnspeakable(error)) throw error;
  }
}

/** @param {unknown} error */
const isUnspeakable = (error) => ["text-empty", "text-unsupported"].includes(/** @type {OwnvoiceError | undefined} */ (error)?.code ?? "");

/** Frees a voice in the worker once the page has no reference to it. */
const unreachable = new FinalizationRegistry((/** @type {WorkerVoice} */ voice) => voice.release());

/** Returns the bytes of a voice file as a Blob. @internal @param {Uint8Array<ArrayBuffer>} bytes */
export const voiceFile = (bytes) => new Blob([bytes], { type: "application/octet-stream" });

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
  #connection;
  #worker;

  /**
   * @internal
   * @param {Connection} connection @param {Session} session @param {{ handle: number, info: VoiceInfo }} held @param {Blob | null} file
   */
  constructor(connection, session, { handle, info }, file) {
    this.#worker = new WorkerVoice(connection, session, handle, file);
    this.#connection = connection;
    /** Where the voice comes from. @type {VoiceInfo} */
    this.info = info;
    unreachable.register(this, this.#worker);
  }

  /**
   * Speaks a text of any length, sentence by sentence.
   *
   * @param {string} text
   * @param {SayOptions} [options]
   * @returns {Promise<Speech>}
   */
  async say(text, { signal, onProgress, ...delivery } = {}) {
    const spoken = await this.#worker.call("say", { text, delivery }, { signal, onProgress });
    this.#connection.policy.completed();
    return new Speech(spoken, this.info.id, text);
  }

  /**
   * Speaks a text sentence by sentence: yields each as soon as it is made, while the next is being made. A long first sentence is cut after its first clause,
   * so that sound comes soon. Leave `speech.pauseSeconds` of silence after each.
   *
   * The text may still be written, for example by a language model: each sentence of an `AsyncIterable` is spoken once another one begins.
   *
   * However the loop ends (its end, `break`, an error, the signal), the work in the worker ends with it, and so does the `AsyncIterable`.
   *
   * @param {string | AsyncIterable<string>} text
   * @param {StreamOptions} [options]
   * @returns {AsyncGenerator<Speech, void, undefined>}
   */
  async *stream(text, { signal, ...delivery } = {}) {
    const loopEnded = new AbortController();
    const ended = signal ? anySignal(signal, loopEnded.signal) : loopEnded.signal;
    const split = async (/** @type {string} */ text) => {
      const { parts, warnings } = await this.#connection.call("parts", { text }, { signal: ended });
      return parts.map((part) => ({ ...part, warnings }));
    };
    const parts = typeof text === "string" ? of(split(text)) : asWritten(text, split);
    const speakNext = async () => {
      const { value: part, done } = await parts.next();
      if (done) return null;
      const { text, ...rest } = part;
      return Object.assign(await this.say(text, { ...delivery, signal: ended }), rest);
    };
    try {
      for (let next = speakNext(); ; ) {
        const speech = await next;
        if (!speech) return;
        next = speakNext();
        next.catch(() => {}); // handled where it is awaited; ignored once the loop has ended
        throwIfAborted(signal);
        yield speech;
      }
    } finally {
      loopEnded.abort();
      parts.return(undefined).catch(() => {});
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
    return this.#worker.call("similarity", { clips: plain }, { signal, onProgress });
  }

  /** Frees the voice now, instead of at garbage collection. @returns {Promise<void>} */
  close() {
    return this.#worker.release();
  }

  /** Frees the voice at the end of a block with `await using`. @returns {Promise<void>} */
  [Symbol.asyncDispose]() {
    return this.close();
  }

  /** Returns the voice as a file, for `studio.open` and the command line. @param {Cancellable} [options] @returns {Promise<Blob>} */
  async save({ signal } = {}) {
    throwIfAborted(signal);
    return this.#worker.file ?? voiceFile(await this.#worker.call("save", {}, { signal }));
  }
}
