import { OwnvoiceError } from "./errors.js";
import { Microphone } from "./microphone.js";
import { Storage } from "./storage.js";
import { Speech, Voice } from "./voice.js";
import { wavBlob } from "./wav.js";
export { Microphone, OwnvoiceError, Speech, Storage, Voice, wavBlob };
export type Audio = import("./clip.js").Audio;
export type Clip = import("./clip.js").Clip;
export type Device = import("./device.js").Device;
export type SelfTest = import("./device.js").SelfTest;
export type Aligning = import("./progress.js").Aligning;
export type CloneProgress = import("./progress.js").CloneProgress;
export type FetchingBase = import("./progress.js").FetchingBase;
export type FetchingProgram = import("./progress.js").FetchingProgram;
export type Finishing = import("./progress.js").Finishing;
export type LoadProgress = import("./progress.js").LoadProgress;
export type NotStored = import("./progress.js").NotStored;
export type Picture = import("./progress.js").Picture;
export type PictureTaken = import("./progress.js").PictureTaken;
export type Preview = import("./progress.js").Preview;
export type Starting = import("./progress.js").Starting;
export type TrainingStep = import("./progress.js").TrainingStep;
export type ClipReport = import("./reports.js").ClipReport;
export type DeviceMemory = import("./reports.js").DeviceMemory;
export type PrecisionMetrics = import("./reports.js").PrecisionMetrics;
export type PrecisionReport = import("./reports.js").PrecisionReport;
export type PrecisionRow = import("./reports.js").PrecisionRow;
export type Profile = import("./reports.js").Profile;
export type ProfileRow = import("./reports.js").ProfileRow;
export type Recording = import("./storage.js").Recording;
export type StoredTraining = import("./storage.js").StoredTraining;
export type Usage = import("./storage.js").Usage;
export type Delivery = import("./voice.js").Delivery;
export type Mel = import("./voice.js").Mel;
export type SayOptions = import("./voice.js").SayOptions;
export type SayProgress = import("./voice.js").SayProgress;
export type Similarity = import("./voice.js").Similarity;
export type StreamOptions = import("./voice.js").StreamOptions;
export type TextWarning = import("./voice.js").TextWarning;
export type VoiceInfo = import("./voice.js").VoiceInfo;
export type Origin = import("./wav.js").Origin;
/**
 * Options of `load`.
 */
export type LoadOptions = {
    /**
     * Folder of the base voice: manifest.json and the files that it names.
     */
    base: string | URL;
    /**
     * `auto` (the default) takes WebGPU where there is a hardware adapter, otherwise the CPU.
     */
    device?: "auto" | "webgpu" | "cpu";
    /**
     * A JSON list of `{ id, text }`: sentences to be read aloud.
     */
    prompts?: string | URL;
    /**
     * Prepares `studio.microphone`, so that nothing is fetched when it opens.
     */
    microphone?: boolean;
    /**
     * Name of a folder in the browser's private file system, in which recordings and training outlive the tab. Without it nothing is stored.
     */
    storage?: string;
    /**
     * CPU cores that train a voice where there is no GPU: by default all, at most four, and two on a phone.
     */
    cores?: number;
    /**
     * Caches the base voice in the browser, by hash (true).
     */
    cache?: boolean;
    /**
     * Called as the download proceeds.
     */
    onProgress?: (progress: LoadProgress) => void;
    /**
     * Ends the load with `cancelled`.
     */
    signal?: AbortSignal;
    /**
     * Where `worker.js` is, if not beside the package; may be on another host.
     */
    workerUrl?: string | URL;
    /**
     * Where the WebAssembly module is, gzipped or not.
     */
    wasmUrl?: string | URL;
    /**
     * Where `capture-worklet.js` is.
     */
    workletUrl?: string | URL;
};
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
<<<<<<< HEAD
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
     * Iterations that were skipped because their gradients overflowed half precision.
     */
    overflows: number;
    /**
     * The operation where this overflow began.
     */
    fault: string | null;
    /**
     * In the last iteration, its reason: the limit, or no more gain on the held-out clips.
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
/**
=======
>>>>>>> dabd5b9 (Circles among modules and scripts are gone, and a test finds them; one training configuration; words with one meaning; comments in plain English; the command line's tests walk all verbs)
 * A sentence to be read aloud.
 */
export type Prompt = {
    id: string;
    text: string;
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
     * At most this many (200).
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
     * Weight of the base's own speech in the loss: higher is clearer, lower is closer to the speaker; 0 to 10 (0.2).
     */
    rehearsal?: number;
    /**
     * Stored in the voice: the text, and the SHA-256 of the recording as a 16-bit WAV file.
     */
    consent?: Consent;
};
export type CloneOptions = TrainingOptions & ResumeOptions;
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
/**
 * Fetches the program and the base voice, and prepares the device.
 *
 * @example
 * const ending = new AbortController();
 * const studio = await load({
 *   base: "/models/base/",
 *   device: "auto",
 *   signal: ending.signal,
 *   onProgress(progress) {
 *     if (progress.status === "fetching") console.log(progress.what, progress.loadedBytes);
 *   },
 * });
 * console.log(studio.device.reason);
 * studio.close();
 *
 * @param {LoadOptions} options
 * @returns {Promise<Studio>}
 */
