// Starts, pauses, stops and resumes training, and leads to the clip at which it failed.

import { activity } from "./activities.js";
import { differenceDb } from "./heat.js";
import { isLost } from "./js/errors.js";
import { showPrompt } from "./recording.js";
import { isSilent, play } from "./shared/player.js";
import { keepScreenOn } from "./shared/wake-lock.js";
import { replaceVoice } from "./speaking.js";
import { CONSENT, goodClips, initial, measureUsage, state, studio, unlessCancelled, update } from "./state.js";

/** @import { Clip, CloneProgress, Consent, TrainingControls, Voice } from "./js/index.js" */
/** @import { Task } from "./shared/activity.js" */
/** @import { Failure, Name, State, Training } from "./state.js" */

/** @param {Partial<Training>} change */
const updateTraining = (change) => update({ training: { ...state.training, ...change } });

/** @param {"clone" | "resume"} how */
export const train = (how) => activity.perform("learning", (task) => learn(how, task));

/** @param {"clone" | "resume"} how @param {Task<Name>} task */
async function learn(how, task) {
  const { signal, stopSignal } = task;
  const onStep = (/** @type {CloneProgress} */ progress) => task.isOver || showProgress(progress);
  const options = { signal, stopSignal, onStep, preview: state.preview ?? undefined, pictures: true };
  // A resumed training continues its curve.
  const { losses, heldOut, resumable } = state.training;
  update({ training: { ...initial.training, ...(how === "resume" && { losses, heldOut, resumable }) } });
  const clips = goodClips(state);
  task.onEnd(keepScreenOn());
  try {
    const voice = how === "resume" ? await studio().resume(options) : await studio().clone(clips, { ...options, consent: consent() });
    if (task.isOver) return void voice.close();
    await replaceVoice(voice);
    if (task.isOver) return;
    updateTraining({ outcome: "done" });
    measureLikeness(voice, clips);
    measureUsage();
  } catch (error) {
    const failure = unlessCancelled(error);
    // What was stored before it failed can be resumed.
    const stored = failure && (await state.studio?.storage?.training().catch(() => null));
    if (task.isOver) return;
    // The page shows by itself that the engine has ended.
    updateTraining({ outcome: failure ? "none" : "cancelled", error: isLost(failure) ? null : failure, resumable: stored?.checkpoint ?? null });
    if (failure?.clip !== undefined) rejectClip(clips[failure.clip].id, failure);
  }
}

/** Measures in the background how similar the voice is to its speaker. @param {Voice} voice @param {Clip[]} clips */
async function measureLikeness(voice, clips) {
  if (clips.length < 2) return;
  const updateLikeness = (/** @type {Partial<State["likeness"]>} */ change) => voice === state.voice && update({ likeness: { ...state.likeness, ...change } });
  updateLikeness({ status: "measuring", part: 0 });
  try {
    const onProgress = (/** @type {import("./js/index.js").SayProgress} */ { sentence, sentences }) => updateLikeness({ part: (sentence - 1) / sentences });
    updateLikeness({ status: "done", similarity: await voice.similarity(clips, { onProgress }) });
  } catch (error) {
    updateLikeness({ status: "none" });
    // The voice itself is not affected; it may have been replaced meanwhile.
    if (!isLost(error) && voice === state.voice) console.error(error);
  }
}

/** @returns {Consent} */
function consent() {
  const recording = state.source === "record" ? state.recordings.get(CONSENT.id) : undefined;
  return { text: CONSENT.text, recording: recording && { samples: recording.samples, sampleRate: recording.sampleRate } };
}

/** Shows the error at the clip that caused it. The next training leaves the clip out. @param {string} id @param {Failure} error */
function rejectClip(id, error) {
  updateTraining({ badClip: id });
  const clip = state.recordings.get(id);
  if (state.source === "files") update({ files: state.files.map((clip) => (clip.id === id ? { ...clip, report: null, error } : clip)) });
  else if (clip) update({ recordings: new Map(state.recordings).set(id, { ...clip, report: null, error }) });
}

/** Shows that clip, to be recorded again or corrected. */
export function goToBadClip() {
  const id = state.training.badClip;
  if (state.source === "record") showPrompt(state.prompts.findIndex((prompt) => prompt.id === id));
  const target = document.querySelector(state.source === "record" ? "#record-button" : `[data-file="${CSS.escape(id ?? "")}"]`);
  if (!(target instanceof HTMLElement)) return;
  target.scrollIntoView({ block: "center" });
  target.focus();
}

export async function togglePause() {
  if (activity.current !== "learning") return;
  const paused = !state.training.paused;
  updateTraining({ paused });
  if (!(await control({ paused }))) updateTraining({ paused: !paused });
}

/** @param {string | null} preview */
export async function setPreview(preview) {
  update({ preview });
  if (activity.current === "learning") await control({ preview });
}

/** Changes the running training. Returns whether the change was accepted. @param {TrainingControls} controls */
async function control(controls) {
  try {
    await studio().updateTraining(controls);
    updateTraining({ error: null });
    return true;
  } catch (error) {
    if (!isLost(error)) updateTraining({ error: unlessCancelled(error) });
    return false;
  }
}

/** @param {CloneProgress} progress */
function showProgress(progress) {
  const { training } = state;
  switch (progress.status) {
    case "aligning": // also where the training goes on in another engine
      return updateTraining({ phase: "aligning", step: null, first: 0 });
    case "finishing":
      return updateTraining({ phase: "finishing" });
    case "preview":
      updateTraining({ preview: progress });
      return isSilent() ? play("preview", progress.speech) : undefined;
    case "picture":
      return updateTraining({ picture: { ...progress, firstDifferenceDb: training.picture?.firstDifferenceDb ?? differenceDb(progress.picture) } });
    case "not-stored":
      return updateTraining({ notStored: progress });
    case "training": {
      const { iteration, loss, heldOutLoss, seconds } = progress;
      // A training that goes on from a checkpoint repeats some iterations.
      const losses = [...training.losses.slice(0, iteration - 1)];
      losses[iteration - 1] = loss;
      const heldOut = training.heldOut.filter((earlier) => earlier.iteration < iteration);
      if (heldOutLoss !== null) heldOut.push({ iteration, loss: heldOutLoss });
      return updateTraining({ phase: "training", step: progress, losses, heldOut, first: training.first || iteration, seconds });
    }
  }
}
