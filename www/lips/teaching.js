// Takes of the visitor's own face and voice, and learning from them. Nothing of it outlives the page.

import { OwnvoiceError, describe, throwIfAborted } from "../js/errors.js";
import { decodeAudio } from "../shared/decode-audio.js";
import { keepScreenOn } from "../shared/wake-lock.js";
import { perform, unlessCancelled } from "./activities.js";
import { call } from "./engine.js";
import { RATE, readPictures } from "./pictures.js";
import { record } from "./recorder.js";
import { state, update } from "./state.js";
import { shiftedBy } from "./stretch.js";

/** @import { Task } from "../shared/activity.js" */
/** @import { LeftOut, LipTake, LipTuning } from "./pkg/ownvoice_web_lips.js" */
/** @import { Name, Take } from "./state.js" */

/** The longest video that can be learned from. */
const MAX_TAKE_SECONDS = 120;
/** Pictures that are kept unencoded at once: 20 s. */
const MAX_PICTURES = 20 * RATE;
/** Pictures and sound of one video differ in length by a second at most. */
const MAX_STILL_PICTURES = RATE;
/** The length of a track is a multiple of this number of pictures. */
const PICTURES_PER_UNIT = 5;
/** A learned voice takes a few megabytes. */
const MAX_FILE_BYTES = 100e6;

/** Does work that teaches. @param {Name} name @param {(task: Task<Name>) => Promise<void>} work */
function teach(name, work) {
  const begin = (/** @type {Task<Name>} */ task) => {
    update({ teachError: null, part: 0 });
    return work(task);
  };
  return perform(name, begin, (teachError) => ({ teachError }));
}

export const recordTake = () =>
  teach("asking", async (task) => {
    task.onEnd(() => update({ recording: null }));
    const video = await record(task, (recording) => {
      task.to("recording");
      update({ recording });
    });
    const number = state.recorded + 1;
    update({ recorded: number, recording: null });
    task.to("taking");
    await addTake(number, video, task.signal);
  });

/** @param {File[]} files */
export const addVideos = (files) =>
  teach("taking", async ({ signal }) => {
    for (const file of files) await addTake(file.name, file, signal);
  });

/** Adds a take, or the reason why nothing can be learned from it. @param {string | number} name @param {Blob} video @param {AbortSignal} signal */
async function addTake(name, video, signal) {
  update({ taking: name, part: 0 });
  /** @type {Take} */
  let take = { name, ids: [], seconds: 0, windows: 0, leftOut: [], error: null };
  try {
    take = { ...take, ...(await readTake(video, signal)) };
  } catch (error) {
    throwIfAborted(signal);
    take = { ...take, error: unlessCancelled(error) };
  }
  update({ takes: [...state.takes, take] });
}

/** Reads a video and its sound in parts of similar length, since the pictures of a part are kept until its end. @param {Blob} video @param {AbortSignal} signal */
async function readTake(video, signal) {
  // The sound comes first, because a video without sound is refused at once.
  const sound = await decodeAudio(video);
  /** @type {Pick<Take, "ids" | "seconds" | "windows" | "leftOut">} */
  const take = { ids: [], seconds: 0, windows: 0, leftOut: [] };
  let refusal = null;
  /** Index of the first picture of the part. */
  let first = 0;
  // Where sound goes on after the pictures, the browser repeats the last picture, equal in every byte.
  let previous = new Uint8ClampedArray(0);
  let repeats = 0;
  try {
    await readPictures(video, { signal, maxSeconds: MAX_TAKE_SECONDS }, async (picture, number, count) => {
      repeats = isEqual(picture.rgba, previous) ? repeats + 1 : 0;
      previous = picture.rgba.slice();
      await call("addTrainingPicture", picture, { transfer: [picture.rgba.buffer] });
      update({ part: (number + 1) / count });
      const parts = Math.ceil(count / MAX_PICTURES);
      const length = Math.ceil(count / parts / PICTURES_PER_UNIT) * PICTURES_PER_UNIT;
      const isLast = number + 1 === count;
      if (number + 1 < first + length && !isLast) return;
      if (isLast && repeats > MAX_STILL_PICTURES && repeats < number) throw new OwnvoiceError("lengths-differ", "the sound goes on after the pictures", { found: repeats / RATE });
      const [begin, end] = [first / RATE, isLast ? Infinity : (number + 1) / RATE];
      try {
        /** @type {LipTake} */
        const part = await call("addTake", { samples: sound.samples.slice(begin * sound.sampleRate, end * sound.sampleRate), sampleRate: sound.sampleRate });
        take.ids.push(part.id);
        take.seconds += part.seconds;
        take.windows += part.windows;
        take.leftOut.push(...part.leftOut.map((stretch) => shiftedBy(stretch, begin)));
      } catch (error) {
        refusal ??= error;
        take.leftOut.push(/** @type {LeftOut} */ ({ ...describe(error), begin, end: (number + 1) / RATE }));
      }
      first = number + 1;
    });
  } catch (error) {
    // Cancelled, or refused as a whole: the parts before, and the pictures of the current part, are removed.
    await call("dropPictures", {});
    await call("removeTakes", { ids: take.ids });
    throw error;
  }
  if (take.ids.length === 0) throw refusal ?? new OwnvoiceError("video-unreadable", "it has no pictures");
  return take;
}

/** @param {Uint8ClampedArray} one @param {Uint8ClampedArray} other */
const isEqual = (one, other) => one.length === other.length && one.every((value, at) => value === other[at]);

/** @param {number} index */
export const removeTake = (index) =>
  teach("forgetting", async () => {
    const take = state.takes[index];
    await call("removeTakes", { ids: take.ids });
    update({ takes: state.takes.filter((other) => other !== take) });
  });

/** @param {any} progress */
function showProgress({ status, before, ...step }) {
  if (status === "begun") return update({ heldOut: [before], startedMs: performance.now() });
  update({ step, heldOut: step.heldOutLoss === null ? state.heldOut : [...state.heldOut, step.heldOutLoss] });
}

/** Makes a learned voice the visitor's own. @param {{ tuning: LipTuning, bytes: Uint8Array }} learned */
const adopt = ({ tuning, bytes }) => update({ own: { tuning, file: new Blob([/** @type {Uint8Array<ArrayBuffer>} */ (bytes)]) } });

export const learn = () =>
  teach("learning", async (task) => {
    update({ step: null, heldOut: [] });
    task.onEnd(keepScreenOn());
    adopt(await call("train", {}, { signal: task.signal, stopSignal: task.stopSignal, onProgress: showProgress }));
  });

/** @param {File} file */
export const openVoice = (file) =>
  teach("taking", async () => {
    if (file.size > MAX_FILE_BYTES) throw new OwnvoiceError("file-too-large", "the file is too large", { found: file.size / 1e6 });
    update({ taking: file.name });
    const bytes = new Uint8Array(await file.arrayBuffer());
    adopt(await call("open", { bytes }, { transfer: [bytes.buffer] }));
  });

/** Forgets takes and voice. */
export const forgetAll = () =>
  teach("forgetting", async () => {
    await call("forget", {});
    update({ takes: [], recorded: 0, own: null, step: null, heldOut: [], speech: null });
  });
