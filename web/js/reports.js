// Types of what is reported: the progress of a load and of a training, and measurements of clips and devices.

/** @import { ErrorCode } from "./errors.js" */
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
 * A clip is left out of the training, because it cannot be used.
 * @typedef {object} LeftOut
 * @property {"left-out"} status
 * @property {string} code For example `clip-mismatch`.
 * @property {string} message
 * @property {number} [clip] Its index among those given.
 * @property {number} [found] The value that was measured, where a limit decides.
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
 * @typedef {Aligning | LeftOut | TrainingStep | Preview | PictureTaken | NotStored | Finishing} CloneProgress
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
/**
 * A worker crashed or its GPU was lost: a new worker is being started, is ready, or could not be started. Calls that were under way continue in the new worker.
 * @typedef {object} Recovery
 * @property {"restarting" | "restarted" | "failed"} status After `failed`, every call rejects with the code.
 * @property {ErrorCode} code `worker-crashed` or `device-lost`; after `failed`, any code of `load` too.
 * @property {string} message
 * @property {boolean} toCpu Whether the GPU was lost for the second time, so that the CPU is used from now on.
 */

/**
 * A reason why the voice may sound unusual: `whispered`, `fast` (twice the usual tempo) or `narrow-band` (nothing above 5.5 kHz, as over a telephone).
 * @typedef {object} ClipNote
 * @property {string} code
 * @property {string} message
 */
/**
 * Measurements of a clip.
 * @typedef {object} ClipReport
 * @property {number} seconds
 * @property {number} speechSeconds Without the silence around the speech.
 * @property {number} levelDb Level of the speech, below full scale.
 * @property {number} noiseDb Level of the background, below full scale.
 * @property {number} snrDb Signal-to-noise ratio.
 * @property {number} clippedPercent Samples at full scale.
 * @property {"start" | "end" | null} cutOff Where the clip begins or ends within speech.
 * @property {ClipNote[]} notes Reasons why the voice may sound unusual.
 * @property {number | null} score Mean log-posterior of the text's phones: 0 is certain, below -2.8 is a mismatch; null without a text.
 */
/**
 * Cost of one module in a training step. Dispatches and bytes are counted on a GPU only.
 * @typedef {object} ProfileRow
 * @property {string} module Its name, or `whole step`.
 * @property {number} forwardMs
 * @property {number | null} backwardMs Null where there is no backward pass.
 * @property {number | null} forwardDispatches
 * @property {number | null} backwardDispatches
 * @property {number | null} forwardBytes Size of the buffers that the dispatches read or write.
 * @property {number | null} backwardBytes
 */
/**
 * Cost of a training step, module by module.
 * @typedef {object} Profile
 * @property {ProfileRow[]} rows
 * @property {number | null} deviceBytes Graphics memory held; null on the CPU.
 */
/**
 * Distance of a tensor from the CPU's; NaN where either holds a non-finite value.
 * @typedef {object} PrecisionMetrics
 * @property {number} cosine 1: the same direction.
 * @property {number} relativeError Norm of the difference over the CPU's.
 * @property {number} sqnrDb Signal to quantisation noise; infinite where nothing differs.
 * @property {number} largestDifference Largest difference of one value.
 */
/**
 * One tensor that differs.
 * @typedef {object} PrecisionRow
 * @property {string} module Its path: `decoder.second`.
 * @property {string | null} operation Null for a parameter that no compared operation reads.
 * @property {string} tensor `output`, `gradient of w_hh` ..
 * @property {PrecisionMetrics | null} whole Distance in the network, with all error of earlier operations.
 * @property {PrecisionMetrics | null} alone Distance of the operation alone, computed on the CPU's inputs.
 */
/**
 * A training step on this device, compared with the CPU.
 * @typedef {object} PrecisionReport
 * @property {boolean} passes Whether no tensor differs.
 * @property {string} verdict Which operation is at fault, or that none is, in a sentence.
 * @property {{ module: string, operation: string | null } | null} fault The first operation with a non-finite result, otherwise the first that differs on the same inputs.
 * @property {number} tensors Number of tensors that were compared.
 * @property {PrecisionRow[]} rows The tensors that differ, the first divergence first.
 * @property {string} text The whole report as text. It holds no speech.
 */
/**
 * Graphics memory.
 * @typedef {object} DeviceMemory
 * @property {number} usedBytes
 * @property {number} heldBytes Memory held, including what is kept for the next use.
 */

export {};
