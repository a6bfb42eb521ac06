// Deletes everything that this page has stored on this machine, at any moment and without the engine.

import { activity } from "./activities.js";
import { closeUnused } from "./bank.js";
import { Storage } from "./js/index.js";
import { forgetSite } from "./offline.js";
import { endOrTimeout } from "./shared/activity.js";
import { forgetLanguage } from "./shared/language.js";
import { stopPlaying } from "./shared/player.js";
import { endSpeaking } from "./speaking.js";
import { STORAGE, initial, measureUsage, state, update } from "./state.js";
import { t } from "./strings.js";

/** @import { Failure } from "./state.js" */

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
  // What was being written is on disk by then.
  await endOrTimeout(Promise.all([ended, state.studio?.storage?.settled()]));
  update({ deletion: { status: "done", error: await removeAll() } });
  await measureUsage();
}

/** Removes each part, whether or not another part fails. @returns {Promise<Failure | null>} The first failure. */
async function removeAll() {
  let failure = null;
  for (const remove of [() => Storage.clear(STORAGE), forgetSite, forgetLanguage]) {
    try {
      await remove();
    } catch (error) {
      failure ??= /** @type {Failure} */ (error);
    }
  }
  return failure;
}

/** Clears this tab and ends what it does. @returns {Promise<unknown>} Resolves when the engine has ended it too. */
function forgetHere() {
  stopPlaying();
  endSpeaking("mine");
  const ended = activity.cancel();
  // A load ends by itself, and says why.
  if (activity.current !== "loading") activity.end();
  state.voice?.close();
  if (state.compared) endSpeaking("base");
  state.compared?.voice.close();
  const { recordings, discarded, files, filesConsent, voice, bank, bases, compared, broughtBack, said, pronunciations, saidNotStored, microphone, training, likeness, current, step } = initial;
  update({ recordings, discarded, files, filesConsent, voice, bank, bases, compared, broughtBack, said, pronunciations, saidNotStored, microphone, training, likeness, current, step, deletions: state.deletions + 1 });
  closeUnused();
  return ended;
}
