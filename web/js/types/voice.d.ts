/// <reference lib="esnext.disposable" />
import { Speech } from "./speech.js";
import type { Clip } from "./options.js";
import type { Cancellable, SayOptions, Similarity, StreamOptions, TextWarning, VoiceInfo, Watched } from "./speech.js";
/**
 * A part of a text, and the silence after it.
 */
export type Part = {
    text: string;
    pauseSeconds: number;
    warnings: TextWarning[];
};
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
export declare class Voice {
    #private;
    /** Where the voice comes from. */
    info: VoiceInfo;
    /**
     * Speaks a text of any length, sentence by sentence.
     *
     * @param {string} text
     * @param {SayOptions} [options]
     * @returns {Promise<Speech>}
     */
    say(text: string, { signal, onProgress, ...delivery }?: SayOptions): Promise<Speech>;
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
    stream(text: string | AsyncIterable<string>, { signal, ...delivery }?: StreamOptions): AsyncGenerator<Speech, void, undefined>;
    /**
     * Measures the similarity to the speaker of these recordings, by speaking some of their texts with this voice and with the base.
     *
     * @param {Clip[]} clips At least two; the figures are stable from twenty seconds of speech.
     * @param {Cancellable & Watched} [options]
     * @returns {Promise<Similarity>}
     */
    similarity(clips: Clip[], { signal, onProgress }?: Cancellable & Watched): Promise<Similarity>;
    /** Frees the voice now, instead of at garbage collection. @returns {Promise<void>} */
    close(): Promise<void>;
    /** Frees the voice at the end of a block with `await using`. @returns {Promise<void>} */
    [Symbol.asyncDispose](): Promise<void>;
    /** Returns the voice as a file, for `studio.open` and the command line. @param {Cancellable} [options] @returns {Promise<Blob>} */
    save({ signal }?: Cancellable): Promise<Blob>;
}
