import type { Audio } from "./clip.js";
import type { CloneProgress } from "./progress.js";
/**
 * The speaker's consent.
 */
export type Consent = {
    /**
     * The statement.
     */
    text: string;
    /**
     * The speaker reading it.
     */
    recording?: Audio;
};
/**
 * Options of `studio.resume`.
 */
export type ResumeOptions = {
    /**
     * A sentence that the voice speaks every 25 iterations.
     */
    preview?: string;
    /**
     * Sends a `picture` at the start, every 25 iterations and at the end.
     */
    pictures?: boolean;
    /**
     * Called at each step.
     */
    onStep?: (progress: CloneProgress) => void;
    /**
     * Ends the training with `cancelled` and discards it.
     */
    signal?: AbortSignal;
    /**
     * Ends the training early and returns the best voice so far.
     */
    stopSignal?: AbortSignal;
};
/**
 * Options of `studio.clone` beside those of `studio.resume`.
 */
export type TrainingOptions = {
    /**
     * At most this many (75).
     */
    iterations?: number;
    /**
     * The same seed, clips and device give the same voice.
     */
    seed?: number;
    /**
     * `mixed` multiplies in half precision; `precision-unsupported` where the device cannot.
     */
    precision?: "f32" | "mixed";
    /**
     * Weight of rehearsed sentences in the loss, for half a minute of a usual voice; twice the speech has half the weight, a voice twice as far from the base four times the weight. Higher is clearer, lower is closer to the speaker; 0 to 10 (0.4).
     */
    rehearsal?: number;
    /**
     * Stored in the voice: the text, and the SHA-256 of the recording as a 16-bit WAV file.
     */
    consent?: Consent;
};
/**
 * Changes to a running training.
 */
export type TrainingControls = {
    paused?: boolean;
    /**
     * Another preview sentence; null for none.
     */
    preview?: string | null;
};
export type CloneOptions = TrainingOptions & ResumeOptions;
export {};
