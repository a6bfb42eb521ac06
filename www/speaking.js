// Speaks with the base and with the voice; saves and opens voice files.

import { activity, speech as speechActivity } from "./activities.js";
import { $ } from "./dom.js";
import { Speech } from "./js/index.js";
import { playedPart, startPlaying, stopPlaying } from "./shared/player.js";
import { initial, state, studio, unlessCancelled, update } from "./state.js";

/** @import { Voice } from "./js/index.js" */
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

/** Replaces the current voice. @param {Voice} voice */
export async function replaceVoice(voice) {
  const before = state.voice;
  endSpeaking("mine");
  update({ voice, likeness: initial.likeness });
  await before?.close();
}

/** Speaks the text, and plays each sentence while the next is made; or stops speaking. @param {"base" | "mine"} which */
export async function toggleSpeaking(which) {
  if (speechActivity.current === which) return endSpeaking(which);
  const voice = which === "base" ? studio().base : state.voice;
  const run = voice && speechActivity.begin(which);
  if (!run) return;
  const clicked = performance.now();
  const player = startPlaying(which);
  update({ speakError: null, textWarnings: [] });
  updateSpoken(which, initial.spoken[which]);
  // Speech that is not complete is not kept.
  let isComplete = false;
  run.onEnd(() => isComplete || updateSpoken(which, initial.spoken[which]));
  /** @type {Speech[]} */
  const sentences = [];
  try {
    for await (const sentence of voice.stream($("text").value, { ...state.delivery, signal: run.signal })) {
      if (run.isOver) return;
      const wait = player.push(sentence, sentence.pauseSeconds);
      sentences.push(sentence);
      update({ textWarnings: sentence.warnings });
      updateSpoken(which, { speech: Speech.join(sentences), firstAudioMs: state.spoken[which].firstAudioMs ?? performance.now() - clicked + wait });
    }
    if (run.isOver) return;
    const speech = Speech.join(sentences);
    isComplete = true;
    updateSpoken(which, { speech, file: speech.toBlob() });
  } catch (error) {
    if (!run.isOver) update({ speakError: unlessCancelled(error) });
  } finally {
    player.end();
    run.end();
  }
}

export async function saveVoice() {
  if (state.voice) save(await state.voice.save(), "me.ownvoice");
}

/** @param {number} index */
export const saveOther = (index) => save(state.otherVoices[index], `me-${index + 1}.ownvoice`);

/** @param {Blob} file @param {string} name */
function save(file, name) {
  const url = URL.createObjectURL(file);
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** @param {File} file */
export const openVoice = (file) =>
  activity.perform("openingVoice", async (run) => {
    try {
      const voice = await studio().open(file, { signal: run.signal });
      await replaceVoice(voice);
      if (run.isOver) return;
      update({ speakError: null, training: { ...initial.training, outcome: "opened" } });
    } catch (error) {
      if (!run.isOver) update({ speakError: unlessCancelled(error) });
    }
  });
