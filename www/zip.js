// Zip files: written without compression, since sound hardly compresses, and read as others write them.

import { OwnvoiceError } from "./js/errors.js";

const [LOCAL, CENTRAL, END] = [0x04034b50, 0x02014b50, 0x06054b50];
/** Names are UTF-8. */
const UTF8 = 0x800;
const DEFLATED = 8;
/** A comment may follow the record at the end. */
const MAX_END = 22 + 0xffff;
/** Far more than recordings take: a small file may claim to unpack to anything. */
const MAX_BYTES = 1e9;

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});
/** @param {Uint8Array} bytes */
const crc32 = (bytes) => ~bytes.reduce((crc, byte) => TABLE[(crc ^ byte) & 255] ^ (crc >>> 8), -1) >>> 0;

/** Lays numbers out in little endian. @param {[value: number, bytes: 2 | 4][]} fields */
function record(fields) {
  const view = new DataView(new ArrayBuffer(fields.reduce((sum, [, bytes]) => sum + bytes, 0)));
  let at = 0;
  for (const [value, bytes] of fields) {
    if (bytes === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += bytes;
  }
  return view;
}

/** @param {{ name: string, content: Blob }[]} files @returns {Promise<Blob>} */
export async function zip(files) {
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const { name, content } of files) {
    const path = new TextEncoder().encode(name);
    const crc = crc32(new Uint8Array(await content.arrayBuffer()));
    // Version, flags, method, time and date, checksum, both sizes, lengths of name and extra field.
    /** @type {[number, 2 | 4][]} */
    const shared = [[20, 2], [UTF8, 2], [0, 2], [0, 2], [0x21, 2], [crc, 4], [content.size, 4], [content.size, 4], [path.length, 2], [0, 2]];
    parts.push(record([[LOCAL, 4], ...shared]), path, content);
    directory.push(record([[CENTRAL, 4], [20, 2], ...shared, [0, 2], [0, 2], [0, 2], [0, 4], [offset, 4]]), path);
    offset += 30 + path.length + content.size;
  }
  const size = new Blob(directory).size;
  const end = record([[END, 4], [0, 4], [files.length, 2], [files.length, 2], [size, 4], [offset, 4], [0, 2]]);
  return new Blob([...parts, ...directory, end], { type: "application/zip" });
}

const corrupt = () => new OwnvoiceError("zip-unreadable", "this is not a zip file, or it is damaged");

/** @param {Blob} file @returns {Promise<{ name: string, content: Blob }[]>} The files, without folders. */
export async function unzip(file) {
  try {
    return await read(file);
  } catch {
    throw corrupt();
  }
}

/** @param {Blob} file */
async function read(file) {
  const tail = new DataView(await file.slice(-MAX_END).arrayBuffer());
  let end = tail.byteLength - 22;
  while (tail.getUint32(end, true) !== END) end--;
  const [count, size, start] = [tail.getUint16(end + 10, true), tail.getUint32(end + 12, true), tail.getUint32(end + 16, true)];
  const directory = new DataView(await file.slice(start, start + size).arrayBuffer());
  const found = [];
  let total = 0;
  for (let at = 0, n = 0; n < count; n++) {
    if (directory.getUint32(at, true) !== CENTRAL) throw corrupt();
    const [method, crc, packed, unpacked] = [directory.getUint16(at + 10, true), directory.getUint32(at + 16, true), directory.getUint32(at + 20, true), directory.getUint32(at + 24, true)];
    const [length, extra, comment] = [28, 30, 32].map((field) => directory.getUint16(at + field, true));
    const name = new TextDecoder().decode(new Uint8Array(directory.buffer, at + 46, length));
    const local = directory.getUint32(at + 42, true);
    at += 46 + length + extra + comment;
    if (name.endsWith("/")) continue;
    total += unpacked;
    if (total > MAX_BYTES) throw corrupt();
    const head = new DataView(await file.slice(local, local + 30).arrayBuffer());
    const begin = local + 30 + head.getUint16(26, true) + head.getUint16(28, true);
    const content = await unpack(file.slice(begin, begin + packed), method, unpacked);
    if (crc32(new Uint8Array(await content.arrayBuffer())) !== crc) throw corrupt();
    found.push({ name, content });
  }
  return found;
}

/** @param {Blob} packed @param {number} method @param {number} size The size that the file claims. */
async function unpack(packed, method, size) {
  if (method !== DEFLATED) return packed;
  // Not every browser iterates over a stream.
  const reader = packed.stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const parts = [];
  for (let left = size; ; ) {
    const { done, value } = await reader.read();
    if (done) return new Blob(parts);
    left -= value.length;
    if (left < 0) throw corrupt();
    parts.push(/** @type {Uint8Array<ArrayBuffer>} */ (value));
  }
}
