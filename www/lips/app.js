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
import { chooseVideos, forget, learn, openVoice, recordTake, removeTake } from "./teaching.js";
import { cancel, during, stop } from "./work.js";

/** @import { Language } from "../strings.js" */
/** @import { Picture } from "./pictures.js" */
/** @import { Face } from "./pkg/ownvoice_web_lips.js" */
/** @import { Signals } from "./work.js" */

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

/** Sees a video, then speaks it. @param {"opening" | "reading"} work @param {(signals: Signals) => Promise<void>} see */
async function show(work, see) {
  const unseen = { faces: null, pictures: 0 };
  const begun = { ...unseen, lost: false, filmError: null, speakError: null, speech: null };
  // Where it fails, nothing of it is left to be spoken.
  const seen = await during(work, begun, (filmError) => ({ ...unseen, filmError }), async (signals) => {
    faces = [];
    await call("clear", {});
    await see(signals);
  });
  if (seen) await speak();
}

const record = () =>
  show("opening", async (signals) => {
    /** @type {Promise<void>[]} */
    const looks = [];
    const end = await film(signals, () => update({ work: "filming" }), (picture) => {
      const looked = look(picture);
      looked.catch(cancel);
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
$("film-record").addEventListener("click", () => (state.work === "filming" ? stop() : record()));
$("film-cancel").addEventListener("click", cancel);
$("speak").addEventListener("click", speak);
$("play").addEventListener("click", togglePlaying);
$("file").addEventListener("change", () => {
  const [file] = $("file").files ?? [];
  if (file) read(file);
  $("file").value = ""; // the same may be chosen again
});
$("teach-record").addEventListener("click", () => (state.work === "recording" ? stop() : recordTake()));
$("teach-cancel").addEventListener("click", cancel);
$("teach-files").addEventListener("change", () => {
  chooseVideos([...($("teach-files").files ?? [])]);
  $("teach-files").value = "";
});
$("takes").addEventListener("click", ({ target }) => {
  const { take } = /** @type {HTMLElement} */ (target).dataset;
  if (take) removeTake(Number(take));
});
$("learn").addEventListener("click", async () => (await learn()) && hearOwn());
$("learn-stop").addEventListener("click", stop);
$("learn-cancel").addEventListener("click", cancel);
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
