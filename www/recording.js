// Records sentences, card by card.

import { activity, isAtCard } from "./activities.js";
import { $ } from "./dom.js";
import { isLost } from "./js/errors.js";
import { stopPlaying, togglePlaying } from "./shared/player.js";
import { checkClip, currentPrompt, mayRecord, measureUsage, state, studio, update, updateUnlessDeleted } from "./state.js";
import { t } from "./strings.js";

/** @import { Run } from "./shared/activity.js" */
/** @import { Failure, Name, PageClip } from "./state.js" */

/** The microphone's level, which changes too often to be part of the state. */
export const live = { peaks: /** @type {number[]} */ ([]), levelDb: -100, peakDb: -100 };

/** The run in which the microphone is open. @type {Run<Name> | null} */
let microphoneRun = null;

/** Starts a recording, or ends it. */
export async function toggleRecording() {
  if (activity.current === "recording") return finishRecording();
  if (!mayRecord(state)) return;
  if (microphoneRun?.to("recording")) return record(microphoneRun);
  const run = activity.begin("opening");
  if (!run) return;
  microphoneRun = run;
  run.onEnd(() => {
    studio().microphone.close();
    Object.assign(live, { peaks: [], levelDb: -100, peakDb: -100 });
    microphoneRun = null;
  });
  update({ microphoneError: null });
  try {
    await studio().microphone.open(onLevel, microphoneLost, { signal: run.signal });
  } catch (error) {
    return failed(run, error);
  }
  prepareTraining();
  if (run.to("recording")) record(run);
}

/** @param {Run<Name>} run */
function record(run) {
  try {
    studio().microphone.record();
    live.peaks = [];
    update({ microphoneError: null });
  } catch (error) {
    failed(run, error);
  }
}

/** @param {Run<Name>} run @param {unknown} error */
function failed(run, error) {
  if (run.isOver) return;
  run.end();
  update({ microphoneError: /** @type {Failure} */ (error) });
}

/** Compiles the GPU pipelines of the training while sentences are read. */
async function prepareTraining() {
  try {
    await studio().prepare();
  } catch (error) {
    // The training would fail as well and show the error.
    if (!isLost(error)) console.error(error);
  }
}

/** @param {number} peakDb @param {number} levelDb */
function onLevel(peakDb, levelDb) {
  live.levelDb = levelDb;
  live.peakDb = peakDb;
  live.peaks.push(10 ** (peakDb / 20));
}

async function finishRecording() {
  const run = microphoneRun;
  const prompt = currentPrompt(state);
  if (!run?.to("checking")) return;
  /** @type {Omit<PageClip, "report" | "error">} */
  let clip;
  try {
    clip = { id: prompt.id, text: prompt.text, ...studio().microphone.stop() };
  } catch (error) {
    return failed(run, error);
  }
  const updateHere = updateUnlessDeleted();
  // Stored before it is checked, so that no recording is lost.
  await tryToStore(() => studio().storage?.put(clip));
  const checked = await checkClip(clip, "recording");
  updateHere({ recordings: new Map(state.recordings).set(prompt.id, checked) });
  if (studio().microphone.isOpen) run.to("listening");
  else run.end();
}

/** Shows an error where something cannot be stored, and goes on. @param {() => Promise<void> | undefined} write */
async function tryToStore(write) {
  const updateHere = updateUnlessDeleted();
  try {
    await write();
    await measureUsage();
    // Now there is something to lose: a good moment for browsers that ask the visitor.
    const { storage } = studio();
    if (storage && !state.usage.asked && !state.usage.persistent) {
      update({ usage: { ...state.usage, asked: true } });
      storage.persist().then(measureUsage);
    }
  } catch (error) {
    updateHere({ microphoneError: /** @type {Failure} */ (error) });
  }
}

async function microphoneLost() {
  if (activity.current === "recording") await finishRecording();
  closeMicrophone();
  update({ microphoneError: { code: "microphone-missing", message: t("read.lost") } });
}

export const closeMicrophone = () => microphoneRun?.end();

export async function discard() {
  const prompt = currentPrompt(state);
  if (!prompt || isAtCard(activity.current)) return;
  stopPlaying();
  const recordings = new Map(state.recordings);
  recordings.delete(prompt.id);
  update({ recordings });
  await tryToStore(() => studio().storage?.remove(prompt.id));
}

/** Shows the card of another sentence. @param {number} index */
export function showPrompt(index) {
  if (isAtCard(activity.current) || !state.prompts[index]) return;
  stopPlaying();
  update({ current: index, microphoneError: null });
  // The card may have moved to another step.
  $("card").scrollIntoView({ block: "nearest" });
}

export function playClip() {
  const prompt = currentPrompt(state);
  if (prompt && activity.current !== "recording") togglePlaying("clip", state.recordings.get(prompt.id));
}

/** Changes between microphone and files. @param {"record" | "files"} source @returns {boolean} Whether it is allowed now. */
export function chooseSource(source) {
  const run = activity.begin("switching");
  update({ source: run ? source : state.source });
  run?.end();
  return run !== null;
}
