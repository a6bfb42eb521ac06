// The things of the page: showing, learning, naming a picture, saving and opening, deleting.

import { OwnvoiceError, describe, throwIfAborted } from "../js/errors.js";
import { Store } from "../js/store.js";
import { endOrTimeout } from "../shared/activity.js";
import { keepScreenOn } from "../shared/wake-lock.js";
import { activity, perform } from "./activities.js";
import { $ } from "./dom.js";
import { call } from "./engine.js";
import { filmSecond, readPicture, thumbnail } from "./pictures.js";
import { initial, state, update } from "./state.js";
import { STORE } from "./store.js";
import { t } from "./strings.js";

/** @import { Failure, Thing } from "./state.js" */
/** @import { Picture } from "./pictures.js" */
/** @import { Called, Learned, Stored } from "./worker.js" */

export const MOST_THINGS = 5;
const LEAST_THINGS = 2;
/** Pictures of a thing, of which more would only take time. */
export const MOST_PICTURES = 60;
/** The largest file that is opened as a net. */
const MAX_FILE_BYTES = 100e6;

/** What a thing is called on the page. @param {{ name: string }} thing @param {number} index */
export const nameOf = ({ name }, index) => name.trim() || t("show.thing", { number: index + 1 });

/** The things that can be learned, as they are called. @returns {Called[]} */
export const learnable = () => state.things.map((thing, index) => ({ ...thing, name: nameOf(thing, index) })).filter(({ thumbnails }) => thumbnails.length > 0).map(({ id, name }) => ({ id, name }));

export const canLearn = () => learnable().length >= LEAST_THINGS;

/** @returns {Thing} */
function newThing() {
  state.made += 1;
  return { id: `${state.made}`.padStart(6, "0"), name: "", thumbnails: [], error: null };
}

/** Shows what the last visit left, and goes on with what it was doing. @param {Stored} stored */
export function restore({ side, isKept, things, learned, interrupted }) {
  const made = Math.max(0, ...things.map(({ id }) => Number(id)));
  update({ side, isKept, made, things: things.map(({ id, name, pictures }) => ({ id, name, thumbnails: pictures.map((picture) => thumbnail(picture, side)), error: null })) });
  while (state.things.length < LEAST_THINGS) update({ things: [...state.things, newThing()] });
  if (learned) adopt(learned);
  if (interrupted) learn(interrupted);
}

/** @param {string} id @param {Partial<Thing>} change */
const changeThing = (id, change) => update({ things: state.things.map((thing) => (thing.id === id ? { ...thing, ...change } : thing)) });

/** @param {string} id */
const thingOf = (id) => /** @type {Thing} */ (state.things.find((thing) => thing.id === id));

export const addThing = () => update({ things: [...state.things, newThing()], isDeleted: false });

/** @param {string} id @param {string} name */
export async function rename(id, name) {
  changeThing(id, { name, error: null });
  try {
    await call("call", { id, name });
  } catch (error) {
    changeThing(id, { error: describe(error) });
  }
}

/** @param {string} id */
export const removeThing = (id) =>
  perform(
    "forgetting",
    async () => {
      await call("remove", { id });
      update({ things: state.things.filter((thing) => thing.id !== id) });
      while (state.things.length < LEAST_THINGS) addThing();
    },
    (error) => ({ showError: error }),
  );

/** @param {string} id @param {Picture[]} pictures */
async function addPictures(id, pictures) {
  const transfer = pictures.map(({ rgba }) => rgba.buffer);
  const added = await call("addPictures", { id, pictures }, { transfer });
  changeThing(id, { thumbnails: [...thingOf(id).thumbnails, ...added.map((picture) => thumbnail(picture, state.side))] });
}

/** Films a thing for a second. @param {string} id */
export const filmThing = (id) =>
  perform(
    "filming",
    async ({ signal }) => {
      update({ shown: id, part: 0, showError: null, isDeleted: false });
      changeThing(id, { error: null });
      await addPictures(id, await filmSecond($("view"), state.side, signal, (part) => update({ part })));
    },
    (error) => ({ showError: error }),
  );

