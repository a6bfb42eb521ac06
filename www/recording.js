// Records sentences, card by card.

import { activity, isAtCard } from "./activities.js";
import { $, showMaking } from "./dom.js";
import { isLost } from "./js/errors.js";
import { stopPlaying, togglePlaying } from "./shared/player.js";
import { CONSENT, cards, checkClip, currentPrompt, hasMorePrompts, isOwn, mayRecord, measureUsage, state, studio, update, updateUnlessDeleted } from "./state.js";
import { t } from "./strings.js";

/** @import { Storage } from "./js/index.js" */
/** @import { Task } from "./shared/activity.js" */
/** @import { Failure, Name, PageClip } from "./state.js" */

/** The microphone's level, which changes too often to be part of the state. */
export const live = { peaks: /** @type {number[]} */ ([]), levelDb: -100, peakDb: -100 };

/** The task in which the microphone is open. @type {Task<Name> | null} */
let microphoneTask = null;

/** Starts a recording, or ends it. */
export async function toggleRecording() {
  if (activity.current === "recording") return finishRecording();
  if (!mayRecord(state)) return;
  if (microphoneTask?.to("recording")) return record(microphoneTask);
  const task = activity.begin("opening");
  if (!task) return;
  microphoneTask = task;
  task.onEnd(() => {
    studio().microphone.close();
    Object.assign(live, { peaks: [], levelDb: -100, peakDb: -100 });
    microphoneTask = null;
  });
  update({ microphoneError: null });
  try {
    await studio().microphone.open(onLevel, microphoneLost, { signal: task.signal, deviceId: state.microphone || undefined });
  } catch (error) {
    return failed(task, error);
  }
  prepareTraining();
  nameMicrophones();
  if (task.to("recording")) record(task);
}

/** Browsers name microphones once one has been allowed. */
async function nameMicrophones() {
  const devices = await navigator.mediaDevices.enumerateDevices().catch(() => []);
  update({ microphones: devices.filter(({ kind, label }) => kind === "audioinput" && label).map(({ deviceId, label }) => ({ deviceId, label })) });
}

/** Reads which microphone was chosen at an earlier visit. @param {Storage} storage */
export const restoreMicrophone = async (storage) => update({ microphone: (await storage.kept("microphone"))?.microphone ?? "" });

/** Records with another microphone from now on, also at later visits. @param {string} microphone */
export async function chooseMicrophone(microphone) {
  update({ microphone });
  closeMicrophone();
  await tryToStore(() => studio().storage?.keep("microphone", { microphone }));
}

/** @param {Task<Name>} task */
function record(task) {
  try {
    studio().microphone.record();
    live.peaks = [];
    update({ microphoneError: null });
  } catch (error) {
    failed(task, error);
  }
}

/** @param {Task<Name>} task @param {unknown} error */
function failed(task, error) {
  if (task.isOver) return;
  task.end();
  update({ microphoneError: /** @type {Failure} */ (error) });
}

/** Compiles the GPU pipelines of the training while sentences are read. */
async function prepareTraining() {
  try {
    await studio().prepare();
  } catch (error) {
    // The training would fail as well and show the error.
    if (!isLost(error)) console.error(error);
  }
}

/** @param {number} peakDb @param {number} levelDb */
function onLevel(peakDb, levelDb) {
  live.levelDb = levelDb;
  live.peakDb = peakDb;
  live.peaks.push(10 ** (peakDb / 20));
}

