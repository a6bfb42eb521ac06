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
 * Distance of a tensor from the CPU's; NaN where either holds something that is no number.
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
     * Of one value.
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
     * In the network, with all error that came before.
     */
    whole: PrecisionMetrics | null;
    /**
     * Of the operation by itself, on the CPU's inputs.
     */
    alone: PrecisionMetrics | null;
};
/**
 * A training step on this device, compared with the CPU.
 */
export type PrecisionReport = {
    /**
     * Whether nothing differs.
     */
    passes: boolean;
    /**
     * Which operation is at fault, or that none is, in a sentence.
     */
    verdict: string;
    /**
     * The first operation that makes something that is no number, else the first that is off by itself.
     */
    fault: {
        module: string;
        operation: string | null;
    } | null;
    /**
     * How many were compared.
     */
    tensors: number;
    /**
     * Those that differ, the first divergence first.
     */
    rows: PrecisionRow[];
    /**
     * All of it, to be copied into a report. It holds no speech.
     */
    text: string;
};
/**
 * Graphics memory.
 */
export type DeviceMemory = {
    usedBytes: number;
    /**
     * Including what is held for the next use.
     */
    heldBytes: number;
};
export {};
