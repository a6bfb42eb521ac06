import type { Speech } from "./speech.js";
/**
 * The WebAssembly module is being fetched.
 */
export type FetchingProgram = {
    status: "fetching";
    what: "program";
    loadedBytes: number;
};
/**
 * The base voice is being fetched.
 */
export type FetchingBase = {
    status: "fetching";
    what: "base";
    loadedBytes: number;
    totalBytes: number;
};
/**
 * Everything is fetched; the device is being prepared.
 */
export type Starting = {
    status: "starting";
};
/**
 * Progress of `load`, discriminated by `status` and `what`.
 */
export type LoadProgress = FetchingProgram | FetchingBase | Starting;
/**
 * The clips are being aligned with their texts.
 */
export type Aligning = {
    status: "aligning";
};
/**
 * One training iteration.
 */
export type TrainingStep = {
    status: "training";
    /**
     * From 1.
     */
    iteration: number;
    /**
     * How many there will be; fewer after early stopping.
     */
    iterations: number;
    /**
     * The latest that was read from the device.
     */
    loss: number;
    /**
     * Since the first iteration.
     */
    seconds: number;
    /**
     * Of the held-out clips, where this iteration measured it.
     */
    heldOutLoss: number | null;
    /**
     * Iterations so far that were skipped because their gradients overflowed half precision.
     */
    overflows: number;
    /**
     * The operation where the overflow of this iteration began, for the first few.
     */
    fault: string | null;
    /**
     * Why this iteration is the last: the limit, or no more gain on the held-out clips; null before.
     */
    stop: "iterations" | "held-out" | null;
};
/**
 * The voice as it stands has spoken the preview sentence.
 */
export type Preview = {
    status: "preview";
    iteration: number;
    speech: Speech;
};
/**
 * Spectrograms and alignment as they stand.
 */
export type PictureTaken = {
    status: "picture";
    iteration: number;
    picture: Picture;
};
/**
 * The training could not be stored (once): it continues, but will not outlive the tab.
 */
export type NotStored = {
    status: "not-stored";
    /**
     * For example `storage-full`.
     */
    code: string;
    message: string;
};
/**
 * The best weights are being made into a voice.
 */
export type Finishing = {
    status: "finishing";
};
/**
 * Progress of a training, discriminated by `status`.
 */
export type CloneProgress = Aligning | TrainingStep | Preview | PictureTaken | NotStored | Finishing;
/**
 * One clip as it was recorded and as the model predicts it; a held-out clip, where there are five clips or more.
 */
export type Picture = {
    /**
     * Mel channels (M).
     */
    mels: number;
    /**
     * Duration of a frame.
     */
    frameSeconds: number;
    /**
     * Log-mel spectrogram of the recording, `[T, M]`.
     */
    recorded: Float32Array;
    /**
     * Log-mel spectrogram of the model, `[T, M]`.
     */
    predicted: Float32Array;
    /**
     * Posterior of each symbol in each predicted frame, `[T, L]`, 0 to 1.
     */
    alignment: Float32Array;
    /**
     * Frames of each symbol, `[L]`.
     */
    durations: Uint32Array;
    /**
     * Names of the symbols, `[L]`.
     */
    symbols: string[];
};
export {};
