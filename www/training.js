// Learning: started, paused, stopped, gone on with; and what leads on when a clip is in the way.

import { isSilent } from "./play.js";
import { closeMicrophone, go, togglePlaying } from "./recording.js";
import { forgetSpoken } from "./speaking.js";
import { CONSENT, failure, goodClips, initial, isLost, state, studio, update } from "./state.js";

/** @import { CloneProgress, Consent, Voice } from "./js/index.js" */
/** @import { Failure, Training } from "./state.js" */

let cancelling = new AbortController();
let stopping = new AbortController();

export const cancelTraining = () => cancelling.abort();
export const stopTraining = () => stopping.abort();

/** @param {Partial<Training>} change */
const change = (change) => update({ training: { ...state.training, ...change } });

/** @param {"clone" | "resume"} how */
export async function train(how) {
  cancelling = new AbortController();
  stopping = new AbortController();
  const options = { signal: cancelling.signal, stopSignal: stopping.signal, onStep, preview: state.preview ?? undefined };
  // What went before is still on the curve when a training goes on.
  const before = how === "resume" ? { losses: state.training.losses, resumable: state.training.resumable } : {};
  update({ training: { ...initial.training, ...before, status: "running" } });
  if (state.microphone === "open") closeMicrophone();
  const clips = goodClips(state);
  try {
    const voice = how === "resume" ? await studio().resume(options) : await studio().clone(clips, { ...options, consent: consent() });
    await take(voice, await voice.save());
    change({ status: "done" });
  } catch (error) {
    const failed = failure(error);
    // The page starts the engine again, and the training with it: see engine.js.
    if (isLost(failed)) return change({ status: "interrupted" });
    change({ status: failed ? "idle" : "cancelled", error: failed, resumable: failed ? state.training.resumable : null });
    if (failed?.clip !== undefined) blame(clips[failed.clip].id, failed);
  }
}

/** @returns {Consent} */
function consent() {
  const recording = state.source === "record" ? state.recordings.get(CONSENT.id) : undefined;
  return { text: CONSENT.text, recording: recording && { samples: recording.samples, sampleRate: recording.sampleRate } };
}

/** Puts another voice in the place of the one before. @param {Voice} voice @param {Blob} file */
export async function take(voice, file) {
  const before = state.voice;
  forgetSpoken("mine");
  update({ voice, voiceFile: file });
  await before?.close();
}

/** The clip that stood in the way says so itself, and is left out until it is mended. @param {string} id @param {Failure} error */
function blame(id, error) {
  change({ badClip: id });
  const clip = state.recordings.get(id);
  if (state.source === "files") update({ files: state.files.map((clip) => (clip.id === id ? { ...clip, report: null, error } : clip)) });
  else if (clip) update({ recordings: new Map(state.recordings).set(id, { ...clip, report: null, error }) });
}

/** Shows that clip, ready to be recorded again or mended. */
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
  await studio().steer({ paused });
}

/** @param {string | null} preview */
export async function setPreview(preview) {
  update({ preview });
  if (state.training.status === "running") await studio().steer({ preview });
}

/** @param {CloneProgress} progress */
function onStep(progress) {
  const { training } = state;
  if (progress.status === "preview") {
    change({ preview: progress });
    return isSilent() ? togglePlaying("preview", progress.speech) : undefined;
  }
  if (progress.status !== "training") return change({ phase: progress.status });
  const losses = [...training.losses];
  losses[progress.iteration - 1] = progress.loss;
  // A resumed training begins late.
  const first = training.first || progress.iteration;
  change({ phase: "training", step: progress, losses, first, seconds: progress.seconds });
}
