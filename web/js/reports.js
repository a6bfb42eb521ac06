// Types of the measurements of clips and devices.

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
