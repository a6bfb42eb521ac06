import type { Clip, Recording } from "./options.js";
/**
 * Space in use.
 */
export type Usage = {
    /**
     * Bytes of recordings, training and voice.
     */
    bytes: number;
    /**
     * Whether the browser has promised not to evict them.
     */
    persistent: boolean;
};
/**
 * The stored part of the last training.
 */
export type StoredTraining = {
    /**
     * Where `studio.resume` would continue.
     */
    checkpoint: {
        iteration: number;
        iterations: number;
    } | null;
    /**
     * The finished voice, for `studio.open`.
     */
    voice: Blob | null;
    /**
     * Voice files made with other bases, which this base cannot open.
     */
    otherVoices: Blob[];
};
/** Recordings and training that outlive the tab, on this machine only. `load({ storage })` makes it. */
export declare class Storage {
    #private;
    /**
     * Deletes everything stored under a name and ends a training that is stored there. It needs no studio.
     *
     * @param {string} name The option `storage` of `load`.
     * @returns {Promise<void>}
     */
    static clear(name: string): Promise<void>;
    /**
     * Returns the space in use under a name. It needs no studio.
     *
     * @param {string} name The option `storage` of `load`.
     * @returns {Promise<Usage>}
     */
    static usage(name: string): Promise<Usage>;
    /** Returns all recordings, in the order of their ids. @returns {Promise<Recording[]>} */
    recordings(): Promise<Recording[]>;
    /**
     * Stores a recording. Resolves once it is on disk; rejects with `storage-full` where there is no space.
     *
     * @param {Recording} recording
     * @returns {Promise<void>}
     */
    put({ id, text, samples, sampleRate }: Recording): Promise<void>;
    /** Deletes a recording. @param {string} id @returns {Promise<void>} */
    remove(id: string): Promise<void>;
    /** Returns the stored part of the last training. @returns {Promise<StoredTraining>} */
    training(): Promise<StoredTraining>;
    /** Returns the clips of the stored training, with which `studio.resume` would continue. @returns {Promise<Clip[]>} */
    trainingClips(): Promise<Clip[]>;
    /** Resolves once no training is running, in any tab. @param {{ signal?: AbortSignal }} [options] @returns {Promise<void>} */
    trainingEnded({ signal }?: {
        signal?: AbortSignal;
    }): Promise<void>;
    /** Deletes a finished voice of a training. @param {string} id Its `info.id`. @returns {Promise<void>} */
    removeVoice(id: string): Promise<void>;
    /**
     * Stores a value of the page's own beside the recordings, for example a voice with its name.
     *
     * @param {string} key
     * @param {unknown} value Plain values, `Uint8Array` and `Float32Array`.
     * @returns {Promise<void>}
     */
    keep(key: string, value: unknown): Promise<void>;
    /** Returns a value that `keep` has stored; undefined where there is none. @param {string} key @returns {Promise<any>} */
    kept(key: string): Promise<any>;
    /** Returns the keys of these values, in order. @returns {Promise<string[]>} */
    keptKeys(): Promise<string[]>;
    /** Deletes such a value. @param {string} key @returns {Promise<void>} */
    removeKept(key: string): Promise<void>;
    /** Keeps the loaded base, so that `studio.openBase` still opens its voices when a newer one has replaced it. @returns {Promise<void>} */
    keepBase(): Promise<void>;
    /** Returns the hashes of the bases that are kept. @returns {Promise<string[]>} */
    keptBases(): Promise<string[]>;
    /** No longer keeps a base. @param {string} hash @returns {Promise<void>} */
    removeBase(hash: string): Promise<void>;
    /** Returns the space in use. @returns {Promise<Usage>} */
    usage(): Promise<Usage>;
    /** Asks the browser not to evict the data; some ask the visitor. @returns {Promise<boolean>} Whether it promised. */
    persist(): Promise<boolean>;
    /** Resolves once everything that was to be written has been, or has failed. @returns {Promise<void>} */
    settled(): Promise<void>;
    /** Deletes everything and ends a stored training in any tab, with the error `cancelled`. @returns {Promise<void>} */
    clear(): Promise<void>;
}
