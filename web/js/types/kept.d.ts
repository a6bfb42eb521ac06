import type { Remote } from "./rpc.js";
export type Recording = {
    id: string;
    text: string;
    samples: Float32Array;
    sampleRate: number;
};
export type Usage = {
    bytes: number;
    persistent: boolean;
};
/** @import { Remote } from "./rpc.js" */
/** @typedef {{ id: string, text: string, samples: Float32Array, sampleRate: number }} Recording */
/** @typedef {{ bytes: number, persistent: boolean }} Usage Bytes of recordings, training and voice; and whether the browser promised not to make room of them. */
/** Recordings and training that outlive the tab, on this machine only. */
export declare class Kept {
    #private;
    /** @param {string} name @param {Remote} remote */
    constructor(name: string, remote: Remote);
    /** Forgets all that was kept under a name, and ends the training that is kept there. It needs no studio, so nothing that fails can prevent it.
     * @param {string} name As `keep` of `load`. @returns {Promise<void>} */
    static clear(name: string): Promise<void>;
    /** @param {string} name As `keep` of `load`. @returns {Promise<Usage>} Without a studio, too. */
    static usage(name: string): Promise<Usage>;
    /** @returns {Promise<Recording[]>} */
    recordings(): Promise<Recording[]>;
    /** @param {Recording} recording @returns {Promise<void>} Resolves once it is on disk; fails with `storage-full` where there is no room. */
    put({ id, text, samples, sampleRate }: Recording): Promise<void>;
    /** @param {string} id @returns {Promise<void>} */
    remove(id: string): Promise<void>;
    /**
     * Where the last training stood (`studio.resume` goes on with it), the voice that it made (`studio.open` opens it), and voices that this base cannot
     * open, as another base made them: files to be saved.
     * @returns {Promise<{ checkpoint: { iteration: number, iterations: number } | null, voice: Blob | null, otherVoices: Blob[] }>}
     */
    training(): Promise<{
        checkpoint: {
            iteration: number;
            iterations: number;
        } | null;
        voice: Blob | null;
        otherVoices: Blob[];
    }>;
    /** @returns {Promise<Usage>} */
    usage(): Promise<Usage>;
    /** Asks the browser not to make room of it; some ask the visitor. Best when there is something to lose. @returns {Promise<boolean>} Whether it promised. */
    persist(): Promise<boolean>;
    /** Forgets everything, and ends the training that is kept, in whichever tab: its error is `cancelled`. @returns {Promise<void>} */
    clear(): Promise<void>;
}
