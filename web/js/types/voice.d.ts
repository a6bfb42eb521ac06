import type { Clip } from "./clip.js";
/**
 * A sentence is about to be spoken.
 */
export type SayProgress = {
    status: "speaking";
    /**
     * From 1.
     */
    sentence: number;
    sentences: number;
};
/**
 * How a text is spoken.
 */
export type Delivery = {
    /**
     * Relative to the voice's own, 0.25 to 4.
     */
    speed?: number;
    /**
     * Semitones above the voice's own, -12 to 12.
     */
    pitch?: number;
    /**
     * Pitch range relative to the voice's own: 0 is monotone, 3 the most.
     */
    liveliness?: number;
    /**
     * The same seed gives the same speech.
     */
    seed?: number;
};
/**
 * Options of `voice.stream` beside the delivery.
 */
export type Cancellable = {
    /**
     * Ends it with `cancelled`.
     */
    signal?: AbortSignal;
};
/**
 * Options of `voice.say` and `voice.similarity` beside the delivery.
 */
export type Watched = {
    /**
     * Called before each sentence.
     */
    onProgress?: (progress: SayProgress) => void;
};
export type SayOptions = Delivery & Cancellable & Watched;
export type StreamOptions = Delivery & Cancellable;
/**
 * A mel spectrogram.
 */
export type Mel = {
    /**
     * Channels (M).
     */
    mels: number;
    /**
     * Duration of a frame.
     */
    frameSeconds: number;
    /**
     * Natural logarithms of the amplitudes, frame after frame: `[T, M]`.
     */
    data: Float32Array;
};
/**
 * A reason why a text may not be spoken as it is meant. It is spoken all the same.
 */
export type TextWarning = {
    /**
     * The text seems to be of another language, or contains letters that are left out.
     */
    code: "text-language" | "text-unspoken";
    message: string;
    /**
     * The language by its English name, or the letters.
     */
    detail: string;
};
/**
 * Similarity to the speaker, 0 to 1: overlap of the distributions of cepstra and pitch. Not a listener's judgement.
 */
export type Similarity = {
    /**
     * Of the base voice: the lower anchor.
     */
    base: number;
    /**
     * Of this voice.
     */
    clone: number;
    /**
     * Of the speaker's own recordings among each other: the upper anchor.
     */
    sameSpeaker: number;
};
/**
 * Where a voice comes from.
 */
export type VoiceInfo = {
    /**
     * The first 16 digits of its file's SHA-256.
     */
    id: string;
    /**
     * False for the base itself.
     */
    adapted: boolean;
    /**
     * Whether `pitch` and `liveliness` can be changed.
     */
    hasPitch: boolean;
    /**
     * Of its training.
     */
    iterations: number;
    /**
     * Of speech that it was trained on.
     */
    seconds: number;
    /**
     * The speaker's consent.
     */
    consent: {
        text: string;
        recordingSha256: string | null;
    } | null;
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
     * However the loop ends (its end, `break`, an error, the signal), the work in the worker ends with it.
     *
     * @param {string} text
     * @param {StreamOptions} [options]
     * @returns {AsyncGenerator<Speech, void, undefined>}
     */
    stream(text: string, { signal, ...delivery }?: StreamOptions): AsyncGenerator<Speech, void, undefined>;
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
    /** The voice as a file, for `studio.open` and the command line. @param {Cancellable} [options] @returns {Promise<Blob>} */
    save({ signal }?: Cancellable): Promise<Blob>;
}
/**
 * Synthetic speech.
 *
 * @example
 * const studio = await load({ base: "/models/base/" });
 * const speech = await studio.base.say("Anything at all.");
 * console.log(speech.samples.length / speech.sampleRate, "seconds,", speech.mel.data.length / speech.mel.mels, "frames");
 * const address = URL.createObjectURL(speech.toBlob()); // a WAV file, for <audio src> or a download
 */
export declare class Speech {
    /** The text that is spoken. */
    text: string;
    /** Mono, from -1 to 1. */
    samples: Float32Array;
    /** Hz */
    sampleRate: number;
    /** The spectrogram before the vocoder. */
    mel: Mel;
    /** Frames of each symbol. */
    durations: Uint32Array;
    /** Names of the symbols. */
    symbols: string[];
    /** Why it ended: all of the text is spoken, or a single word exceeds the longest sentence and is cut short. */
    stop: "durations" | "max-frames";
    /** Why the text may not be spoken as it is meant; in a stream, those of the whole text. */
    warnings: TextWarning[];
    /** Silence to leave after it, in a stream. */
    pauseSeconds: number;
    /** Id of the voice; empty for a preview during training. */
    voice: string;
    /**
     * Joins the pieces of a stream, with their pauses.
     *
     * @param {Speech[]} speeches At least one, of one voice.
     * @returns {Speech}
     */
    static join(speeches: Speech[]): Speech;
    /** A WAV file, marked as synthetic and with the id of its voice. @returns {Blob} */
    toBlob(): Blob;
}
