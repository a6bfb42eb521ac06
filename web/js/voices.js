// The voices that the worker holds for the page, which refers to them by handles.

import { sha256 } from "./download.js";
import { OwnvoiceError } from "./errors.js";
import { betweenParts } from "./rpc.js";

/** @import { Voice } from "../pkg/ownvoice_web.js" */
/** @import { Context } from "./rpc.js" */
/** @import { SayProgress } from "./speech.js" */

/** `uses` counts the calls under way: a voice cannot be freed while it speaks. @typedef {{ voice: Voice, uses: number, released: boolean }} Held */

export class Voices {
  /** @type {Map<number, Held>} */
  #held = new Map();
  #nextHandle = 1;

  /** Keeps a voice until it is released. @param {Voice} voice @param {string} id */
  hold(voice, id) {
    const handle = this.#nextHandle++;
    this.#held.set(handle, { voice, uses: 0, released: false });
    return { handle, info: { ...voice.info(), id } };
  }

  /** Calls `work` with a voice, which is not freed before `work` ends. @template T @param {number} handle @param {(voice: Voice) => Promise<T>} work @returns {Promise<T>} */
  async using(handle, work) {
    const held = this.#held.get(handle);
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
  release(handle) {
    const held = this.#held.get(handle);
    if (!held) return;
    this.#held.delete(handle);
    held.released = true;
    freeUnused(held);
  }
}

/** @param {Held} held */
function freeUnused({ voice, uses, released }) {
  if (released && uses === 0) voice.free();
}

/** Returns the id of a voice: the first 16 digits of its file's SHA-256, by which speech can be matched with the file.
 * @param {Uint8Array<ArrayBuffer>} bytes */
export const idOf = async (bytes) => (await sha256(bytes)).slice(0, 16);

/** Returns the callback before each sentence. @param {Pick<Context<SayProgress>, "signal" | "progress">} context */
export const reportSentences = (context) =>
  betweenParts(context, (done, sentences) => ({ status: /** @type {const} */ ("speaking"), sentence: done + 1, sentences }));
