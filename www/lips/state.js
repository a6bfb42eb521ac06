// The state of lips.html.

import { createStore } from "../shared/page.js";

/** @import { Loading } from "../shared/page.js" */
/** @import { LeftOut, LipSpeech, LipStep, LipTuning } from "./pkg/ownvoice_web_lips.js" */
/** @typedef {{ code?: string, message: string, found?: number }} Failure */

/** Value of the learned voice in the list of voices; it has no name. */
export const OWN_VOICE = "";

/**
 * A video with sound, to be learned from.
 * @typedef {object} Take
 * @property {string | number} name The name of its file, or its number where it was recorded.
 * @property {number[]} ids Ids of its parts in the worker.
 * @property {number} seconds Seconds of it that can be learned from.
 * @property {number} windows Pieces of a few seconds.
 * @property {LeftOut[]} leftOut
 * @property {Failure | null} error Why nothing can be learned from it.
 */

/** What the page does. `opening`, `filming` and `reading` make a silent video to be spoken; the activities from `asking` on belong to teaching.
 * @typedef {"unloaded" | "loading" | "failed" | "idle" | "opening" | "filming" | "reading" | "speaking" | "asking" | "recording" | "taking" | "learning" | "forgetting"} Name */

/**
 * @typedef {object} State
 * @property {Name} activity
 * @property {Loading} loading
 * @property {Failure | null} loadError Why the page could not start, or has ended.
 * @property {string[]} speakers
 * @property {number} part The part of a file that has been read.
 * @property {number | null} faces Faces that were found last; null before a picture was searched.
 * @property {number} pictures Pictures of the video to be spoken.
 * @property {boolean} isCameraLost
 * @property {Failure | null} filmError
 * @property {Failure | null} speakError
 * @property {LipSpeech | null} speech
 * @property {number} leastWindows The least that can be learned from.
 * @property {Take[]} takes
 * @property {number} recorded How many takes were recorded so far.
 * @property {MediaStream | null} recording
 * @property {string | number} taking The name of the take that is being read.
 * @property {Failure | null} teachError
 * @property {LipStep | null} step The last training step.
 * @property {number[]} heldOut Held-out losses; the first is from before the training.
 * @property {number} startedMs When the training started.
 * @property {{ tuning: LipTuning, file: Blob } | null} own The learned voice.
 */

/** @type {State} */
const initial = {
  activity: "unloaded",
  loading: { key: "load.starting", values: {}, part: null },
  loadError: null,
  speakers: [],
  part: 0,
  faces: null,
  pictures: 0,
  isCameraLost: false,
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
  startedMs: 0,
  own: null,
};

export const { state, update, drawWith } = createStore(initial);
