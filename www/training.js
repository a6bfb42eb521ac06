// Starts, pauses, stops and resumes training, and leads to the clip that made it fail.

import { stayAwake } from "./awake.js";
import { differenceDb } from "./heat.js";
import { isSilent } from "./play.js";
import { togglePlaying } from "./playback.js";
import { closeMicrophone, go } from "./recording.js";
import { take } from "./speaking.js";
import { CONSENT, failure, goodClips, initial, isLost, measureUsage, state, studio, update } from "./state.js";

/** @import { Clip, CloneProgress, Consent, TrainingControls, Voice } from "./js/index.js" */
/** @import { Failure, State, Training } from "./state.js" */

let cancelling = new AbortController();
let stopping = new AbortController();
let ended = Promise.resolve();

/** @returns {Promise<void>} Resolves when the training, if there was one, has ended. */
export function cancelTraining() {
  cancelling.abort();
  return ended;
}
export const stopTraining = () => stopping.abort();

/** @param {Partial<Training>} change */
const change = (change) => update({ training: { ...state.training, ...change } });

/** @param {"clone" | "resume"} how */
export const train = (how) => (ended = learn(how));

/** @param {"clone" | "resume"} how */
async function learn(how) {
  cancelling = new AbortController();
  stopping = new AbortController();
  const { signal } = cancelling;
  const { deletions } = state;
  const onStep = (/** @type {CloneProgress} */ progress) => deletions === state.deletions && stepped(progress);
  const options = { signal, stopSignal: stopping.signal, onStep, preview: state.preview ?? undefined, pictures: true };
  // A resumed training continues its curve.
  const before = how === "resume" ? { losses: state.training.losses, heldOut: state.training.heldOut, resumable: state.training.resumable } : {};
  update({ training: { ...initial.training, ...before, status: "running" } });
  if (state.microphone === "open") closeMicrophone();
  const clips = goodClips(state);
  let learned = false;
  stayAwake(true);
  try {
    const voice = how === "resume" ? await studio().resume(options) : await studio().clone(clips, { ...options, consent: consent() });
    learned = true;
    const file = await voice.save({ signal });
    stayAwake(false);
    await take(voice, file);
    change({ status: "done" });
    liken(voice, clips);
    await measureUsage();
  } catch (error) {
    stayAwake(false);
    if (deletions !== state.deletions) return;
    const failed = failure(error);
    // engine.js restarts the engine, and the training with it.
    if (isLost(failed)) return change({ status: learned ? "learned" : "interrupted" });
    // What was stored before it failed can be resumed.
    const stored = failed && (await state.studio?.storage?.training().catch(() => null));
    change({ status: failed ? "idle" : "cancelled", error: failed, resumable: stored?.checkpoint ?? null });
    if (failed?.clip !== undefined) blame(clips[failed.clip].id, failed);
  }
}

/** Measures the similarity to the speaker in the background. @param {Voice} voice @param {Clip[]} clips */
async function liken(voice, clips) {
  if (clips.length < 2) return;
  const likeness = (/** @type {Partial<State["likeness"]>} */ change) => voice === state.voice && update({ likeness: { ...state.likeness, ...change } });
  likeness({ status: "measuring", part: 0 });
  try {
    const onProgress = (/** @type {import("./js/index.js").SayProgress} */ { sentence, sentences }) => likeness({ part: (sentence - 1) / sentences });
    likeness({ status: "done", similarity: await voice.similarity(clips, { onProgress }) });
  } catch (error) {
    likeness({ status: "none" });
    // The voice itself is not affected; it may have been replaced meanwhile.
    if (!isLost(failure(error)) && voice === state.voice) console.error(error);
  }
}

/** @returns {Consent} */
function consent() {
  const recording = state.source === "record" ? state.recordings.get(CONSENT.id) : undefined;
  return { text: CONSENT.text, recording: recording && { samples: recording.samples, sampleRate: recording.sampleRate } };
}

/** Shows the error at the clip that caused it, which is left out of the next training. @param {string} id @param {Failure} error */
function blame(id, error) {
  change({ badClip: id });
  const clip = state.recordings.get(id);
  if (state.source === "files") update({ files: state.files.map((clip) => (clip.id === id ? { ...clip, report: null, error } : clip)) });
  else if (clip) update({ recordings: new Map(state.recordings).set(id, { ...clip, report: null, error }) });
}

/** Shows that clip, to be recorded again or corrected. */
export function goToBadClip() {
  const id = state.training.badClip;
  if (state.source === "record") go(state.prompts.findIndex((prompt) => prompt.id === id));
  const place = state.source === "record" ? document.querySelector("#record-button") : document.querySelector(`[data-file="${CSS.escape(id ?? "")}"]`);
  if (!(place instanceof HTMLElement)) return;
  place.scrollIntoView({ block: "center" });
  place.focus();
}

export async function togglePause() {
  const paused = !state.training.paused;
  change({ paused });
  if (!(await told({ paused }))) change({ paused: !paused });
}

/** @param {string | null} preview */
export async function setPreview(preview) {
  update({ preview });
  if (state.training.status === "running") await told({ preview });
}

/** Whether the running training has taken a change; an engine that is lost takes the training along. @param {TrainingControls} controls */
async function told(controls) {
  try {
    await studio().updateTraining(controls);
    change({ error: null });
    return true;
  } catch (error) {
    if (!isLost(failure(error))) change({ error: failure(error) });
    return false;
  }
}

/** @param {CloneProgress} progress */
function stepped(progress) {
  const { training } = state;
  if (progress.status === "preview") {
    change({ preview: progress });
    return isSilent() ? togglePlaying("preview", progress.speech) : undefined;
  }
  if (progress.status === "picture") {
    const firstDifferenceDb = training.picture?.firstDifferenceDb ?? differenceDb(progress.picture);
    return change({ picture: { ...progress, firstDifferenceDb } });
  }
  if (progress.status === "not-stored") return change({ notStored: progress });
  if (progress.status !== "training") return change({ phase: progress.status });
  const { iteration, heldOutLoss } = progress;
  const losses = [...training.losses];
  losses[iteration - 1] = progress.loss;
  const heldOut = heldOutLoss === null ? training.heldOut : [...training.heldOut, { iteration, loss: heldOutLoss }];
  // A resumed training begins late.
  const first = training.first || iteration;
  change({ phase: "training", step: progress, losses, heldOut, first, seconds: progress.seconds });
}
