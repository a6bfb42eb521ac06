// What the page of things does: one activity at a time. The camera's picture is named beside them.

import { describe } from "../js/errors.js";
import { Activity } from "../shared/activity.js";
import { update } from "./state.js";

/** @import { Task } from "../shared/activity.js" */
/** @import { Failure, Name, State } from "./state.js" */

/** @type {Activity<Name>} */
export const activity = new Activity(
  {
    unloaded: ["loading"],
    loading: ["idle", "failed"],
    failed: [],
    idle: ["asking", "filming", "reading", "learning", "opening", "forgetting", "failed"],
    asking: ["idle", "forgetting", "failed"],
    filming: ["idle", "forgetting", "failed"],
    reading: ["idle", "forgetting", "failed"],
    learning: ["idle", "forgetting", "failed"],
    opening: ["idle", "forgetting", "failed"],
    forgetting: ["idle", "failed"],
  },
  { first: "unloaded", idle: "idle", onChange: (current) => update({ activity: current }) },
);

/**
 * Does work as an activity. Returns whether it was allowed and has succeeded.
 * @param {Name} name @param {(task: Task<Name>) => Promise<void>} work @param {(failure: Failure | null) => Partial<State>} onFailure Changes of the state after a
 * failure; null where the visitor has cancelled.
 */
export async function perform(name, work, onFailure) {
  try {
    return await activity.perform(name, work);
  } catch (error) {
    const failure = describe(error);
    update(onFailure(failure.code === "cancelled" ? null : failure));
    return false;
  }
}
