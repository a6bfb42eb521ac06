// Stretches of a video that are left out.

/** @import { LeftOut } from "./pkg/ownvoice_web_lips.js" */

/** Returns a stretch of a part of a video with the times of the whole video. @param {LeftOut} stretch @param {number} seconds Where the part begins. @returns {LeftOut} */
export function shiftedBy(stretch, seconds) {
  const [begin, end] = [stretch.begin, stretch.end].map((time) => (time === null ? null : time + seconds));
  return { ...stretch, begin, end };
}
