import type { ErrorCode } from "./errors.js";
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
 * A clip is left out of the training, because it cannot be used.
 */
export type LeftOut = {
    status: "left-out";
    /**
     * For example `clip-mismatch`.
     */
    code: string;
    message: string;
    /**
     * Its index among those given.
     */
    clip?: number;
    /**
     * The value that was measured, where a limit decides.
     */
    found?: number;
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
export type CloneProgress = Aligning | LeftOut | TrainingStep | Preview | PictureTaken | NotStored | Finishing;
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
/**
 * A worker crashed or its GPU was lost: a new worker is being started, is ready, or could not be started. Calls that were under way continue in the new worker.
 */
export type Recovery = {
    /**
     * After `failed`, every call rejects with the code.
     */
    status: "restarting" | "restarted" | "failed";
    /**
     * `worker-crashed` or `device-lost`; after `failed`, any code of `load` too.
     */
    code: ErrorCode;
    message: string;
    /**
     * Whether the GPU was lost for the second time, so that the CPU is used from now on.
     */
    toCpu: boolean;
};
/**
 * A reason why the voice may sound unusual: `whispered`, `fast` (twice the usual tempo) or `narrow-band` (nothing above 5.5 kHz, as over a telephone).
 */
export type ClipNote = {
    code: string;
    message: string;
};
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
     * Reasons why the voice may sound unusual.
     */
    notes: ClipNote[];
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
