// The types of the progress reports of a load and of a training.

/** @import { Speech } from "./speech.js" */

/**
 * The WebAssembly module is being fetched.
 * @typedef {object} FetchingProgram
 * @property {"fetching"} status
 * @property {"program"} what
 * @property {number} loadedBytes
 */
/**
 * The base voice is being fetched.
 * @typedef {object} FetchingBase
 * @property {"fetching"} status
 * @property {"base"} what
 * @property {number} loadedBytes
 * @property {number} totalBytes
 */
/**
 * Everything is fetched; the device is being prepared.
 * @typedef {object} Starting
 * @property {"starting"} status
 */
/**
 * Progress of `load`, discriminated by `status` and `what`.
 * @typedef {FetchingProgram | FetchingBase | Starting} LoadProgress
 */
/**
 * The clips are being aligned with their texts.
 * @typedef {object} Aligning
 * @property {"aligning"} status
 */
/**
 * One training iteration.
 * @typedef {object} TrainingStep
 * @property {"training"} status
 * @property {number} iteration From 1.
 * @property {number} iterations How many there will be; fewer after early stopping.
 * @property {number} loss The latest that was read from the device.
 * @property {number} seconds Since the first iteration.
 * @property {number | null} heldOutLoss Of the held-out clips, where this iteration measured it.
 * @property {number} overflows Iterations so far that were skipped because their gradients overflowed half precision.
 * @property {string | null} fault The operation where the overflow of this iteration began, for the first few.
 * @property {"iterations" | "held-out" | null} stop Why this iteration is the last: the limit, or no more gain on the held-out clips; null before.
 */
/**
 * The voice as it stands has spoken the preview sentence.
 * @typedef {object} Preview
 * @property {"preview"} status
 * @property {number} iteration
 * @property {Speech} speech
 */
/**
 * Spectrograms and alignment as they stand.
 * @typedef {object} PictureTaken
 * @property {"picture"} status
 * @property {number} iteration
 * @property {Picture} picture
 */
/**
 * The training could not be stored (once): it continues, but will not outlive the tab.
 * @typedef {object} NotStored
 * @property {"not-stored"} status
 * @property {string} code For example `storage-full`.
 * @property {string} message
 */
/**
 * The best weights are being made into a voice.
 * @typedef {object} Finishing
 * @property {"finishing"} status
 */
/**
 * Progress of a training, discriminated by `status`.
 * @typedef {Aligning | TrainingStep | Preview | PictureTaken | NotStored | Finishing} CloneProgress
 */
/**
 * One clip as it was recorded and as the model predicts it; a held-out clip, where there are five clips or more.
 * @typedef {object} Picture
 * @property {number} mels Mel channels (M).
 * @property {number} frameSeconds Duration of a frame.
 * @property {Float32Array} recorded Log-mel spectrogram of the recording, `[T, M]`.
 * @property {Float32Array} predicted Log-mel spectrogram of the model, `[T, M]`.
 * @property {Float32Array} alignment Posterior of each symbol in each predicted frame, `[T, L]`, 0 to 1.
 * @property {Uint32Array} durations Frames of each symbol, `[L]`.
 * @property {string[]} symbols Names of the symbols, `[L]`.
 */

export {};
