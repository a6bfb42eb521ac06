// The sampling rate of a compressed recording, from its header.
//
// `decodeAudioData` resamples to the rate of its context, and browsers' resamplers lose the top of the band: of a file at 16 kHz, 12 dB at 7.5 kHz in Chromium.

/** Rates of MPEG-1 audio by their index; MPEG-2 halves them, and MPEG-2.5 halves them again. */
const MPEG = [44_100, 48_000, 32_000];
/** Where the frames of an MP3 file are searched. */
const MAX_JUNK = 1 << 16;

/** Returns the rate in Hz, or `otherwise` where the header is unknown. @param {ArrayBuffer} buffer @param {number} otherwise */
export function sampleRateOf(buffer, otherwise) {
  const rate = stated(new Uint8Array(buffer), new DataView(buffer));
  // What every browser's context accepts.
  return rate !== undefined && rate >= 8000 && rate <= 96_000 ? rate : otherwise;
}

/** @param {Uint8Array} bytes @param {DataView} view @returns {number | undefined} */
function stated(bytes, view) {
  const text = (/** @type {number} */ at, /** @type {number} */ length) => String.fromCharCode(...bytes.subarray(at, at + length));
  const found = (/** @type {string} */ name, from = 0, to = bytes.length) => {
    for (let at = bytes.indexOf(name.charCodeAt(0), from); at >= 0 && at < to; at = bytes.indexOf(name.charCodeAt(0), at + 1)) if (text(at, name.length) === name) return at;
    return -1;
  };
  const has = (/** @type {number} */ end) => end <= bytes.length;
  if (text(0, 4) === "fLaC" && has(22)) return view.getUint32(18) >>> 12;
  if (text(0, 4) === "RIFF") {
    const at = found("fmt ", 12, 4096);
    return at > 0 && has(at + 16) ? view.getUint32(at + 12, true) : undefined;
  }
  if (text(0, 4) === "OggS") {
    const at = found("\x01vorbis", 0, 4096);
    return at > 0 && has(at + 16) ? view.getUint32(at + 12, true) : undefined;
  }
  if (text(4, 4) === "ftyp") {
    // The sample descriptions; that of a picture has another format.
    for (let at = found("stsd"); at > 0 && has(at + 46); at = found("stsd", at + 4)) if (["mp4a", "alac", "fLaC"].includes(text(at + 16, 4))) return view.getUint16(at + 44);
    return undefined;
  }
  if (text(0, 4) === "\x1aE\xdf\xa3") {
    // SamplingFrequency of four or eight bytes. Opus decodes to 48 kHz, whatever its recording had.
    if (found("A_OPUS", 0, 4096) > 0) return undefined;
    for (let at = bytes.indexOf(0xb5); at > 0 && at < 4096 && has(at + 10); at = bytes.indexOf(0xb5, at + 1)) {
      const rate = bytes[at + 1] === 0x84 ? view.getFloat32(at + 2) : bytes[at + 1] === 0x88 ? view.getFloat64(at + 2) : 0;
      if (rate % 5 === 0 && rate >= 8000) return rate;
    }
    return undefined;
  }
  let at = 0;
  if (text(0, 3) === "ID3" && has(10)) at = 10 + [6, 7, 8, 9].reduce((length, i) => (length << 7) | (bytes[i] & 0x7f), 0);
  for (const end = Math.min(at + MAX_JUNK, bytes.length - 3); at < end; at++) {
    if (bytes[at] !== 0xff || (bytes[at + 1] & 0xe0) !== 0xe0) continue;
    const [version, layer] = [(bytes[at + 1] >> 3) & 3, (bytes[at + 1] >> 1) & 3];
    // Layer 0 is AAC in ADTS, whose table of rates is longer.
    if (layer === 0) return [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000][(bytes[at + 2] >> 2) & 15];
    const rate = MPEG[(bytes[at + 2] >> 2) & 3];
    if (layer === 1 && rate && version !== 1) return version === 3 ? rate : version === 2 ? rate / 2 : rate / 4;
  }
  return undefined;
}
