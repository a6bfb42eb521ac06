// The page of lips: events change the state, and each change is drawn.

import { describe } from "../js/errors.js";
import { offerLanguages } from "../page.js";
import { play, position, stop as stopPlaying } from "../play.js";
import { choose } from "../strings.js";
import { $ } from "./dom.js";
import { call, start } from "./engine.js";
import { film, readFile } from "./pictures.js";
import { renderTeaching } from "./render-teaching.js";
import { render, renderWave, showPicture, translate } from "./render.js";
import { OWN, drawnBy, state, update } from "./state.js";
import { cancelTeaching, chooseVideos, forget, learn, openVoice, recordTake, removeTake, stopTeaching } from "./teaching.js";

/** @import { Language } from "../strings.js" */
/** @import { Picture } from "./pictures.js" */
/** @import { Face } from "./pkg/ownvoice_web_lips.js" */

/** Ends what is going on, without a result or with what there is. */
let controls = { cancel: new AbortController(), stop: new AbortController() };
/** The faces that were found last. @type {Face[]} */
let faces = [];

/** Gives a picture to the worker, and shows it. @param {Picture} picture */
async function look(picture) {
  showPicture(picture, faces);
  update({ pictures: state.pictures + 1 });
  const found = await call("look", picture, { transfer: [picture.rgba.buffer] });
  if (!found) return;
  faces = found;
  update({ faces: faces.length });
}

/** Sees a video, then speaks it. @param {"opening" | "reading"} work @param {(signals: { signal: AbortSignal, stopSignal: AbortSignal }) => Promise<void>} see */
async function show(work, see) {
  if (state.work !== "idle") return;
  stopPlaying();
  controls = { cancel: new AbortController(), stop: new AbortController() };
  faces = [];
  update({ work, part: 0, faces: null, pictures: 0, lost: false, filmError: null, speakError: null, speech: null });
  try {
    await call("clear", {});
    await see({ signal: controls.cancel.signal, stopSignal: controls.stop.signal });
    update({ work: "idle" });
  } catch (error) {
    const failure = describe(error);
    // Nothing of it is left to be spoken.
    update({ work: "idle", pictures: 0, faces: null, filmError: failure.code === "cancelled" ? null : failure });
    return;
  }
  await speak();
}

const record = () =>
  show("opening", async (signals) => {
    /** @type {Promise<void>[]} */
    const looks = [];
    const end = await film(signals, () => update({ work: "filming" }), (picture) => {
      const looked = look(picture);
      looked.catch(() => controls.cancel.abort());
      looks.push(looked);
    });
    await Promise.all(looks);
    update({ lost: end === "lost" });
  });

/** @param {File} file */
const read = (file) =>
  show("reading", ({ signal }) =>
    readFile(file, { signal }, async (picture, number, count) => {
      await look(picture);
      update({ part: (number + 1) / count });
    }),
  );

async function speak() {
  if (state.work !== "idle" || state.pictures === 0) return;
  stopPlaying();
  update({ work: "speaking", speech: null, speakError: null });
  try {
    update({ speech: await call("speak", { speaker: $("speaker").value }), work: "idle" });
  } catch (error) {
    update({ work: "idle", speakError: describe(error) });
  }
}

/** Speaks what was shown last in the voice that was learned just now. */
function hearOwn() {
  $("speaker").value = OWN;
  return speak();
}

function togglePlaying() {
  if (position("speech") !== null) return stopPlaying();
  if (state.speech) play("speech", state.speech, () => update({}));
  update({});
}

let moving = false;
/** Draws the waveform as long as it is played. */
function move() {
  renderWave();
  if (moving) return;
  const frame = () => {
    renderWave();
    if ((moving = position("speech") !== null)) requestAnimationFrame(frame);
  };
  if ((moving = position("speech") !== null)) requestAnimationFrame(frame);
}

drawnBy(() => {
  render();
  renderTeaching();
  move();
});

$("reload").addEventListener("click", () => location.reload());
$("film-record").addEventListener("click", () => (state.work === "filming" ? controls.stop.abort() : record()));
$("film-cancel").addEventListener("click", () => controls.cancel.abort());
$("speak").addEventListener("click", speak);
$("play").addEventListener("click", togglePlaying);
$("file").addEventListener("change", () => {
  const [file] = $("file").files ?? [];
  if (file) read(file);
  $("file").value = ""; // the same may be chosen again
});
$("teach-record").addEventListener("click", () => (state.work === "recording" ? stopTeaching() : recordTake()));
$("teach-cancel").addEventListener("click", cancelTeaching);
$("teach-files").addEventListener("change", () => {
  chooseVideos([...($("teach-files").files ?? [])]);
  $("teach-files").value = "";
});
$("takes").addEventListener("click", ({ target }) => {
  const { take } = /** @type {HTMLElement} */ (target).dataset;
  if (take) removeTake(Number(take));
});
$("learn").addEventListener("click", async () => (await learn()) && hearOwn());
$("learn-stop").addEventListener("click", stopTeaching);
$("learn-cancel").addEventListener("click", cancelTeaching);
$("own-file").addEventListener("change", async () => {
  const [file] = $("own-file").files ?? [];
  $("own-file").value = "";
  if (file && (await openVoice(file))) hearOwn();
});
$("own-forget").addEventListener("click", forget);
$("languages").addEventListener("click", ({ target }) => {
  const { lang } = /** @type {HTMLElement} */ (target);
  if (!lang) return;
  choose(/** @type {Language} */ (lang));
  translate();
  update({});
});
addEventListener("resize", () => update({}));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => update({}));

offerLanguages();
translate();
update({});
await start();
