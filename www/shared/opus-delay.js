// The samples that an Opus encoder added, which Chromium cuts more than once.
//
// In MP4, edit list and codec header (`dOps`) state the same 312 samples, and Chromium 156 cuts both. In Matroska it rounds the track's CodecDelay of 6.5 ms up
// to 7. The statement that is one too many, or rounded, is set to zero before decoding, so that the other one is cut exactly.

/** Where the header of a Matroska file ends at the latest. */
const MATROSKA_HEADER = 4096;
/** The most bytes of a sample description before its codec header. */
const DESCRIPTION = 256;
/** The most entries of an edit list that are read. */
const MAX_EDITS = 16;

/** Changes the delays that a file states, in place, where Chromium would cut more than the encoder added. @param {ArrayBuffer} buffer */
export function cutOpusOnce(buffer) {
  const bytes = new Uint8Array(buffer);
  const view = new DataView(buffer);
  const text = (/** @type {number} */ at, /** @type {number} */ length) => String.fromCharCode(...bytes.subarray(at, at + length));
  const found = (/** @type {string} */ name, /** @type {number} */ from, to = bytes.length) => {
    const end = Math.min(to, bytes.length - name.length + 1);
    for (let at = bytes.indexOf(name.charCodeAt(0), from); at >= 0 && at < end; at = bytes.indexOf(name.charCodeAt(0), at + 1)) if (text(at, name.length) === name) return at;
    return -1;
  };
  if (text(4, 4) === "ftyp") {
    let after = 0;
    for (let at = found("stsd", 8); at >= 0; at = found("stsd", at + 4)) {
      if (text(at + 16, 4) === "Opus") {
        const codec = found("dOps", at + 20, at + DESCRIPTION);
        // The edit list of a track stands before its sample descriptions, and after those of the track before.
        const isEdited = beginnings(view, found("elst", after, at)).some((from) => from > 0);
        if (codec >= 0 && codec + 8 <= bytes.length && isEdited) view.setUint16(codec + 6, 0);
      }
      after = at;
    }
  } else if (text(0, 4) === "\x1aE\xdf\xa3" && found("OpusHead", 0, MATROSKA_HEADER) >= 0) {
    const at = found("\x56\xaa", 0, MATROSKA_HEADER);
    const length = bytes[at + 2] - 0x80;
    if (at >= 0 && length >= 1 && length <= 8) bytes.fill(0, at + 3, at + 3 + length);
  }
}

/** Where the sound of each edit begins, in the units of the track. @param {DataView} view @param {number} at of the list's name, or -1 */
function beginnings(view, at) {
  if (at < 0 || at + 12 > view.byteLength) return [];
  const isLong = view.getUint8(at + 4) === 1;
  const [entry, first] = isLong ? [20, at + 20] : [12, at + 16];
  const count = Math.min(view.getUint32(at + 8), MAX_EDITS);
  const places = Array.from({ length: count }, (_, index) => first + index * entry).filter((place) => place + (isLong ? 8 : 4) <= view.byteLength);
  return places.map((place) => (isLong ? Number(view.getBigInt64(place)) : view.getInt32(place)));
}
