// Starts, pauses, stops and resumes training, and leads to the clip at which it failed.

import { activity } from "./activities.js";
import { compareVoice, keepSimilarity, keepVoice, openVoice, recordingsOf } from "./bank.js";
import { $ } from "./dom.js";
import { differenceDb } from "./heat.js";
import { isLost } from "./js/errors.js";
import { goTo, show } from "./path.js";
import { showPrompt } from "./recording.js";
import { isSilent, play } from "./shared/player.js";
import { keepScreenOn } from "./shared/wake-lock.js";
import { replaceVoice } from "./speaking.js";
import { CONSENT, goodClips, initial, measureUsage, state, studio, unlessCancelled, update } from "./state.js";
import { statement, t } from "./strings.js";

/** @import { Clip, CloneProgress, Consent, TrainingControls, Voice } from "./js/index.js" */
/** @import { Origin } from "./bank.js" */
/** @import { Task } from "./shared/activity.js" */
/** @import { Failure, Name, State, Training } from "./state.js" */

/** The time of the last iteration; null where the next one takes longer than others. @type {number | null} */
let lastStep = null;

/** @param {Partial<Training>} change */
const updateTraining = (change) => update({ training: { ...state.training, ...change } });

/** @param {"clone" | "resume"} how @param {Origin} [from] Recordings in place of those on the page. */
export const train = (how, from) => activity.perform("learning", (task) => learn(how, task, from));

/** Learns a kept voice anew from its recordings, beside the one that there is, and compares both. @param {string} id */
export async function learnAnew(id) {
  const from = await recordingsOf(id);
  if (!from || !(await train("clone", from))) return;
  if (state.training.outcome === "done" && state.compared?.id !== id) await compareVoice(id);
}

/** @param {"clone" | "resume"} how @param {Task<Name>} task @param {Origin} [from] */
async function learn(how, task, from) {
  const { signal, stopSignal } = task;
  const onStep = (/** @type {CloneProgress} */ progress) => {
    if (task.isOver) return;
    const leftOut = progress.status === "left-out" && !from ? clips[progress.clip ?? -1]?.id : undefined;
    if (progress.status === "left-out" && leftOut) markClip(leftOut, progress);
    showProgress(progress);
  };
  const options = { signal, stopSignal, onStep, preview: state.preview ?? undefined, pictures: true };
  // A resumed training continues its curve.
  const { losses, heldOut, resumable } = state.training;
  update({ training: { ...initial.training, ...(how === "resume" && { losses, heldOut, resumable }) } });
  /** @type {(Clip & { id?: string })[]} */
  let clips = from?.clips ?? goodClips(state);
  const agreed = from ? (from.consent ?? undefined) : consent();
  task.onEnd(keepScreenOn());
  if (state.step !== "train") goTo("train");
  lastStep = null;
  try {
    // A resumed training has the clips that it was begun with.
    if (how === "resume") clips = (await studio().storage?.trainingClips()) ?? [];
    const voice = how === "resume" ? await studio().resume(options) : await studio().clone(clips, { ...options, consent: agreed });
    if (task.isOver) return void voice.close();
    await replaceVoice(voice);
    const { whose, name } = state.filesConsent;
    const called = from?.name ?? (state.source === "files" && whose === "other" ? name : "");
    await keepVoice(voice, { name: called, clips, consent: how === "resume" ? voice.info.consent : agreed });
    if (task.isOver) return;
    updateTraining({ outcome: "done" });
    // To be heard first of all; who is writing is left alone.
    if (!document.activeElement?.matches("textarea, input[type=text]")) {
      $("base").before($("mine"));
      if (state.step !== "talk") goTo("talk");
      $("mine").scrollIntoView({ block: "nearest" });
    }
    measureLikeness(voice, clips);
    measureUsage();
  } catch (error) {
    const failure = unlessCancelled(error);
    // What was stored before it failed can be resumed.
    const stored = failure && (await state.studio?.storage?.training().catch(() => null));
    if (task.isOver) return;
    // The page shows by itself that the engine has ended.
    updateTraining({ outcome: failure ? "none" : "cancelled", error: isLost(failure) ? null : failure, resumable: stored?.checkpoint ?? null });
    const id = from ? undefined : clips[failure?.clip ?? -1]?.id;
    if (failure && id) rejectClip(id, failure);
    if (failure?.code === "training-elsewhere") showOther().catch(console.error);
  }
}

