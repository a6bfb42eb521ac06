// What the page of lips does: one activity at a time.

import { describe } from "../js/errors.js";
import { Activity } from "../shared/activity.js";
import { stopPlaying } from "../shared/player.js";
import { update } from "./state.js";

/** @import { Task } from "../shared/activity.js" */
/** @import { Failure, Name, State } from "./state.js" */

/** @type {Activity<Name>} */
export const activity = new Activity(
  {
    unloaded: ["loading"],
    loading: ["idle", "failed"],
    failed: [],
    idle: ["opening", "reading", "speaking", "asking", "taking", "learning", "forgetting", "failed"],
    opening: ["filming", "idle", "failed"],
    filming: ["idle", "failed"],
    reading: ["idle", "failed"],
    speaking: ["idle", "failed"],
    asking: ["recording", "idle", "failed"],
    recording: ["taking", "idle", "failed"],
    taking: ["idle", "failed"],
    learning: ["idle", "failed"],
    forgetting: ["idle", "failed"],
  },
  {
    first: "unloaded",
    idle: "idle",
    onChange(current) {
      if (current !== "idle") stopPlaying();
      update({ activity: current });
    },
  },
);

/** @param {unknown} error @returns {Failure | null} Null where the visitor has cancelled. */
export function unlessCancelled(error) {
  const failure = describe(error);
  return failure.code === "cancelled" ? null : failure;
}

/**
 * Does work as an activity. Returns whether it was allowed and has succeeded.
 * @param {Name} name @param {(task: Task<Name>) => Promise<void>} work @param {(failure: Failure | null) => Partial<State>} onFailure Changes of the state after a failure.
 */
export async function perform(name, work, onFailure) {
  try {
    return await activity.perform(name, work);
  } catch (error) {
    update(onFailure(unlessCancelled(error)));
    return false;
  }
}
