import type { SpokenWord, TimedWord } from "./words.js";
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
     * Ends the call with its reason, by default `cancelled`.
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
 * A reason why a text may not be spoken as it is meant. It is spoken nevertheless.
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
 * Speech as the worker sends it.
 */
export type PlainSpeech = Pick<Speech, "samples" | "sampleRate" | "mel" | "durations" | "symbols" | "stop"> & {
    words: TimedWord[];
};
/**
 * Similarity to the speaker, 0 to 1: the overlap of the distributions of cepstra and pitch. It is not a listener's judgement.
 */
export type Similarity = {
    /**
     * Similarity of the base voice: the lower anchor.
     */
    base: number;
    /**
     * Similarity of this voice.
     */
    clone: number;
    /**
     * Similarity of the speaker's own recordings to each other: the upper anchor.
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
     * Iterations of its training.
     */
    iterations: number;
    /**
     * Seconds of speech that it was trained on.
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
    /** The words with their times. */
    words: SpokenWord[];
    /** Why the speech ended: all of the text is spoken, or a single word exceeds the longest sentence and is cut short. */
    stop: "durations" | "max-frames";
    /** Why the text may not be spoken as it is meant; in a stream, those of the whole text. */
    warnings: TextWarning[];
    /** Seconds of silence to leave after the speech, in a stream. */
    pauseSeconds: number;
    /** Id of the voice; empty for a preview during training. */
    voice: string;
    /**
     * Joins the speeches of a stream, with their pauses.
     *
     * @param {Speech[]} speeches At least one, of one voice.
     * @returns {Speech}
     */
    static join(speeches: Speech[]): Speech;
    /** Returns the sound for the Web Audio API. @param {BaseAudioContext} context @returns {AudioBuffer} */
    toAudioBuffer(context: BaseAudioContext): AudioBuffer;
    /** Returns a WAV file, marked as synthetic and with the id of its voice. @returns {Blob} */
    toBlob(): Blob;
}
/** Returns the marks of synthetic speech. @param {string} voice Id of the voice; empty for one in training. */
export declare const originOf: (voice: string) => {
    ISFT: string;
    ICMT: string;
};
