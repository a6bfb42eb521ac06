/** @param {Float32Array} samples Mono, -1 to 1. @param {number} sampleRate Hz @returns {Blob} */
export declare function wavBlob(samples: Float32Array, sampleRate: number): Blob;
