/**
 * Mono sound.
 */
export type Audio = {
    /**
     * From -1 to 1.
     */
    samples: Float32Array;
    /**
     * Hz, from 8,000 to 192,000.
     */
    sampleRate: number;
};
/**
 * A recording and its text.
 */
export type Clip = {
    /**
     * Mono, from -1 to 1.
     */
    samples: Float32Array;
    /**
     * Hz, from 8,000 to 192,000.
     */
    sampleRate: number;
    /**
     * The words that are spoken.
     */
    text: string;
};
/**
 * A stored recording.
 */
export type Recording = {
    /**
     * Any text; a recording of the same id is replaced.
     */
    id: string;
    /**
     * The words that are spoken.
     */
    text: string;
    /**
     * Mono, from -1 to 1.
     */
    samples: Float32Array;
    /**
     * Hz
     */
    sampleRate: number;
};
export {};
