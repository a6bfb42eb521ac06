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
 * @param {Float32Array | Blob} samples Mono, from -1 to 1; or those that `pcm` has converted, one after the other.
 * @param {number} sampleRate Hz
 * @param {Origin} [origin]
 * @returns {Blob}
 */
export declare function wavBlob(samples: Float32Array | Blob, sampleRate: number, origin?: Origin): Blob;
