// 16-bit mono WAV, for what is spoken and for what is recorded.

/** @param {Float32Array} samples Mono, -1 to 1. @param {number} sampleRate Hz @returns {Blob} */
export function wavBlob(samples, sampleRate) {
  const header = new DataView(new ArrayBuffer(44));
  const text = (/** @type {number} */ at, /** @type {string} */ word) => [...word].forEach((letter, i) => header.setUint8(at + i, letter.charCodeAt(0)));
  const dataBytes = samples.length * 2;
  text(0, "RIFF");
  header.setUint32(4, 36 + dataBytes, true);
  text(8, "WAVEfmt ");
  header.setUint32(16, 16, true); // bytes of the format chunk
  header.setUint16(20, 1, true); // PCM
  header.setUint16(22, 1, true); // channels
  header.setUint32(24, sampleRate, true);
  header.setUint32(28, sampleRate * 2, true); // bytes a second
  header.setUint16(32, 2, true); // bytes a frame
  header.setUint16(34, 16, true); // bits a sample
  text(36, "data");
  header.setUint32(40, dataBytes, true);
  const data = new DataView(new ArrayBuffer(dataBytes));
  samples.forEach((sample, i) => data.setInt16(i * 2, Math.round(Math.max(-1, Math.min(1, sample)) * 32767), true));
  return new Blob([header, data], { type: "audio/wav" });
}
