// A stretch of a video of which nothing is made.

/** @import { LeftOut } from "./pkg/ownvoice_web_lips.js" */

/** One of a part of a video, by the clock of the whole. @param {LeftOut} stretch @param {number} seconds Where the part begins. @returns {LeftOut} */
export function movedBy(stretch, seconds) {
  const [begin, end] = [stretch.begin, stretch.end].map((time) => (time === null ? null : time + seconds));
  return { ...stretch, begin, end };
}
