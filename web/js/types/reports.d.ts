/**
 * Measurements of a clip.
 */
export type ClipReport = {
    seconds: number;
    /**
     * Without the silence around the speech.
     */
    speechSeconds: number;
    /**
     * Level of the speech, below full scale.
     */
    levelDb: number;
    /**
     * Level of the background, below full scale.
     */
    noiseDb: number;
    /**
     * Signal-to-noise ratio.
     */
    snrDb: number;
    /**
     * Samples at full scale.
     */
    clippedPercent: number;
    /**
     * Where the clip begins or ends within speech.
     */
    cutOff: "start" | "end" | null;
    /**
     * Mean log-posterior of the text's phones: 0 is certain, below -2.8 is a mismatch; null without a text.
     */
    score: number | null;
};
/**
 * Cost of one module in a training step. Dispatches and bytes are counted on a GPU only.
 */
export type ProfileRow = {
    /**
     * Its name, or `whole step`.
     */
    module: string;
    forwardMs: number;
    /**
     * Null where there is no backward pass.
     */
    backwardMs: number | null;
    forwardDispatches: number | null;
    backwardDispatches: number | null;
    /**
     * Size of the buffers that the dispatches read or write.
     */
    forwardBytes: number | null;
    backwardBytes: number | null;
};
/**
 * Cost of a training step, module by module.
 */
export type Profile = {
    rows: ProfileRow[];
    /**
     * Graphics memory held; null on the CPU.
     */
    deviceBytes: number | null;
};
/**
 * Distance of a tensor from the CPU's; NaN where either holds a non-finite value.
 */
export type PrecisionMetrics = {
    /**
     * 1: the same direction.
     */
    cosine: number;
    /**
     * Norm of the difference over the CPU's.
     */
    relativeError: number;
    /**
     * Signal to quantisation noise; infinite where nothing differs.
     */
    sqnrDb: number;
    /**
     * Largest difference of one value.
     */
    largestDifference: number;
};
/**
 * One tensor that differs.
 */
export type PrecisionRow = {
    /**
     * Its path: `decoder.second`.
     */
    module: string;
    /**
     * Null for a parameter that no compared operation reads.
     */
    operation: string | null;
    /**
     * `output`, `gradient of w_hh` ..
     */
    tensor: string;
    /**
     * Distance in the network, with all error of earlier operations.
     */
    whole: PrecisionMetrics | null;
    /**
     * Distance of the operation alone, computed on the CPU's inputs.
     */
    alone: PrecisionMetrics | null;
};
/**
 * A training step on this device, compared with the CPU.
 */
export type PrecisionReport = {
    /**
     * Whether no tensor differs.
     */
    passes: boolean;
    /**
     * Which operation is at fault, or that none is, in a sentence.
     */
    verdict: string;
    /**
     * The first operation with a non-finite result, otherwise the first that differs on the same inputs.
     */
    fault: {
        module: string;
        operation: string | null;
    } | null;
    /**
     * Number of tensors that were compared.
     */
    tensors: number;
    /**
     * The tensors that differ, the first divergence first.
     */
    rows: PrecisionRow[];
    /**
     * The whole report as text. It holds no speech.
     */
    text: string;
};
/**
 * Graphics memory.
 */
export type DeviceMemory = {
    usedBytes: number;
    /**
     * Memory held, including what is kept for the next use.
     */
    heldBytes: number;
};
export {};
