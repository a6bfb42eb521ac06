// Types of sound and of recordings.

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
/**
 * A stored recording.
 * @typedef {object} Recording
 * @property {string} id Any text; a recording of the same id is replaced.
 * @property {string} text The words that are spoken.
 * @property {Float32Array} samples Mono, from -1 to 1.
 * @property {number} sampleRate Hz
 */

export {};
