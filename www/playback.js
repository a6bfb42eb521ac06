// Plays what the page shows, and redraws it when it ends.

import { play, position, stop } from "./play.js";
import { update } from "./state.js";

/** @import { Sound } from "./play.js" */

/** @param {string} key @param {Sound | null | undefined} audio */
export function togglePlaying(key, audio) {
  if (position(key) !== null) return stop();
  playFrom(key, audio, 0);
}

/** @param {string} key @param {Sound | null | undefined} audio @param {number} part Where it begins, 0 to 1. */
export function playFrom(key, audio, part) {
  if (!audio?.samples.length) return;
  play(key, audio, () => update({}), part);
  update({});
}