/** Shows what another tab has learned, once it is done. */
async function showOther() {
  const { deletions } = state;
  await studio().storage?.trainingEnded();
  const stored = await studio().storage?.training();
  if (!stored || state.training.error?.code !== "training-elsewhere" || deletions !== state.deletions) return;
  updateTraining({ error: null, resumable: stored.checkpoint });
  if (stored.voice) await openVoice(stored.voice);
}

/** Measures in the background how similar the voice is to its speaker. @param {Voice} voice @param {Clip[]} clips */
async function measureLikeness(voice, clips) {
  if (clips.length < 2) return update({ likeness: { ...state.likeness, status: "few" } });
  const updateLikeness = (/** @type {Partial<State["likeness"]>} */ change) => voice === state.voice && update({ likeness: { ...state.likeness, ...change } });
  updateLikeness({ status: "measuring", part: 0 });
  try {
    const onProgress = (/** @type {import("./js/index.js").SayProgress} */ { sentence, sentences }) => updateLikeness({ part: (sentence - 1) / sentences });
    const similarity = await voice.similarity(clips, { onProgress });
    updateLikeness({ status: "done", similarity });
    keepSimilarity(voice.info.id, similarity);
  } catch (error) {
    updateLikeness({ status: "none" });
    // The voice itself is not affected; it may have been replaced meanwhile.
    if (!isLost(error) && voice === state.voice) console.error(error);
  }
}

/** What was agreed, by whom and how, as the voice file will have it. @returns {Consent} */
function consent() {
  if (state.source === "files") return { text: t("files.ticked", { statement: statement(state.filesConsent), date: new Date().toISOString().slice(0, 10) }) };
  const recording = state.recordings.get(CONSENT.id);
  return { text: CONSENT.text, recording: recording && { samples: recording.samples, sampleRate: recording.sampleRate } };
}

/** Leads to the clip that caused an error. @param {string} id @param {Failure} error */
function rejectClip(id, error) {
  updateTraining({ badClip: id });
  markClip(id, error);
}

/** Shows an error at its clip. The next training leaves the clip out. @param {string} id @param {Failure} error */
function markClip(id, error) {
  const clip = state.recordings.get(id);
  if (state.source === "files") update({ files: state.files.map((clip) => (clip.id === id ? { ...clip, report: null, error } : clip)) });
  else if (clip) update({ recordings: new Map(state.recordings).set(id, { ...clip, report: null, error }) });
}

/** Shows that clip, to be recorded again or corrected. */
export function goToBadClip() {
  const id = state.training.badClip;
  if (state.source === "record") showPrompt(state.prompts.findIndex((prompt) => prompt.id === id));
  else show("read");
  const target = document.querySelector(state.source === "record" ? "#record-button" : `[data-file="${CSS.escape(id ?? "")}"]`);
  if (!(target instanceof HTMLElement)) return;
  target.scrollIntoView({ block: "center" });
  target.focus();
}

export async function togglePause() {
  if (activity.current !== "learning") return;
  const paused = !state.training.paused;
  lastStep = null;
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
      const { iteration, loss, heldOutLoss } = progress;
      const now = performance.now();
      // The iteration before it began with a preparation or a pause, which say nothing about those to come.
      const timed = lastStep !== null && !training.paused && { seconds: training.seconds + (now - lastStep) / 1000, steps: training.steps + 1 };
      lastStep = training.paused ? null : now;
      // A training that goes on from a checkpoint repeats some iterations.
      const losses = [...training.losses.slice(0, iteration - 1)];
      losses[iteration - 1] = loss;
      const heldOut = training.heldOut.filter((earlier) => earlier.iteration < iteration);
      if (heldOutLoss !== null) heldOut.push({ iteration, loss: heldOutLoss });
      return updateTraining({ phase: "training", step: progress, losses, heldOut, first: training.first || iteration, ...timed });
    }
  }
}
