// Speaks with the base and with the voice, and saves the voice.

import { speech as speechActivity } from "./activities.js";
import { $ } from "./dom.js";
import { originOf } from "./js/speech.js";
import { pronounced } from "./pronunciations.js";
import { playTrack, playedPart, stopPlaying } from "./shared/player.js";
import { Track } from "./shared/track.js";
import { initial, recordedPhrase, state, studio, unlessCancelled, update } from "./state.js";

/** @import { Similarity, Voice } from "./js/index.js" */
/** @import { Spoken } from "./state.js" */

/** @param {"base" | "mine"} which @param {Partial<Spoken>} change */
function updateSpoken(which, change) {
  update({ spoken: { ...state.spoken, [which]: { ...state.spoken[which], ...change } } });
}

/** Ends speech of this voice and discards it. @param {"base" | "mine"} which */
export function endSpeaking(which) {
  if (speechActivity.current === which) speechActivity.end();
  if (playedPart(which) !== null) stopPlaying();
  updateSpoken(which, initial.spoken[which]);
}

/** Replaces the current voice. @param {Voice | null} voice */
export async function replaceVoice(voice) {
  const before = state.voice;
  endSpeaking("mine");
  update({ voice, likeness: initial.likeness });
  await before?.close();
}

/** Speaks the text, and plays each sentence while the next is made; or stops speaking. @param {"base" | "mine"} which @returns {Promise<boolean | void>} Whether the whole text was spoken. */
export async function toggleSpeaking(which) {
  if (speechActivity.current === which) return endSpeaking(which);
  const text = $("text").value;
  const voice = which === "base" ? (state.compared?.voice ?? studio().base) : state.voice;
  // What the visitor has recorded is played as it is.
  const recorded = which === "mine" ? recordedPhrase(text) : undefined;
  const run = (voice || recorded) && speechActivity.begin(which);
  if (!run) return;
  const clicked = performance.now();
  const track = new Track();
  /** @type {Spoken["stop"]} */
  let stop = "durations";
  update({ speakError: null, textWarnings: [] });
  updateSpoken(which, initial.spoken[which]);
  playTrack(which, track, 0, (ms) => updateSpoken(which, { firstAudioMs: performance.now() - clicked + ms }));
  // Speech that is not complete is not kept.
  let isComplete = false;
  run.onEnd(() => isComplete || updateSpoken(which, initial.spoken[which]));
  try {
    const sentences = recorded ? [{ ...recorded, pauseSeconds: 0, stop, warnings: [] }] : /** @type {Voice} */ (voice).stream(pronounced(text, state.pronunciations), { ...state.delivery, signal: run.signal });
    for await (const sentence of sentences) {
      if (run.isOver) return;
      track.add(sentence, sentence.pauseSeconds);
      if (sentence.stop !== "durations") ({ stop } = sentence);
      update({ textWarnings: sentence.warnings });
      updateSpoken(which, { speech: track, isRecorded: recorded !== undefined });
    }
    if (run.isOver) return;
    isComplete = true;
    updateSpoken(which, { stop, text, file: track.toBlob(recorded || !voice ? {} : originOf(voice.info.id)) });
  } catch (error) {
    if (!run.isOver) update({ speakError: unlessCancelled(error) });
  } finally {
    track.complete();
    run.end();
  }
  return isComplete;
}

/** A name without what file systems do not allow. @param {string} name */
export const fileName = (name) => name.replace(/[\\/:*?"<>|\s\p{Cc}]+/gu, " ").trim().slice(0, 60).trim();

/** The name of the file of a speech: its text. @param {string} text */
export const soundName = (text) => `${fileName(text).replace(/\.+$/, "") || "ownvoice"}.wav`;

/** Whether the system shares sounds. */
export const canShare = Boolean(navigator.canShare?.({ files: [new File([], "a.wav", { type: "audio/wav" })] }));

/** Hands the sound to the system's sheet, where the visitor chooses an app. @param {"base" | "mine"} which */
export async function share(which) {
  const { file, text } = state.spoken[which];
  if (!file) return;
  try {
    await navigator.share({ files: [new File([file], soundName(text), { type: "audio/wav" })] });
  } catch (error) {
    if (/** @type {Error} */ (error).name !== "AbortError") update({ speakError: /** @type {import("./state.js").Failure} */ ({ code: "share-failed", message: /** @type {Error} */ (error).message }) });
  }
}

export async function saveVoice() {
  if (state.voice) save(await state.voice.save(), "me.ownvoice");
}

/** @param {Blob} file @param {string} name */
export function save(file, name) {
  const url = URL.createObjectURL(file);
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Shows that a voice is open which was learned before; a training that can be continued still can. @param {Similarity | null} similarity */
export function showVoice(similarity) {
  update({
    training: { ...initial.training, outcome: "opened", resumable: state.training.resumable },
    likeness: similarity ? { status: "done", part: 1, similarity } : initial.likeness,
  });
}
