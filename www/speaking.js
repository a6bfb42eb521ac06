// Speaking, before and after; and the voice as a file.

import { stop as stopPlaying } from "./play.js";
import { togglePlaying } from "./recording.js";
import { $ } from "./render.js";
import { failure, initial, state, studio, update } from "./state.js";
import { t } from "./strings.js";
import { take } from "./training.js";

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

/** @param {"base" | "mine"} which */
export async function speak(which) {
  if (state.spoken[which].status === "working") return speaking[which].abort();
  const voice = which === "base" ? studio().base : state.voice;
  if (!voice) return;
  stopPlaying();
  speaking[which] = new AbortController();
  forgetSpoken(which);
  update({ speakError: null });
  spoke(which, { status: "working", words: t("speak.wait") });
  try {
    const speech = await voice.say($("text").value, {
      signal: speaking[which].signal,
      onProgress: ({ sentence, sentences }) => spoke(which, { words: t("speak.working", { n: sentence, count: sentences }) }),
    });
    spoke(which, { status: "done", speech, url: URL.createObjectURL(speech.toBlob()) });
    togglePlaying(which, speech);
  } catch (error) {
    spoke(which, { status: "idle" });
    update({ speakError: failure(error) });
  }
}

export function saveVoice() {
  if (!state.voiceFile) return;
  const url = URL.createObjectURL(state.voiceFile);
  Object.assign(document.createElement("a"), { href: url, download: "me.ownvoice" }).click();
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
