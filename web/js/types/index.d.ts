/// <reference lib="esnext.disposable" />
import { OwnvoiceError } from "./errors.js";
import { Microphone } from "./microphone.js";
import { Speech } from "./speech.js";
import { Storage } from "./storage.js";
import { Voice } from "./voice.js";
import { wavBlob } from "./wav.js";
export { Microphone, OwnvoiceError, Speech, Storage, Voice, wavBlob };
export type Audio = import("./options.js").Audio;
export type BaseFiles = import("./options.js").BaseFiles;
export type Clip = import("./options.js").Clip;
export type Recording = import("./options.js").Recording;
export type Device = import("./device.js").Device;
export type SelfTest = import("./device.js").SelfTest;
export type ErrorCode = import("./errors.js").ErrorCode;
export type CloneOptions = import("./options.js").CloneOptions;
export type Consent = import("./options.js").Consent;
export type LoadOptions = import("./options.js").LoadOptions;
export type Prompt = import("./options.js").Prompt;
export type ResumeOptions = import("./options.js").ResumeOptions;
export type TrainingControls = import("./options.js").TrainingControls;
export type TrainingOptions = import("./options.js").TrainingOptions;
export type Aligning = import("./reports.js").Aligning;
export type CloneProgress = import("./reports.js").CloneProgress;
export type FetchingBase = import("./reports.js").FetchingBase;
export type FetchingProgram = import("./reports.js").FetchingProgram;
export type Finishing = import("./reports.js").Finishing;
export type LoadProgress = import("./reports.js").LoadProgress;
export type LeftOut = import("./reports.js").LeftOut;
export type NotStored = import("./reports.js").NotStored;
export type Picture = import("./reports.js").Picture;
export type PictureTaken = import("./reports.js").PictureTaken;
export type Preview = import("./reports.js").Preview;
export type Recovery = import("./reports.js").Recovery;
export type Starting = import("./reports.js").Starting;
export type TrainingStep = import("./reports.js").TrainingStep;
export type ClipNote = import("./reports.js").ClipNote;
export type ClipReport = import("./reports.js").ClipReport;
export type DeviceMemory = import("./reports.js").DeviceMemory;
export type PrecisionMetrics = import("./reports.js").PrecisionMetrics;
export type PrecisionReport = import("./reports.js").PrecisionReport;
export type PrecisionRow = import("./reports.js").PrecisionRow;
export type Profile = import("./reports.js").Profile;
export type ProfileRow = import("./reports.js").ProfileRow;
export type StoredTraining = import("./storage.js").StoredTraining;
export type Usage = import("./storage.js").Usage;
export type Delivery = import("./speech.js").Delivery;
export type Mel = import("./speech.js").Mel;
export type SayOptions = import("./speech.js").SayOptions;
export type SayProgress = import("./speech.js").SayProgress;
export type Similarity = import("./speech.js").Similarity;
export type SpokenWord = import("./words.js").SpokenWord;
export type StreamOptions = import("./speech.js").StreamOptions;
export type TextWarning = import("./speech.js").TextWarning;
export type VoiceInfo = import("./speech.js").VoiceInfo;
export type Origin = import("./wav.js").Origin;
/**
 * Fetches the program and the base voice, and prepares the device. Without the option `base`, the base is that of the package `ownvoice-base`.
 *
 * @example
 * const abort = new AbortController();
 * const studio = await load({
 *   base: "/models/base/",
 *   device: "auto",
 *   signal: abort.signal,
 *   onProgress(progress) {
 *     if (progress.status === "fetching") console.log(progress.what, progress.loadedBytes);
 *   },
 * });
 * console.log(studio.device.reason);
 * studio.close();
 *
 * @param {LoadOptions} [options]
 * @returns {Promise<Studio>}
 */
export declare const load: (options?: LoadOptions) => Promise<Studio>;
/** A loaded base voice on a device. `load` makes it. */
export declare class Studio {
    #private;
    device: Device;
    /** The base itself as a voice, without training. */
    base: Voice;
    /** Hash of the base: a saved voice opens only on the base that it was made with. */
    hash: string;
    /** The sentences of the option `prompts`. */
    prompts: Prompt[];
    /** Recordings and training that outlive the tab; null without the option `storage`, or where the browser has none. */
    storage: Storage | null;
    /** Why `storage` is null although it was requested: `storage-unavailable`, as in some private windows. */
    storageError: {
        code: string;
        message: string;
    } | null;
    /** Whether the base voice is cached, so that the next visit does not fetch it. */
    cached: boolean;
    /** Resolves when the studio has ended for good: `closed`, or the reason where a worker could not be replaced. */
    ended: Promise<OwnvoiceError>;
    /** The microphone; requires `load({ microphone: true })`. @returns {Microphone} */
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
     * Trains a voice on clips. Where the worker ends meanwhile, the training continues in the next: from the stored checkpoint, or from its beginning.
     *
     * @param {Clip[]} clips About a minute of speech in all; one long recording is cut at its pauses.
     * @param {CloneOptions} [options]
     * @returns {Promise<Voice>}
     */
    clone(clips: Clip[], { iterations, seed, precision, rehearsal, consent, preview, pictures, onStep, signal, stopSignal }?: CloneOptions): Promise<Voice>;
    /**
     * Resumes a stored training that ended before its voice was finished, for example with a closed tab.
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
    /** Returns the bytes of WebAssembly memory, including the weights where the CPU computes. It never shrinks. @returns {Promise<number>} */
    memoryBytes(): Promise<number>;
    /** Returns the graphics memory in use; null on the CPU. @returns {Promise<DeviceMemory | null>} */
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
     * Measures a recording, and with a `text` also whether it contains these words. Rejects with the reason where the recording is unfit for training.
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
    /**
     * Loads another base beside this one, in a worker of its own: one that `storage.keepBase` has kept. Fails with `base-missing` where it is not.
     *
     * @param {string} hash
     * @param {{ signal?: AbortSignal }} [options]
     * @returns {Promise<Studio>}
     */
    openBase(hash: string, { signal }?: {
        signal?: AbortSignal;
    }): Promise<Studio>;
    /** Ends the worker and frees everything. */
    close(): void;
    /** Closes the studio at the end of a block with `await using`. @returns {Promise<void>} */
    [Symbol.asyncDispose](): Promise<void>;
}
