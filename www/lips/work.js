// One thing is done at a time; it can be cancelled, or ended with what there is.

import { describe } from "../js/errors.js";
import { stop as stopPlaying } from "../play.js";
import { state, update } from "./state.js";

/** @import { Failure } from "./dom.js" */
/** @import { State } from "./state.js" */

/** @typedef {{ signal: AbortSignal, stopSignal: AbortSignal }} Signals Cancelled, or ended with what there is. */

let controls = { cancel: new AbortController(), stop: new AbortController() };

export const cancel = () => controls.cancel.abort();
export const stop = () => controls.stop.abort();

/** An error that nobody asked for. @param {unknown} error @returns {Failure | null} */
export function failed(error) {
  const failure = describe(error);
  return failure.code === "cancelled" ? null : failure;
}

/**
 * Does something unless something else is being done. Returns whether it was done.
 * @param {Partial<State>} begun State at its beginning, beside the work.
 * @param {(failure: Failure | null) => Partial<State>} ended State after it failed.
 * @param {State["work"]} work
 * @param {(signals: Signals) => Promise<void>} act
 * @returns {Promise<boolean>}
 */
export async function during(work, begun, ended, act) {
  if (state.work !== "idle") return false;
  stopPlaying();
  controls = { cancel: new AbortController(), stop: new AbortController() };
  update({ ...begun, work, part: 0 });
  try {
    await act({ signal: controls.cancel.signal, stopSignal: controls.stop.signal });
    update({ work: "idle" });
    return true;
  } catch (error) {
    update({ ...ended(failed(error)), work: "idle" });
    return false;
  }
}
