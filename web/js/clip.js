// Sound and its text, as they come in.

/**
 * Mono sound.
 * @typedef {object} Audio
 * @property {Float32Array} samples From -1 to 1.
 * @property {number} sampleRate Hz, from 8,000 to 192,000.
 */
/**
 * A recording and its text.
 * @typedef {object} Clip
 * @property {Float32Array} samples Mono, from -1 to 1.
 * @property {number} sampleRate Hz, from 8,000 to 192,000.
 * @property {string} text The words that are spoken.
 */

export {};
