// Sounds as the browser's own Opus in an Ogg file (RFC 7845): a tenth of a WAV file, for mail and messages.

import { OwnvoiceError } from "./js/index.js";

/** @import { Track } from "./shared/track.js" */

const BITS_PER_SECOND = 32_000;
/** Packets of 20 ms in a page of the file: their segments must not be more than 255. */
const MOST_PACKETS = 40;
/** Ogg counts in samples at this rate, whatever the sound's own is. */
const RATE = 48_000;
/** What a decoder leaves out at the beginning, where the encoder does not say. */
const PRE_SKIP = 312;

/** @param {number} sampleRate */
const configOf = (sampleRate) => ({ codec: "opus", sampleRate, numberOfChannels: 1, bitrate: BITS_PER_SECOND });

/** Whether this browser can do it. @param {number} sampleRate @returns {Promise<boolean>} */
export const canEncode = async (sampleRate) => "AudioEncoder" in globalThis && Boolean((await AudioEncoder.isConfigSupported(configOf(sampleRate)).catch(() => null))?.supported);

/** The checksum of Ogg pages, by the leading byte. */
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte << 24;
  for (let bit = 0; bit < 8; bit++) sum = (sum << 1) ^ (sum < 0 ? 0x04c11db7 : 0);
  return sum;
});

/** @param {Uint8Array[]} packets Together at most 255 segments. @param {{ granule: number, number: number, isLast: boolean }} page @returns {Uint8Array<ArrayBuffer>} */
function pageOf(packets, { granule, number, isLast }) {
  const segments = packets.flatMap(({ length }) => [...Array(Math.floor(length / 255)).fill(255), length % 255]);
  const head = 27 + segments.length;
  const page = new Uint8Array(head + packets.reduce((sum, { length }) => sum + length, 0));
  const view = new DataView(page.buffer);
  page.set(new TextEncoder().encode("OggS"));
  page[5] = (number === 0 ? 2 : 0) | (isLast ? 4 : 0);
  view.setBigUint64(6, BigInt(granule), true);
  view.setUint32(14, 1, true); // the only stream
  view.setUint32(18, number, true);
  page[26] = segments.length;
  page.set(segments, 27);
  let at = head;
  for (const packet of packets) {
    page.set(packet, at);
    at += packet.length;
  }
  view.setUint32(22, page.reduce((sum, byte) => (sum << 8) ^ TABLE[(sum >>> 24) ^ byte], 0) >>> 0, true);
  return page;
}

/** @param {string[]} notes Such as `COMMENT=..`. */
function tagsOf(notes) {
  const texts = ["ownvoice", ...notes].map((text) => new TextEncoder().encode(text));
  const number = (/** @type {number} */ value) => new Uint8Array(Uint32Array.of(value).buffer);
  const [vendor, ...comments] = texts.map((text) => [number(text.length), text]);
  const parts = [new TextEncoder().encode("OpusTags"), ...vendor, number(comments.length), ...comments.flat()];
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

/** Encodes a track piece by piece. @param {Track} track @param {string[]} notes @returns {Promise<Blob>} */
export async function opusFile(track, notes) {
  /** @type {Uint8Array[]} */
  let packets = [];
  /** @type {Blob[]} */
  const pages = [];
  let head = Uint8Array.from([...new TextEncoder().encode("OpusHead"), 1, 1, ...new Uint8Array(Uint16Array.of(PRE_SKIP).buffer), 0, 0, 0, 0, 0, 0, 0]);
  let [granule, number] = [0, 2];
  /** @type {Error | null} */
  let failure = null;
  const flush = (isLast = false, at = granule) => {
    pages.push(new Blob([pageOf(packets.splice(0), { granule: at, number: number++, isLast })]));
  };
  const encoder = new AudioEncoder({
    error: (error) => (failure = error),
    output: (chunk, metadata) => {
      const { description } = metadata?.decoderConfig ?? {};
      if (description) head = Uint8Array.from(new Uint8Array(/** @type {ArrayBuffer} */ (ArrayBuffer.isView(description) ? description.buffer : description)));
      if (packets.length === MOST_PACKETS) flush();
      const packet = new Uint8Array(chunk.byteLength);
      chunk.copyTo(packet);
      packets.push(packet);
      granule += Math.round(((chunk.duration ?? 20_000) * RATE) / 1e6);
    },
  });
  let seconds = 0;
  try {
    for (let sound = await track.read(0); sound; sound = await track.read(seconds)) {
      const { samples, sampleRate } = sound;
      if (encoder.state === "unconfigured") encoder.configure(configOf(sampleRate));
      const data = new AudioData({ format: "f32", sampleRate, numberOfFrames: samples.length, numberOfChannels: 1, timestamp: Math.round(seconds * 1e6), data: /** @type {Float32Array<ArrayBuffer>} */ (samples) });
      encoder.encode(data);
      data.close();
      // Memory must not grow. A flush would pad each piece with silence.
      while (encoder.encodeQueueSize > 1) await new Promise((resolve) => encoder.addEventListener("dequeue", resolve, { once: true }));
      seconds += samples.length / sampleRate;
    }
    await encoder.flush();
  } catch (error) {
    failure ??= /** @type {Error} */ (error);
  }
  if (encoder.state !== "closed") encoder.close();
  if (failure) throw new OwnvoiceError("opus-failed", /** @type {Error} */ (failure).message);
  flush(true, Math.round(seconds * RATE) + new DataView(head.buffer).getUint16(10, true));
  const first = [head, tagsOf(notes)].map((packet, index) => new Blob([pageOf([packet], { granule: 0, number: index, isLast: false })]));
  return new Blob([...first, ...pages], { type: "audio/ogg" });
}
