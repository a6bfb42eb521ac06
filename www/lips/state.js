// The state of the page of lips.

/** @import { Failure } from "./dom.js" */
/** @import { LeftOut, LipSpeech, LipStep, LipTuning } from "./pkg/ownvoice_web_lips.js" */
/** @import { Key } from "./words.js" */

/** In the list of voices, that which was learned; it has no name. */
export const OWN = "";

/**
 * A video with sound, to be learned from.
 * @typedef {object} Take
 * @property {string | number} name Of its file, or its number where it was recorded.
 * @property {number[]} ids Of its parts in the worker.
 * @property {number} seconds Of it that are learned from.
 * @property {number} windows Pieces of a few seconds.
 * @property {LeftOut[]} leftOut
 * @property {Failure | null} error Why nothing can be learned from it.
 */

/**
 * @typedef {object} State
 * @property {{ status: "loading" | "ready" } | { status: "failed", error: Failure }} load
 * @property {{ key: Key, values: { [name: string]: string | number } }} loading Its words.
 * @property {number | null} loaded The part that is there.
 * @property {string[]} speakers
 * @property {"idle" | "opening" | "filming" | "reading" | "speaking" | "asking" | "recording" | "taking" | "learning"} work The last four teach.
 * @property {number} part How much of a file is read.
 * @property {number | null} faces That were found last; null before a picture was searched.
 * @property {number} pictures That were seen.
 * @property {boolean} lost Whether the camera went away.
 * @property {Failure | null} filmError
 * @property {Failure | null} speakError
 * @property {LipSpeech | null} speech
 * @property {number} leastWindows Without which nothing is learned.
 * @property {Take[]} takes
 * @property {number} recorded Takes that were recorded so far.
 * @property {MediaStream | null} recording
 * @property {string | number} taking The name of the take that is read.
 * @property {Failure | null} teachError
 * @property {LipStep | null} step Of the learning.
 * @property {number[]} heldOut Losses of what is held out, first before anything was learned.
 * @property {number} begun When the learning began, in ms.
 * @property {{ tuning: LipTuning, file: Blob } | null} own What was learned.
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
  leastWindows: 1,
  takes: [],
  recorded: 0,
  recording: null,
  taking: "",
  teachError: null,
  step: null,
  heldOut: [],
  begun: 0,
  own: null,
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