export declare const load: (options: LoadOptions) => Promise<Studio>;
/** A loaded base voice on a device. `load` makes it. */
export declare class Studio {
    #private;
    /**
     * The device in use, and the reason for it.
     *
     * @example
     * const studio = await load({ base: "/models/base/" });
     * const { kind, name, reason, code, selfTest } = studio.device;
     * console.log(kind === "webgpu" ? `on ${name}` : `on the CPU: ${reason}`, code, selfTest);
     */
    device: Device;
    /** The base itself as a voice, without training. */
    base: Voice;
    /** Hash of the base: a saved voice opens only on the base that it was made with. */
    hash: string;
    /** The sentences of the option `prompts`. */
    prompts: Prompt[];
    /** Recordings and training that outlive the tab; null without the option `storage`, or where the browser has none. */
    storage: Storage | null;
    /** Why `storage` is null although it was asked for: `storage-unavailable`, as in some private windows. */
    storageError: {
        code: string;
        message: string;
    } | null;
    /** Whether the base voice is cached, so that the next visit does not fetch it. */
    cached: boolean;
    /** Resolves when the worker has ended: `worker-crashed`, `device-lost` or `closed`. */
    ended: Promise<OwnvoiceError>;
    /** Audio capture; requires `load({ microphone: true })`. @returns {Microphone} */
    get microphone(): Microphone;
    /**
     * Compiles the GPU pipelines of a training in advance, for example while the visitor records. On the CPU there is nothing to compile.
     *
     * @param {{ signal?: AbortSignal }} [options] Aborting ends the wait, not the compilation.
     * @returns {Promise<void>}
     */
    prepare({ signal }?: {
        signal?: AbortSignal;
    }): Promise<void>;
    /**
     * Measures a training step on this device, module by module, after a warm-up.
     *
     * @param {{ runs?: number, onProgress?: (progress: { module: number, modules: number }) => void, signal?: AbortSignal }} [options]
     * @returns {Promise<Profile>}
     */
    profile({ runs, onProgress, signal }?: {
        runs?: number;
        onProgress?: (progress: {
            module: number;
            modules: number;
        }) => void;
        signal?: AbortSignal;
    }): Promise<Profile>;
    /**
     * Compares a training step on this device with the CPU, operation by operation. Speech-like noise is trained on, and no recording.
     *
     * @param {{ precision?: "f32" | "mixed", cosine?: number, onProgress?: (progress: { done: number, of: number }) => void, signal?: AbortSignal }} [options]
     *   A tensor differs below the `cosine` (0.98); `precision-unsupported` where the device has no half precision.
     * @returns {Promise<PrecisionReport>}
     */
    precision({ precision, cosine, onProgress, signal }?: {
        precision?: "f32" | "mixed";
        cosine?: number;
        onProgress?: (progress: {
            done: number;
            of: number;
        }) => void;
        signal?: AbortSignal;
    }): Promise<PrecisionReport>;
    /**
     * Trains a voice on clips.
     *
     * @param {Clip[]} clips About a minute of speech in all; one long recording is cut at its pauses.
     * @param {CloneOptions} [options]
     * @returns {Promise<Voice>}
     */
    clone(clips: Clip[], { iterations, seed, precision, rehearsal, consent, preview, pictures, onStep, signal, stopSignal }?: CloneOptions): Promise<Voice>;
    /**
     * Resumes a stored training that a closed tab, a lost device or a crashed worker interrupted.
     *
     * @param {ResumeOptions} [options]
     * @returns {Promise<Voice>}
     */
    resume({ preview, pictures, onStep, signal, stopSignal }?: ResumeOptions): Promise<Voice>;
    /**
     * Pauses or continues the running training, or changes its preview sentence.
     *
     * @param {TrainingControls} change
     * @returns {Promise<void>}
     */
    updateTraining(change: TrainingControls): Promise<void>;
    /**
     * Ends the worker and loads the same base in a new one, from memory and cache. Voices of the old studio are gone; `studio.storage` is not affected.
     *
     * @param {Pick<LoadOptions, "device" | "onProgress" | "signal">} [changed]
     * @returns {Promise<Studio>} To be used in place of this one.
     */
    restart(changed?: Pick<LoadOptions, "device" | "onProgress" | "signal">): Promise<Studio>;
    /** Bytes of WebAssembly memory, including the weights where the CPU computes. @returns {Promise<number>} */
    memoryBytes(): Promise<number>;
    /** Graphics memory; null on the CPU. @returns {Promise<DeviceMemory | null>} */
    deviceMemory(): Promise<DeviceMemory | null>;
    /**
     * Opens a saved voice.
     *
     * @param {Blob} blob From `voice.save()` or the command line.
     * @param {{ signal?: AbortSignal }} [options]
     * @returns {Promise<Voice>}
     */
    open(blob: Blob, { signal }?: {
        signal?: AbortSignal;
    }): Promise<Voice>;
    /**
     * Measures a recording, and with a `text` also whether it contains these words. Rejects with the reason where it is unfit for training.
     *
     * @param {Audio & { text?: string }} clip
     * @param {{ signal?: AbortSignal }} [options]
     * @returns {Promise<ClipReport>}
     */
    checkClip({ samples, sampleRate, text }: Audio & {
        text?: string;
    }, { signal }?: {
        signal?: AbortSignal;
    }): Promise<ClipReport>;
    /**
     * Decodes a WAV file of any format, mixed down to one channel.
     *
     * @param {Blob} blob
     * @param {{ signal?: AbortSignal }} [options]
     * @returns {Promise<Audio>}
     */
    readWav(blob: Blob, { signal }?: {
        signal?: AbortSignal;
    }): Promise<Audio>;
    /** Ends the worker and frees everything. */
    close(): void;
}
