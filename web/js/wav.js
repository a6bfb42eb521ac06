// Writes 16-bit mono WAV files.

/**
 * Origin of a file, in its RIFF INFO.
 * @typedef {object} Origin
 * @property {string} [ISFT] The program that made it.
 * @property {string} [ICMT] A comment.
 */

/**
 * Returns a 16-bit WAV file.
 *
 * @param {Float32Array | Blob} samples Mono, from -1 to 1; or those that `pcm` has converted, one after the other.
 * @param {number} sampleRate Hz
 * @param {Origin} [origin]
 * @returns {Blob}
 */
export function wavBlob(samples, sampleRate, origin = {}) {
  const format = new DataView(new ArrayBuffer(16));
  format.setUint16(0, 1, true); // PCM
  format.setUint16(2, 1, true); // channels
  format.setUint32(4, sampleRate, true);
  format.setUint32(8, sampleRate * 2, true); // bytes per second
  format.setUint16(12, 2, true); // bytes per frame
  format.setUint16(14, 16, true); // bits per sample
  const chunks = [...chunk("fmt ", format), ...chunk("data", samples instanceof Blob ? samples : pcm(samples))];
  const notes = Object.entries(origin).map(([name, words]) => new Blob(chunk(name, new TextEncoder().encode(`${words}\0`))));
  // After the samples, because some readers expect those at byte 44.
  if (notes.length) chunks.push(...chunk("LIST", new Blob(["INFO", ...notes])));
  return new Blob(chunk("RIFF", new Blob(["WAVE", ...chunks])), { type: "audio/wav" });
}

/** Converts samples to 16 bits. @internal @param {Float32Array} samples */
export function pcm(samples) {
  const data = new DataView(new ArrayBuffer(samples.length * 2));
  for (let i = 0; i < samples.length; i++) data.setInt16(i * 2, Math.round(Math.max(-1, Math.min(1, samples[i])) * 32767), true);
  return data;
}

/** Returns a RIFF chunk: name, length and bytes, padded to an even length. @param {string} name @param {Blob | DataView<ArrayBuffer> | Uint8Array<ArrayBuffer>} bytes @returns {BlobPart[]} */
function chunk(name, bytes) {
  const length = bytes instanceof Blob ? bytes.size : bytes.byteLength;
  const size = new DataView(new ArrayBuffer(4));
  size.setUint32(0, length, true);
  return [name, size, bytes, new Uint8Array(length % 2)];
}
