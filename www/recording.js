// Records sentences, card by card.

import { $ } from "./dom.js";
import { stop as stopPlaying } from "./play.js";
import { togglePlaying } from "./playback.js";
import { checked, currentPrompt, failure, isLost, mayRecord, measureUsage, state, studio, update } from "./state.js";
import { t } from "./strings.js";

/** @import { Failure } from "./state.js" */

/** The microphone's level, which changes too often to be state. */
export const live = { peaks: /** @type {number[]} */ ([]), levelDb: -100, peakDb: -100 };

export async function toggleRecording() {
  if (state.microphone === "recording") return finishRecording();
  if (!mayRecord(state) || state.microphone === "opening" || state.microphone === "checking") return;
  stopPlaying();
  const { microphone } = studio();
  const { deletions } = state;
  try {
    if (!microphone.isOpen) {
      update({ microphone: "opening", microphoneError: null });
      await microphone.open(onLevel, lost);
      prepare();
    }
    microphone.record();
    live.peaks = [];
    update({ microphone: "recording", microphoneError: null });
  } catch (error) {
    if (deletions === state.deletions) update({ microphone: "closed", microphoneError: /** @type {Failure} */ (error) });
  }
}

/** Compiles the GPU pipelines of the training while sentences are read. */
async function prepare() {
  try {
    await studio().prepare();
  } catch (error) {
    // The training would fail as well and report it; a lost engine is restarted.
    if (!isLost(failure(error))) console.error(error);
  }
}

/** @param {number} peakDb @param {number} levelDb */
function onLevel(peakDb, levelDb) {
  live.levelDb = levelDb;
  live.peakDb = peakDb;
  live.peaks.push(10 ** (peakDb / 20));
}

async function finishRecording() {
  const prompt = currentPrompt(state);
  const recorded = studio().microphone.stop();
  if (!prompt) return;
  update({ microphone: "checking" });
  const clip = { id: prompt.id, text: prompt.text, ...recorded };
  // Stored before it is checked, so that no recording is lost.
  const { deletions } = state;
  await tryToStore(() => studio().storage?.put(clip));
  const verdict = await checked(clip, "recording");
  if (deletions !== state.deletions) return;
  update({ microphone: studio().microphone.isOpen ? "open" : "closed", recordings: new Map(state.recordings).set(prompt.id, verdict) });
}

/** Shows an error where something cannot be stored, and goes on. @param {() => Promise<void> | undefined} write */
async function tryToStore(write) {
  try {
    await write();
    await measureUsage();
    // Now there is something to lose, which is what a browser that asks the visitor asks about.
    const { storage } = studio();
    if (storage && !state.usage.asked && !state.usage.persistent) {
      update({ usage: { ...state.usage, asked: true } });
      storage.persist().then(measureUsage);
    }
  } catch (error) {
    update({ microphoneError: /** @type {Failure} */ (error) });
  }
}

async function lost() {
  if (state.microphone === "recording") await finishRecording();
  closeMicrophone();
  update({ microphoneError: { code: "microphone-missing", message: t("read.lost") } });
}

export function closeMicrophone() {
  studio().microphone.close();
  Object.assign(live, { peaks: [], levelDb: -100, peakDb: -100 });
  update({ microphone: "closed" });
}

export async function discard() {
  const prompt = currentPrompt(state);
  if (!prompt) return;
  stopPlaying();
  const recordings = new Map(state.recordings);
  recordings.delete(prompt.id);
  update({ recordings });
  await tryToStore(() => studio().storage?.remove(prompt.id));
}

/** @param {number} index */
export function go(index) {
  if (state.microphone === "recording" || state.microphone === "checking" || !state.prompts[index]) return;
  stopPlaying();
  update({ current: index, microphoneError: null });
  // The card may have moved to another step.
  $("card").scrollIntoView({ block: "nearest" });
}

export function playClip() {
  const prompt = currentPrompt(state);
  if (prompt && state.microphone !== "recording") togglePlaying("clip", state.recordings.get(prompt.id));
}
