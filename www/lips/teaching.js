// Takes of one's own face and voice, and the learning from them. Nothing of it outlives the page.

import { stayAwake } from "../awake.js";
import { OwnvoiceError, check, describe } from "../js/errors.js";
import { stop as stopPlaying } from "../play.js";
import { decodeSound } from "../sound.js";
import { call } from "./engine.js";
import { RATE, readFile } from "./pictures.js";
import { record } from "./recorder.js";
import { state, update } from "./state.js";
import { movedBy } from "./stretch.js";
import { during, failed } from "./work.js";

/** @import { LeftOut, LipTake } from "./pkg/ownvoice_web_lips.js" */
/** @import { State, Take } from "./state.js" */
/** @import { Signals } from "./work.js" */

/** A chosen video is this long at most. */
const MOST_TAKE_SECONDS = 120;
/** Pictures that are kept at once, whole: 20 s. */
const MOST_PICTURES = 20 * RATE;
/** Pictures without sound, or sound without pictures, of more than a second are those of different videos. */
const MOST_STILL = RATE;
/** Tracks are multiples of so many pictures. */
const UNIT = 5;
/** What is learned is a few megabytes. */
const MAX_FILE_BYTES = 100e6;

/** What teaches, one thing at a time. @param {State["work"]} work @param {(signals: Signals) => Promise<void>} act */
const teaching = (work, act) => during(work, { teachError: null }, (teachError) => ({ teachError }), act);

export const recordTake = () =>
  teaching("asking", async (signals) => {
    /** @type {Blob} */
    let film;
    try {
      film = await record(signals, (recording) => update({ work: "recording", recording }));
    } finally {
      update({ recording: null });
    }
    const name = state.recorded + 1;
    update({ recorded: name });
    await add(name, film, signals.signal);
  });

/** @param {File[]} files */
export const chooseVideos = (files) =>
  teaching("taking", async ({ signal }) => {
    for (const file of files) await add(file.name, file, signal);
  });

/** Adds a take, or why it is none. @param {string | number} name @param {Blob} film @param {AbortSignal} signal */
async function add(name, film, signal) {
  update({ work: "taking", taking: name, part: 0 });
  /** @type {Take} */
  let take = { name, ids: [], seconds: 0, windows: 0, leftOut: [], error: null };
  try {
    take = { ...take, ...(await read(film, signal)) };
  } catch (error) {
    check(signal);
    take = { ...take, error: failed(error) };
  }
  update({ takes: [...state.takes, take] });
}

/** Reads a video and its sound in parts of like length, since the pictures of each are kept until its end. @param {Blob} film @param {AbortSignal} signal */
async function read(film, signal) {
  // First, because one without a sound is refused at once.
  const sound = await decodeSound(film);
  /** @type {Pick<Take, "ids" | "seconds" | "windows" | "leftOut">} */
  const found = { ids: [], seconds: 0, windows: 0, leftOut: [] };
  let error = null;
  let first = 0;
  /** The last picture, and how many were like it to the last bit: where sound goes on after the pictures, the browser shows the last one. */
  let before = new Uint8ClampedArray(0);
  let still = 0;
  try {
    await readFile(film, { signal, mostSeconds: MOST_TAKE_SECONDS }, async (picture, number, count) => {
      still = isSame(picture.rgba, before) ? still + 1 : 0;
      before = picture.rgba.slice();
      await call("lookToLearn", picture, { transfer: [picture.rgba.buffer] });
      update({ part: (number + 1) / count });
      const parts = Math.ceil(count / MOST_PICTURES);
      const length = Math.ceil(count / parts / UNIT) * UNIT;
      const last = number + 1 === count;
      if (number + 1 < first + length && !last) return;
      if (last && still > MOST_STILL && still < number) throw new OwnvoiceError("lengths-differ", "the sound goes on after the pictures", { found: still / RATE });
      const [begin, end] = [first / RATE, last ? Infinity : (number + 1) / RATE];
      try {
        /** @type {LipTake} */
        const part = await call("take", { samples: sound.samples.slice(begin * sound.sampleRate, end * sound.sampleRate), sampleRate: sound.sampleRate });
        found.ids.push(part.id);
        found.seconds += part.seconds;
        found.windows += part.windows;
        found.leftOut.push(...part.leftOut.map((stretch) => movedBy(stretch, begin)));
      } catch (refusal) {
        error ??= refusal;
        found.leftOut.push(/** @type {LeftOut} */ ({ ...describe(refusal), begin, end: (number + 1) / RATE }));
      }
      first = number + 1;
    });
  } catch (failure) {
    // Cancelled or refused as a whole: the parts before are learned from no more than the one under way.
    await call("take", null);
    await call("removeTakes", { ids: found.ids });
    throw failure;
  }
  if (found.ids.length === 0) throw error ?? new OwnvoiceError("video-unreadable", "it holds no pictures");
  return found;
}

/** @param {Uint8ClampedArray} one @param {Uint8ClampedArray} other */
const isSame = (one, other) => one.length === other.length && one.every((value, at) => value === other[at]);

/** @param {number} index */
export async function removeTake(index) {
  if (state.work !== "idle") return;
  const take = state.takes[index];
  await call("removeTakes", { ids: take.ids });
  update({ takes: state.takes.filter((other) => other !== take) });
}

/** @param {any} progress */
function onProgress({ status, before, ...step }) {
  if (status === "begun") return update({ heldOut: [before], begun: performance.now() });
  update({ step, heldOut: step.heldOutLoss === null ? state.heldOut : [...state.heldOut, step.heldOutLoss] });
}

/** @param {{ tuning: import("./pkg/ownvoice_web_lips.js").LipTuning, bytes: Uint8Array<ArrayBuffer> }} learned */
const keep = ({ tuning, bytes }) => update({ own: { tuning, file: new Blob([bytes]) } });

export const learn = () =>
  teaching("learning", async ({ signal, stopSignal }) => {
    update({ step: null, heldOut: [] });
    stayAwake(true);
    try {
      keep(await call("tune", {}, { signal, stopSignal, onProgress }));
    } finally {
      stayAwake(false);
    }
  });

/** @param {File} file */
export const openVoice = (file) =>
  teaching("taking", async () => {
    if (file.size > MAX_FILE_BYTES) throw new OwnvoiceError("file-too-large", "the file is too large", { found: file.size / 1e6 });
    update({ taking: file.name });
    const bytes = new Uint8Array(await file.arrayBuffer());
    keep(await call("open", { bytes }, { transfer: [bytes.buffer] }));
  });

export async function forget() {
  if (state.work !== "idle") return;
  stopPlaying();
  await call("forget", {});
  update({ takes: [], recorded: 0, own: null, step: null, heldOut: [], teachError: null, speech: null });
}
