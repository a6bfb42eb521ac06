// The voices that the worker holds for the page, which knows them by numbers.

import { sha256 } from "./download.js";
import { OwnvoiceError, breathe } from "./rpc.js";

/** @import { Voice } from "../pkg/ownvoice_web.js" */
/** @import { Context } from "./rpc.js" */

/** @type {Map<number, Voice>} */
const voices = new Map();
let next = 1;

/** @param {Voice} voice @param {string} id */
export function hold(voice, id) {
  const handle = next++;
  voices.set(handle, voice);
  return { handle, info: { ...voice.info(), id } };
}

/** @param {number} handle @returns {Voice} */
export function held(handle) {
  const voice = voices.get(handle);
  if (!voice) throw new OwnvoiceError("closed", "this voice has been released");
  return voice;
}

/** @param {number} handle */
export function release(handle) {
  voices.get(handle)?.free();
  voices.delete(handle);
}

/** Names a voice by the hash of its file, so that a file can be matched with speech: the first 16 digits of `sha256sum me.ownvoice`.
 * @param {Uint8Array<ArrayBuffer>} bytes */
export const idOf = async (bytes) => (await sha256(bytes)).slice(0, 16);

/** What is asked before each sentence: tells of it, listens, and says whether to go on. @param {Pick<Context, "signal" | "progress">} context */
export const each = ({ signal, progress }) => async (/** @type {number} */ done, /** @type {number} */ sentences) => {
  progress({ status: "speaking", sentence: done + 1, sentences });
  await breathe();
  return !signal.aborted;
};
