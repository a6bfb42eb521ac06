// Serializes plain values that contain typed arrays, and back.
//
//   32 bytes      SHA-256 of the rest
//    4 bytes      length of the JSON, little endian
//   JSON          with each array replaced by { "array": its type, "at": its offset in bytes from the first array, "length": its elements }
//   the arrays    one after the other, each at a multiple of 4 bytes

/** @type {{ [kind: string]: Float32ArrayConstructor | Uint8ArrayConstructor }} */
const KINDS = { Float32Array, Uint8Array };
const HASH = 32;
const HEAD = HASH + 4;

/** Rounds up to a multiple of 4. @param {number} length */
const aligned = (length) => Math.ceil(length / 4) * 4;

/** Returns the bytes of a value. @param {unknown} value @returns {Promise<Uint8Array<ArrayBuffer>>} */
export async function serialize(value) {
  /** @type {{ at: number, bytes: Uint8Array }[]} */
  const arrays = [];
  let length = 0;
  const text = JSON.stringify(value, (_, part) => {
    const kind = Object.keys(KINDS).find((name) => part instanceof KINDS[name]);
    if (!kind) return part;
    const bytes = new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
    const at = length;
    arrays.push({ at, bytes });
    length += aligned(bytes.length);
    return { array: kind, at, length: part.length };
  });
  const json = new TextEncoder().encode(text);
  const begin = aligned(HEAD + json.length);
  const file = new Uint8Array(begin + length);
  new DataView(file.buffer).setUint32(HASH, json.length, true);
  file.set(json, HEAD);
  for (const { at, bytes } of arrays) file.set(bytes, begin + at);
  file.set(await hash(file));
  return file;
}

/** Returns the value, or undefined where the file is truncated or damaged. @param {ArrayBuffer} file @returns {Promise<any>} */
export async function deserialize(file) {
  const bytes = new Uint8Array(file);
  if (bytes.length < HEAD) return undefined;
  const expected = await hash(bytes);
  if (expected.some((byte, i) => byte !== bytes[i])) return undefined;
  const length = new DataView(file).getUint32(HASH, true);
  const begin = aligned(HEAD + length);
  return JSON.parse(new TextDecoder().decode(bytes.subarray(HEAD, HEAD + length)), (_, part) => {
    const kind = KINDS[part?.array];
    return kind ? new kind(file.slice(begin + part.at, begin + part.at + part.length * kind.BYTES_PER_ELEMENT)) : part;
  });
}

/** Returns the SHA-256 of all after the hash. @param {Uint8Array<ArrayBuffer>} file */
const hash = async (file) => new Uint8Array(await crypto.subtle.digest("SHA-256", file.subarray(HASH)));
