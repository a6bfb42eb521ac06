// Speaks with the base and with the voice; saves and opens voice files.

import { Speech } from "./js/index.js";
import { $ } from "./dom.js";
import { begin, position, stop as stopPlaying } from "./play.js";
import { failure, initial, state, studio, update } from "./state.js";

/** @import { Voice } from "./js/index.js" */
/** @import { Spoken } from "./state.js" */

/** @type {Record<"base" | "mine", AbortController>} */
const speaking = { base: new AbortController(), mine: new AbortController() };

/** @param {"base" | "mine"} which @param {Partial<Spoken>} change */
function spoke(which, change) {
  update({ spoken: { ...state.spoken, [which]: { ...state.spoken[which], ...change } } });
}

/** @param {"base" | "mine"} which */
export function forgetSpoken(which) {
  const { url } = state.spoken[which];
  if (url) URL.revokeObjectURL(url);
  spoke(which, initial.spoken[which]);
}

/** Ends speech of this voice and discards it. @param {"base" | "mine"} which */
export function endSpeaking(which) {
  speaking[which].abort();
  speaking[which] = new AbortController();
  if (position(which) !== null) stopPlaying();
  forgetSpoken(which);
}

/** Replaces the current voice. @param {Voice} voice @param {Blob} file */
export async function take(voice, file) {
  const before = state.voice;
  endSpeaking("mine");
  update({ voice, voiceFile: file, likeness: initial.likeness });
  await before?.close();
}

/** Plays each sentence while the next is made. @param {"base" | "mine"} which */
export async function speak(which) {
  if (state.spoken[which].status === "working") {
    stopPlaying();
    return speaking[which].abort();
  }
  const voice = which === "base" ? studio().base : state.voice;
  if (!voice) return;
  const clicked = performance.now();
  const player = begin(which, () => update({}));
  const mine = (speaking[which] = new AbortController());
  const { signal } = mine;
  forgetSpoken(which);
  update({ speakError: null, textWarnings: [] });
  spoke(which, { status: "working" });
  /** @type {Speech[]} */
  const pieces = [];
  try {
    for await (const speech of voice.stream($("text").value, { ...state.delivery, signal })) {
      if (speaking[which] !== mine) break;
      const wait = player.push(speech, speech.pauseSeconds);
      pieces.push(speech);
      update({ textWarnings: speech.warnings });
      spoke(which, { speech: Speech.join(pieces), firstAudioMs: state.spoken[which].firstAudioMs ?? performance.now() - clicked + wait });
    }
    player.end();
    if (speaking[which] !== mine) return;
    const speech = Speech.join(pieces);
    spoke(which, { status: "done", speech, url: URL.createObjectURL(speech.toBlob()) });
  } catch (error) {
    player.end();
    // Replaced by another voice or text.
    if (speaking[which] !== mine) return;
    forgetSpoken(which);
    update({ speakError: failure(error) });
  }
}

export function saveVoice() {
  if (state.voiceFile) save(state.voiceFile, "me.ownvoice");
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
export async function openVoice(file) {
  try {
    await take(await studio().open(file), file);
    update({ speakError: null, training: { ...initial.training, status: "opened" } });
  } catch (error) {
    update({ speakError: failure(error) });
  }
}
