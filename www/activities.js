// What this page does. Learning, recording and measuring exclude each other; speaking is another activity beside them.

import { Activity } from "./shared/activity.js";
import { mute } from "./shared/player.js";
import { update } from "./state.js";

/** @import { Name, Speaker } from "./state.js" */

/** @type {readonly Name[]} */
const FROM_IDLE = ["learning", "profile", "precision", "switching", "openingVoice"];

/** @type {Activity<Name>} */
export const activity = new Activity(
  {
    unloaded: ["loading"],
    loading: ["idle", "failed"],
    failed: [],
    idle: ["opening", ...FROM_IDLE],
    opening: ["recording", "idle"],
    recording: ["checking", "idle"],
    checking: ["listening", "idle"],
    listening: ["recording", "idle", ...FROM_IDLE],
    learning: ["idle"],
    profile: ["idle"],
    precision: ["idle"],
    switching: ["idle"],
    openingVoice: ["idle"],
  },
  {
    first: "unloaded",
    idle: "idle",
    onChange(current) {
      // The microphone must not hear the page.
      mute(isHearing(current));
      if (isHearing(current)) speech.end();
      update({ activity: current });
    },
  },
);

/** @type {Activity<Speaker>} */
export const speech = new Activity(
  { silent: ["base", "mine"], base: ["mine", "silent"], mine: ["base", "silent"] },
  { first: "silent", idle: "silent", onChange: (speaker) => update({ speaker }) },
);

/** Whether the microphone hears what will be a recording, or is about to. @param {Name} current */
export const isHearing = (current) => current === "opening" || current === "recording";

/** Whether the card must stay: a sentence is being recorded or checked. @param {Name} current */
export const isAtCard = (current) => isHearing(current) || current === "checking";
