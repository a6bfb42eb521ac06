import type { Remote } from "./rpc.js";
import type { Clip } from "./index.js";
export type SayProgress = {
    status: "speaking";
    sentence: number;
    sentences: number;
};
export type Delivery = {
    /**
     * Times the voice's own, 0.25 to 4.
     */
    speed?: number;
    /**
     * Semitones above the voice's own, -12 to 12.
     */
    pitch?: number;
    /**
     * Times the voice's own movement of pitch: 0 is monotone, 3 the most.
     */
    liveliness?: number;
    /**
     * The same seed gives the same speech.
     */
    seed?: number;
};
export type SayOptions = Delivery & {
    signal?: AbortSignal;
    onProgress?: (progress: SayProgress) => void;
};
export type StreamOptions = Delivery & {
    signal?: AbortSignal;
};
export type Mel = {
    mels: number;
    frameSeconds: number;
    data: Float32Array;
};
export type Similarity = {
    base: number;
    clone: number;
    sameSpeaker: number;
};
export type VoiceInfo = {
    id: string;
    adapted: boolean;
    hasPitch: boolean;
    iterations: number;
    seconds: number;
    consent: {
        text: string;
        recordingSha256: string | null;
    } | null;
};
export type Spoken = {
    samples: Float32Array;
    sampleRate: number;
    mel: Mel;
    durations: Uint32Array;
    symbols: string[];
    stop: string;
};
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
export declare class Voice {
    #private;
    /** @type {VoiceInfo} */
    info: VoiceInfo;
    /** @param {Remote} remote @param {{ handle: number, info: VoiceInfo }} held */
    constructor(remote: Remote, { handle, info }: {
        handle: number;
        info: VoiceInfo;
    });
    /**
     * Speaks a text of any length, sentence by sentence.
     *
     * @param {string} text
     * @param {SayOptions} [options]
     * @returns {Promise<Speech>}
     */
    say(text: string, { signal, onProgress, ...delivery }?: SayOptions): Promise<Speech>;
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
    stream(text: string, { signal, ...delivery }?: StreamOptions): AsyncGenerator<Speech, void, undefined>;
    /**
     * How near it comes to the speaker of these recordings: it says some of their texts, and so does the base.
     *
     * @param {Clip[]} clips At least two; from twenty seconds of speech on the figures are steady.
     * @param {{ signal?: AbortSignal, onProgress?: (progress: SayProgress) => void }} [options]
     * @returns {Promise<Similarity>}
     */
    similarity(clips: Clip[], { signal, onProgress }?: {
        signal?: AbortSignal;
        onProgress?: (progress: SayProgress) => void;
    }): Promise<Similarity>;
    /** Frees it at once, instead of when the browser finds that it was dropped. */
    close(): Promise<void>;
    /** @param {{ signal?: AbortSignal }} [options] @returns {Promise<Blob>} A file that `studio.open` reads, and the command line too. */
    save({ signal }?: {
        signal?: AbortSignal;
    }): Promise<Blob>;
}
/**
 * Something said.
 *
 * @example
 * const studio = await load({ base: "/models/base/" });
 * const speech = await studio.base.say("Anything at all.");
 * console.log(speech.samples.length / speech.sampleRate, "seconds,", speech.mel.data.length / speech.mel.mels, "frames");
 * const address = URL.createObjectURL(speech.toBlob()); // a WAV file, for <audio src> or a download
 */
export declare class Speech {
    /** What is said. */
    text: string;
    /** Mono, -1 to 1. */
    samples: Float32Array<ArrayBufferLike>;
    /** Hz */
    sampleRate: number;
    mel: Mel;
    /** Frames of each symbol. */
    durations: Uint32Array<ArrayBufferLike>;
    symbols: string[];
    /** Why it ended. */
    stop: string;
    /** Silence to be kept after it, where it is a piece of a stream. */
    pauseSeconds: number;
    /** The id of the voice that spoke; empty for a preview of one that is still learning. */
    voice: string;
    /** @param {Spoken} spoken @param {string} voice @param {string} text */
    constructor({ samples, sampleRate, mel, durations, symbols, stop }: Spoken, voice: string, text: string);
    /**
     * The pieces of a stream as one speech, with their pauses.
     *
     * @param {Speech[]} speeches At least one, of one voice.
     * @returns {Speech}
     */
    static join(speeches: Speech[]): Speech;
    /** @returns {Blob} A WAV file that says of itself that it is synthetic, by what, and with which voice. */
    toBlob(): Blob;
}
