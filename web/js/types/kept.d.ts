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
    /** @param {Remote} remote */
    constructor(remote: Remote);
    /** @returns {Promise<Recording[]>} */
    recordings(): Promise<Recording[]>;
    /** @param {Recording} recording @returns {Promise<void>} Resolves once it is on disk; fails with `storage-full` where there is no room. */
    put({ id, text, samples, sampleRate }: Recording): Promise<void>;
    /** @param {string} id @returns {Promise<void>} */
    remove(id: string): Promise<void>;
    /**
     * Where the last training stood (`studio.resume` goes on with it), and the voice that it made (`studio.open` opens it).
     * @returns {Promise<{ checkpoint: { iteration: number, iterations: number } | null, voice: Blob | null }>}
     */
    training(): Promise<{
        checkpoint: {
            iteration: number;
            iterations: number;
        } | null;
        voice: Blob | null;
    }>;
    /** @returns {Promise<Usage>} */
    usage(): Promise<Usage>;
    /** Asks the browser not to make room of it; some ask the visitor. Best when there is something to lose. @returns {Promise<boolean>} Whether it promised. */
    persist(): Promise<boolean>;
    /** Forgets everything. @returns {Promise<void>} */
    clear(): Promise<void>;
}
