// The state of nets.html.

import { createStore } from "../shared/page.js";

/** @import { Loading } from "../shared/page.js" */
/** @import { NetNamed, NetStep, NetTuning } from "./pkg/ownvoice_web_nets.js" */
/** @import { Picture } from "./pictures.js" */
/** @typedef {{ code?: string, message: string, found?: number }} Failure */

/**
 * A thing that is shown.
 * @typedef {object} Thing
 * @property {string} id
 * @property {string} name As the visitor wrote it; empty where nothing was written.
 * @property {string[]} thumbnails Addresses of its pictures.
 * @property {Failure | null} error Why pictures could not be added.
 */

/** What the page does. @typedef {"unloaded" | "loading" | "failed" | "idle" | "asking" | "filming" | "reading" | "learning" | "opening" | "forgetting"} Name */

/**
 * @typedef {object} State
 * @property {Name} activity
 * @property {Loading} loading
 * @property {Failure | null} loadError Why the page could not start, or has ended.
 * @property {number} side Side of the pictures, in pixels.
 * @property {boolean} isKept Whether pictures and net outlive the tab.
 * @property {MediaStream | null} camera
 * @property {boolean} isCameraLost
 * @property {Thing[]} things
 * @property {number} made How many things there ever were.
 * @property {string} shown Id of the thing that is being filmed or read.
 * @property {number} part The part of it, or of the pictures to be learned, that is done.
 * @property {Failure | null} showError
 * @property {{ pictures: number, isResumed: boolean } | null} looking The learning in progress.
 * @property {NetStep | null} step The last training step.
 * @property {number[]} losses Its loss and those before it.
 * @property {number | null} accuracy The last share of held-out pictures that were named right.
 * @property {Failure | null} learnError
 * @property {{ tuning: NetTuning, file: Blob } | null} net The net that has learned.
 * @property {Picture | null} picture What is named in place of the camera's picture.
 * @property {NetNamed | null} seen
 * @property {Failure | null} seeError
 * @property {Failure | null} keepError
 * @property {boolean} isDeleted
 */

/** @type {State} */
export const initial = {
  activity: "unloaded",
  loading: { key: "load.starting", values: {}, part: null },
  loadError: null,
  side: 1,
  isKept: true,
  camera: null,
  isCameraLost: false,
  things: [],
  made: 0,
  shown: "",
  part: 0,
  showError: null,
  looking: null,
  step: null,
  losses: [],
  accuracy: null,
  learnError: null,
  net: null,
  picture: null,
  seen: null,
  seeError: null,
  keepError: null,
  isDeleted: false,
};

export const { state, update, drawWith } = createStore(initial);