/** Reads pictures of a thing; those that cannot be read are left out, and the first reason is shown. @param {string} id @param {File[]} files */
export const readThing = (id, files) =>
  perform(
    "reading",
    async ({ signal }) => {
      update({ shown: id, part: 0, showError: null, isDeleted: false });
      /** @type {Failure | null} */
      let error = null;
      const room = MOST_PICTURES - thingOf(id).thumbnails.length;
      for (const [index, file] of files.slice(0, room).entries()) {
        try {
          await addPictures(id, [await readPicture(file, state.side, signal)]);
        } catch (failure) {
          throwIfAborted(signal);
          error ??= describe(failure);
        }
        update({ part: (index + 1) / files.length });
      }
      changeThing(id, { error });
    },
    (error) => ({ showError: error }),
  );

/** @param {any} progress */
function showProgress({ status, before, done, of, losses, ...step }) {
  if (status === "looking") return update({ part: done / of });
  if (status === "begun") return update({ accuracy: before.accuracy });
  update({ step, losses: [...state.losses, ...losses], accuracy: step.heldOut?.accuracy ?? state.accuracy });
}

/** Makes a net the one that names. @param {Learned} learned */
const adopt = ({ tuning, bytes }) => update({ net: { tuning, file: new Blob([bytes]) }, seen: null, seeError: null });

/** Learns the things. @param {Called[]} [interrupted] The things of a learning that a closed tab has interrupted, which goes on. */
export const learn = (interrupted) =>
  perform(
    "learning",
    async (task) => {
      const called = interrupted ?? learnable();
      const pictures = called.reduce((sum, { id }) => sum + (state.things.find((thing) => thing.id === id)?.thumbnails.length ?? 0), 0);
      update({ looking: { pictures, isResumed: Boolean(interrupted) }, step: null, part: 0, losses: [], accuracy: null, learnError: null, isDeleted: false });
      if (new Set(called.map(({ name }) => name)).size < called.length) throw new OwnvoiceError("names-equal", "two things have the same name");
      task.onEnd(keepScreenOn());
      const learned = await call("learn", { called, isResumed: Boolean(interrupted) }, { signal: task.signal, stopSignal: task.stopSignal, onProgress: showProgress });
      adopt(learned);
    },
    (learnError) => ({ learnError, losses: [] }),
  );

/** Names a picture of a file. @param {File} file */
export async function lookAt(file) {
  update({ seeError: null });
  try {
    const picture = await readPicture(file, state.side);
    update({ picture, seen: null });
    const seen = await call("look", { ...picture, rgba: picture.rgba.slice() });
    if (state.picture === picture) update({ seen });
  } catch (error) {
    update({ seeError: describe(error) });
  }
}

/** @param {File} file */
export const openNet = (file) =>
  perform(
    "opening",
    async () => {
      update({ keepError: null, isDeleted: false });
      if (file.size > MAX_FILE_BYTES) throw new OwnvoiceError("file-too-large", "the file is too large", { found: file.size / 1e6 });
      const bytes = new Uint8Array(await file.arrayBuffer());
      adopt(await call("open", { bytes }, { transfer: [bytes.buffer] }));
    },
    (keepError) => ({ keepError }),
  );

/** Deletes all that this page has stored, and forgets it in this tab. */
export async function deleteAll() {
  if (!confirm(t("keep.sure"))) return;
  const ended = activity.cancel();
  await perform(
    "forgetting",
    async () => {
      update({ keepError: null });
      await Store.clear(STORE);
      // A write that was in progress has completed by then.
      await endOrTimeout(ended);
      await Store.clear(STORE);
      await forget();
    },
    (keepError) => ({ keepError }),
  );
}

/** Forgets everything in this tab. */
async function forget() {
  await call("forget", {});
  const { losses, step, looking, accuracy, net, picture, seen, seeError, learnError, showError, made } = initial;
  update({ things: [], losses, step, looking, accuracy, net, picture, seen, seeError, learnError, showError, made, isDeleted: true });
  while (state.things.length < LEAST_THINGS) update({ things: [...state.things, newThing()] });
}

/** Forgets everything as soon as another tab has deleted it. */
export const forgetWithOthers = () =>
  new Store(STORE).onCleared(() => {
    if (state.activity === "forgetting") return;
    activity.cancel();
    perform("forgetting", forget, (keepError) => ({ keepError }));
  });
