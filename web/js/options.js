// What a training is given: its options, and how it is controlled.

/** @import { Audio } from "./clip.js" */
/** @import { CloneProgress } from "./progress.js" */

/**
 * The speaker's consent.
 * @typedef {object} Consent
 * @property {string} text The statement.
 * @property {Audio} [recording] The speaker reading it.
 */
/**
 * Options of `studio.resume`.
 * @typedef {object} ResumeOptions
 * @property {string} [preview] A sentence that the voice speaks every 25 iterations.
 * @property {boolean} [pictures] Sends a `picture` at the start, every 25 iterations and at the end.
 * @property {(progress: CloneProgress) => void} [onStep] Called at each step.
 * @property {AbortSignal} [signal] Ends the training with `cancelled` and discards it.
 * @property {AbortSignal} [stopSignal] Ends the training early and returns the best voice so far.
 */
/**
 * Options of `studio.clone` beside those of `studio.resume`.
 * @typedef {object} TrainingOptions
 * @property {number} [iterations] At most this many (75).
 * @property {number} [seed] The same seed, clips and device give the same voice.
 * @property {"f32" | "mixed"} [precision] `mixed` multiplies in half precision; `precision-unsupported` where the device cannot.
 * @property {number} [rehearsal] Weight of rehearsed sentences in the loss, for half a minute of a usual voice; twice the speech has half the weight, a voice twice as far from the base four times the weight. Higher is clearer, lower is closer to the speaker; 0 to 10 (0.4).
 * @property {Consent} [consent] Stored in the voice: the text, and the SHA-256 of the recording as a 16-bit WAV file.
 */
/**
 * Changes to a running training.
 * @typedef {object} TrainingControls
 * @property {boolean} [paused]
 * @property {string | null} [preview] Another preview sentence; null for none.
 */
/** @typedef {TrainingOptions & ResumeOptions} CloneOptions */

export {};
