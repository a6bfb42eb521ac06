// Speaks with the base and with the voice, and saves the voice.

import { speech as speechActivity } from "./activities.js";
import { $ } from "./dom.js";
import { originOf } from "./js/speech.js";
import { canEncode, opusFile } from "./opus.js";
import { pronounced } from "./pronunciations.js";
import { playTrack, playedSeconds, stopPlaying, untilPlayed } from "./shared/player.js";
import { Track } from "./shared/track.js";
import { chapters } from "./texts.js";
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
  if (playedSeconds(which) !== null) stopPlaying();
  updateSpoken(which, initial.spoken[which]);
}

/** Replaces the current voice. @param {Voice | null} voice */
export async function replaceVoice(voice) {
  const before = state.voice;
  endSpeaking("mine");
  update({ voice, likeness: initial.likeness });
  await before?.close();
}

/** Speaks a text of any length. @param {Voice} voice @param {string} text @param {import("./js/index.js").StreamOptions} options */
async function* stream(voice, text, options) {
  for (const part of chapters(pronounced(text, state.pronunciations))) yield* voice.stream(part, options);
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
    const sentences = recorded ? [{ ...recorded, words: [], pauseSeconds: 0, stop, warnings: [] }] : stream(/** @type {Voice} */ (voice), text, { ...state.delivery, signal: run.signal });
    for await (const sentence of sentences) {
      if (run.isOver) return;
      track.add(sentence, sentence.pauseSeconds);
      if (sentence.stop !== "durations") ({ stop } = sentence);
      update({ textWarnings: sentence.warnings });
      updateSpoken(which, { speech: track, isRecorded: recorded !== undefined });
    }
    if (run.isOver) return;
    isComplete = true;
    const origin = recorded || !voice ? {} : originOf(voice.info.id);
    updateSpoken(which, { stop, text, origin, file: track.toBlob(origin) });
    if (!state.canOpus) update({ canOpus: await canEncode(track.sampleRate) });
  } catch (error) {
    if (!run.isOver) update({ speakError: unlessCancelled(error) });
  } finally {
    track.complete();
    run.end();
  }
  return isComplete;
}

/** Plays the text as the base voice says it, and then as the visitor's. */
export async function hearBoth() {
  const { deletions } = state;
  for (const which of /** @type {const} */ (["base", "mine"])) {
    if (!(await toggleSpeaking(which)) || !(await untilPlayed(which)) || deletions !== state.deletions) return;
  }
}

/** A name without what file systems do not allow. @param {string} name */
export const fileName = (name) => name.replace(/[\\/:*?"<>|\s\p{Cc}]+/gu, " ").trim().slice(0, 60).trim();

/** The name of the file of a speech: its text. @param {string} text @param {string} [ending] */
export const soundName = (text, ending = ".wav") => `${fileName(text).replace(/\.+$/, "") || "ownvoice"}${ending}`;

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

/** Saves the sound as Opus, with the same marks as a WAV file. @param {"base" | "mine"} which */
export async function saveOpus(which) {
  const { speech, origin, text } = state.spoken[which];
  if (!speech) return;
  try {
    save(await opusFile(speech, [`ENCODER=${origin.ISFT ?? "ownvoice"}`, ...(origin.ICMT ? [`COMMENT=${origin.ICMT}`] : [])]), soundName(text, ".opus"));
  } catch (error) {
    update({ speakError: /** @type {import("./state.js").Failure} */ (error) });
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