async function finishRecording() {
  const task = microphoneTask;
  const prompt = currentPrompt(state);
  if (!task?.to("checking")) return;
  const { deletions } = state;
  /** @type {Omit<PageClip, "report" | "error">} */
  let clip;
  try {
    clip = { id: prompt.id, text: prompt.text, ...(await studio().microphone.stop()) };
  } catch (error) {
    return failed(task, error);
  }
  if (deletions !== state.deletions) return;
  const store = () => tryToStore(() => studio().storage?.put(clip));
  // A good recording stays, here and on disk, until a better one has passed. Without one, the new one is stored before it is checked, so that it is not lost.
  const hasGood = Boolean(state.recordings.get(prompt.id)?.report);
  if (!hasGood) await store();
  const checked = await checkClip(clip, "recording");
  if (deletions !== state.deletions) return;
  if (checked.error && hasGood) update({ microphoneError: { ...checked.error, message: checked.error.message, kept: true } });
  else update({ recordings: new Map(state.recordings).set(prompt.id, checked) });
  if (checked.report && hasGood) await store();
  if (studio().microphone.isOpen) task.to("listening");
  else task.end();
}

/** Shows an error where something cannot be stored, and goes on. @param {() => Promise<void> | undefined} write */
async function tryToStore(write) {
  const updateHere = updateUnlessDeleted();
  try {
    await write();
    await measureUsage();
    // Now there is something to lose: a good moment for browsers that ask the visitor.
    const { storage } = studio();
    if (storage && !state.usage.asked && !state.usage.persistent) {
      update({ usage: { ...state.usage, asked: true } });
      storage.persist().then(measureUsage);
    }
  } catch (error) {
    updateHere({ microphoneError: /** @type {Failure} */ (error) });
  }
}

async function microphoneLost() {
  if (activity.current === "recording") await finishRecording();
  closeMicrophone();
  update({ microphoneError: { code: "microphone-missing", message: t("read.lost") } });
}

export const closeMicrophone = () => microphoneTask?.end();

/** Discards the recording of the sentence, or brings it back. */
export async function discard() {
  const prompt = currentPrompt(state);
  if (!prompt || isAtCard(activity.current)) return;
  stopPlaying();
  const recordings = new Map(state.recordings);
  const discarded = recordings.get(prompt.id) ?? null;
  const restored = discarded ? null : state.discarded;
  if (discarded) recordings.delete(prompt.id);
  else if (restored?.id === prompt.id) recordings.set(prompt.id, restored);
  else return;
  update({ recordings, discarded, microphoneError: null });
  await tryToStore(() => (restored ? studio().storage?.put(restored) : studio().storage?.remove(prompt.id)));
}

/** Shows the card of another sentence. After the last one, the base's next sentence follows. @param {number} index */
export function showPrompt(index) {
  if (isAtCard(activity.current) || index < 0) return;
  if (index === state.prompts.length && hasMorePrompts(state)) {
    const own = state.prompts.filter(isOwn);
    update({ prompts: cards(studio(), index - own.length, own) });
  }
  if (!state.prompts[index]) return;
  stopPlaying();
  update({ current: index, step: state.prompts[index].id === CONSENT.id ? "agree" : "read", microphoneError: null });
  // The card may have moved to another step.
  $("card").scrollIntoView({ block: "nearest" });
}

/** Shows the card on which a phrase of the visitor's own is read, to be played as it is in place of speech. @param {string} text */
export function showPhrase(text) {
  if (isAtCard(activity.current) || (state.source !== "record" && !chooseSource("record"))) return;
  const known = state.prompts.findIndex((prompt) => isOwn(prompt) && prompt.text === text);
  if (known < 0) update({ prompts: [CONSENT, { id: `own-${Date.now().toString(36)}`, text }, ...state.prompts.slice(1)] });
  showMaking();
  showPrompt(known < 0 ? 1 : known);
  $("card").focus();
}

export function playClip() {
  const prompt = currentPrompt(state);
  if (prompt) togglePlaying("clip", state.recordings.get(prompt.id));
}

/** Changes between microphone and files. @param {"record" | "files"} source @returns {boolean} Whether it is allowed now. */
export function chooseSource(source) {
  const task = activity.begin("switching");
  update({ source: task ? source : state.source });
  showMaking();
  task?.end();
  return task !== null;
}
