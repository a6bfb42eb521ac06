export type Origin = {
    ISFT?: string;
    ICMT?: string;
};
/** What a program reads of a file's origin: the tool that made it, and a comment (RIFF INFO). @typedef {{ ISFT?: string, ICMT?: string }} Origin */
/** @param {Float32Array} samples Mono, -1 to 1. @param {number} sampleRate Hz @param {Origin} [origin] @returns {Blob} */
export declare function wavBlob(samples: Float32Array, sampleRate: number, origin?: Origin): Blob;
