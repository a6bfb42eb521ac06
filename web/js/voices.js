// The voices that the worker holds for the page, which refers to them by handles.

import { sha256 } from "./download.js";
import { OwnvoiceError } from "./errors.js";
import { breathe } from "./rpc.js";

/** @import { Voice } from "../pkg/ownvoice_web.js" */
/** @import { Context } from "./rpc.js" */

/** `uses` are calls under way: a voice cannot be freed while it speaks. @type {Map<number, { voice: Voice, uses: number, released: boolean }>} */
const voices = new Map();
let next = 1;

/** @param {Voice} voice @param {string} id */
export function hold(voice, id) {
  const handle = next++;
  voices.set(handle, { voice, uses: 0, released: false });
  return { handle, info: { ...voice.info(), id } };
}

/** Calls `work` with a voice, which is not freed before it ends. @template T @param {number} handle @param {(voice: Voice) => Promise<T>} work @returns {Promise<T>} */
export async function using(handle, work) {
  const held = voices.get(handle);
  if (!held) throw new OwnvoiceError("closed", "this voice has been released");
  held.uses += 1;
  try {
    return await work(held.voice);
  } finally {
    held.uses -= 1;
    freeUnused(held);
  }
}

/** Invalidates a handle. @param {number} handle */
export function release(handle) {
  const held = voices.get(handle);
  if (!held) return;
  voices.delete(handle);
  held.released = true;
  freeUnused(held);
}

/** @param {{ voice: Voice, uses: number, released: boolean }} held */
function freeUnused({ voice, uses, released }) {
  if (released && uses === 0) voice.free();
}

/** The id of a voice: the first 16 digits of its file's SHA-256, so that a file can be matched with speech.
 * @param {Uint8Array<ArrayBuffer>} bytes */
export const idOf = async (bytes) => (await sha256(bytes)).slice(0, 16);

/** The callback before each sentence: reports it, lets messages in, and returns whether to continue. @param {Pick<Context, "signal" | "progress">} context */
export const each = ({ signal, progress }) => async (/** @type {number} */ done, /** @type {number} */ sentences) => {
  progress({ status: "speaking", sentence: done + 1, sentences });
  await breathe();
  return !signal.aborted;
};
