import type { Recording } from "./clip.js";
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
    /** Returns the space in use. @returns {Promise<Usage>} */
    usage(): Promise<Usage>;
    /** Asks the browser not to evict the data; some ask the visitor. @returns {Promise<boolean>} Whether it promised. */
    persist(): Promise<boolean>;
    /** Deletes everything and ends a stored training in any tab, with the error `cancelled`. @returns {Promise<void>} */
    clear(): Promise<void>;
}
