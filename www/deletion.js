// Deletion of all that this page has put on this machine: at any moment, and with no engine to ask.

import { stopLoading } from "./engine.js";
import { Kept } from "./js/index.js";
import { forgetSite } from "./offline.js";
import { stop as stopPlaying } from "./play.js";
import { closeMicrophone } from "./recording.js";
import { endSpeaking } from "./speaking.js";
import { KEEP, initial, state, update, weigh } from "./state.js";
import { forgetLanguage, t } from "./strings.js";
import { cancelTraining } from "./training.js";

/** @import { Failure } from "./state.js" */

/** An engine that hangs is not waited for. */
const LONGEST_WAIT_MS = 20_000;

/** Other tabs of this page, which hold recordings and voices too. */
const tabs = new BroadcastChannel("ownvoice-deleted");
tabs.onmessage = () => {
  forgetHere();
  update({ deletion: { status: "done", error: null } });
  weigh();
};

export async function deleteAll() {
  if (!confirm(t("kept.sure"))) return;
  const ended = forgetHere();
  tabs.postMessage(null);
  update({ deletion: { status: "running", error: null } });
  await removeAll();
  // Whatever was being written when it was told to end is written by then.
  await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, LONGEST_WAIT_MS))]);
  update({ deletion: { status: "done", error: await removeAll() } });
  await weigh();
}

/** Each part, whether or not another fails. @returns {Promise<Failure | null>} The first that failed. */
async function removeAll() {
  let failed = null;
  for (const remove of [() => Kept.clear(KEEP), forgetSite, forgetLanguage]) {
    try {
      await remove();
    } catch (error) {
      failed ??= /** @type {Failure} */ (error);
    }
  }
  return failed;
}

/** All that this tab holds, and what is under way in it. @returns {Promise<unknown>} Resolves when that has ended. */
function forgetHere() {
  stopPlaying();
  endSpeaking("mine");
  if (state.microphone !== "closed") closeMicrophone();
  const ended = Promise.all([stopLoading(), cancelTraining()]);
  state.voice?.close();
  const { recordings, files, fileErrors, voice, voiceFile, otherVoices, training, likeness, current } = initial;
  update({ recordings, files, fileErrors, voice, voiceFile, otherVoices, training, likeness, current, deletions: state.deletions + 1 });
  return ended;
}
