/**
 * Origin of a file, in its RIFF INFO.
 */
export type Origin = {
    /**
     * The program that made it.
     */
    ISFT?: string;
    /**
     * A comment.
     */
    ICMT?: string;
};
/**
 * Returns a 16-bit WAV file.
 *
 * @param {Float32Array} samples Mono, from -1 to 1.
 * @param {number} sampleRate Hz
 * @param {Origin} [origin]
 * @returns {Blob}
 */
export declare function wavBlob(samples: Float32Array, sampleRate: number, origin?: Origin): Blob;
