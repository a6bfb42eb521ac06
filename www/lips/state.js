// What the page of lips knows.

/** @import { Failure } from "./dom.js" */
/** @import { LipSpeech } from "./pkg/ownvoice_web_lips.js" */
/** @import { Key } from "./words.js" */

/**
 * @typedef {object} State
 * @property {{ status: "loading" | "ready" } | { status: "failed", error: Failure }} load
 * @property {{ key: Key, values: { [name: string]: string | number } }} loading Its words.
 * @property {number | null} loaded The part that is there.
 * @property {string[]} speakers
 * @property {"idle" | "opening" | "filming" | "reading" | "speaking"} work
 * @property {number} part How much of a file is read.
 * @property {number | null} faces That were found last; null before a picture was searched.
 * @property {number} pictures That were seen.
 * @property {boolean} lost Whether the camera went away.
 * @property {Failure | null} filmError
 * @property {Failure | null} speakError
 * @property {LipSpeech | null} speech
 */

/** @type {State} */
export const state = {
  load: { status: "loading" },
  loading: { key: "load.starting", values: {} },
  loaded: null,
  speakers: [],
  work: "idle",
  part: 0,
  faces: null,
  pictures: 0,
  lost: false,
  filmError: null,
  speakError: null,
  speech: null,
};

let draw = () => {};

/** @param {() => void} drawing Called after each change. */
export function drawnBy(drawing) {
  draw = drawing;
}

/** @param {Partial<State>} changes */
export function update(changes) {
  Object.assign(state, changes);
  draw();
}
