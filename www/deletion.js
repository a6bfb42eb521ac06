// Deletes everything that this page has stored on this machine, at any moment and without the engine.

import { stopLoading } from "./engine.js";
import { Storage } from "./js/index.js";
import { forgetSite } from "./offline.js";
import { stop as stopPlaying } from "./play.js";
import { closeMicrophone } from "./recording.js";
import { endSpeaking } from "./speaking.js";
import { STORAGE, initial, measureUsage, state, update } from "./state.js";
import { forgetLanguage, t } from "./strings.js";
import { cancelTraining } from "./training.js";

/** @import { Failure } from "./state.js" */

/** An engine that hangs does not delay the deletion further. */
const MAX_WAIT_MS = 20_000;

/** Other tabs of this page, which hold recordings and voices too. */
const tabs = new BroadcastChannel("ownvoice-deleted");
tabs.onmessage = () => {
  forgetHere();
  update({ deletion: { status: "done", error: null } });
  measureUsage();
};

export async function deleteAll() {
  if (!confirm(t("kept.sure"))) return;
  const ended = forgetHere();
  tabs.postMessage(null);
  update({ deletion: { status: "running", error: null } });
  await removeAll();
  // A write that was in progress has completed by then.
  await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, MAX_WAIT_MS))]);
  update({ deletion: { status: "done", error: await removeAll() } });
  await measureUsage();
}

/** Each part, whether or not another fails. @returns {Promise<Failure | null>} The first that failed. */
async function removeAll() {
  let failed = null;
  for (const remove of [() => Storage.clear(STORAGE), forgetSite, forgetLanguage]) {
    try {
      await remove();
    } catch (error) {
      failed ??= /** @type {Failure} */ (error);
    }
  }
  return failed;
}

/** Clears this tab and ends what runs in it. @returns {Promise<unknown>} Resolves when that has ended. */
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
