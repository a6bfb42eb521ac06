// Recording sentences, card by card.

import { $ } from "./dom.js";
import { play, position, stop as stopPlaying } from "./play.js";
import { currentPrompt, failure, isLost, judged, mayRecord, state, studio, update, weigh } from "./state.js";
import { t } from "./strings.js";

/** @import { Failure } from "./state.js" */

/** What the microphone hears right now: changes too often to be state. */
export const live = { peaks: /** @type {number[]} */ ([]), levelDb: -100, peakDb: -100 };

export async function toggleRecording() {
  if (state.microphone === "recording") return finishRecording();
  if (!mayRecord(state) || state.microphone === "opening" || state.microphone === "checking") return;
  stopPlaying();
  const { microphone } = studio();
  const { deletions } = state;
  try {
    if (!microphone.isOpen) {
      update({ microphone: "opening", microphoneError: null });
      await microphone.open(hear, lost);
      prepare();
    }
    microphone.record();
    live.peaks = [];
    update({ microphone: "recording", microphoneError: null });
  } catch (error) {
    if (deletions === state.deletions) update({ microphone: "closed", microphoneError: /** @type {Failure} */ (error) });
  }
}

/** While sentences are read, the graphics card compiles what it will train with. */
async function prepare() {
  try {
    await studio().prepare();
  } catch (error) {
    // The training would fail alike, and say so; a lost engine is started again.
    if (!isLost(failure(error))) console.error(error);
  }
}

/** @param {number} peakDb @param {number} levelDb */
function hear(peakDb, levelDb) {
  live.levelDb = levelDb;
  live.peakDb = peakDb;
  live.peaks.push(10 ** (peakDb / 20));
}

async function finishRecording() {
  const prompt = currentPrompt(state);
  const recorded = studio().microphone.stop();
  if (!prompt) return;
  update({ microphone: "checking" });
  const clip = { id: prompt.id, text: prompt.text, ...recorded };
  // Kept before it is judged: no recording is lost, whatever comes next.
  const { deletions } = state;
  await keep(() => studio().kept?.put(clip));
  const verdict = await judged(clip, "recording");
  if (deletions !== state.deletions) return;
  update({ microphone: studio().microphone.isOpen ? "open" : "closed", recordings: new Map(state.recordings).set(prompt.id, verdict) });
}

/** Says when the browser cannot keep something; the page goes on without. @param {() => Promise<void> | undefined} write */
async function keep(write) {
  try {
    await write();
    await weigh();
    // Now there is something to lose; a browser that asks the visitor asks about that.
    const { kept } = studio();
    if (kept && !state.kept.asked && !state.kept.persistent) {
      update({ kept: { ...state.kept, asked: true } });
      kept.persist().then(weigh);
    }
  } catch (error) {
    update({ microphoneError: /** @type {Failure} */ (error) });
  }
}

async function lost() {
  if (state.microphone === "recording") await finishRecording();
  closeMicrophone();
  update({ microphoneError: { code: "microphone-missing", message: t("read.lost") } });
}

export function closeMicrophone() {
  studio().microphone.close();
  Object.assign(live, { peaks: [], levelDb: -100, peakDb: -100 });
  update({ microphone: "closed" });
}

export async function discard() {
  const prompt = currentPrompt(state);
  if (!prompt) return;
  stopPlaying();
  const recordings = new Map(state.recordings);
  recordings.delete(prompt.id);
  update({ recordings });
  await keep(() => studio().kept?.remove(prompt.id));
}

/** @param {number} index */
export function go(index) {
  if (state.microphone === "recording" || state.microphone === "checking" || !state.prompts[index]) return;
  stopPlaying();
  update({ current: index, microphoneError: null });
  // It may have gone to the step before, or to the next.
  $("card").scrollIntoView({ block: "nearest" });
}

/** @param {string} key @param {{ samples: Float32Array, sampleRate: number } | null | undefined} audio */
export function togglePlaying(key, audio) {
  if (position(key) !== null) return stopPlaying();
  playFrom(key, audio, 0);
}

/** @param {string} key @param {{ samples: Float32Array, sampleRate: number } | null | undefined} audio @param {number} part Where it begins, 0 to 1. */
export function playFrom(key, audio, part) {
  if (!audio?.samples.length) return;
  play(key, audio, () => update({}), part);
  update({});
}

export function playClip() {
  const prompt = currentPrompt(state);
  if (prompt && state.microphone !== "recording") togglePlaying("clip", state.recordings.get(prompt.id));
}
