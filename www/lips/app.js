// The page of lips: events change the state, and each change is drawn.

import { describe } from "../js/errors.js";
import { Remote } from "../js/rpc.js";
import { startWorker } from "../js/start.js";
import { offerLanguages } from "../page.js";
import { play, position, stop as stopPlaying } from "../play.js";
import { choose, number } from "../strings.js";
import { $ } from "./dom.js";
import { film, readFile } from "./pictures.js";
import { render, renderWave, showPicture, translate } from "./render.js";
import { drawnBy, state, update } from "./state.js";

/** @import { Language } from "../strings.js" */
/** @import { Picture } from "./pictures.js" */
/** @import { Face } from "./pkg/ownvoice_web_lips.js" */

const MODEL = new URL("models/lips/", location.href).href;
const PROGRAM = new URL("pkg/ownvoice_web_lips_bg.wasm.gz", import.meta.url).href;
const MB = 1e6;

/** @type {Remote} */
let worker;
/** Ends what is going on, without a result or with what there is. */
let controls = { cancel: new AbortController(), stop: new AbortController() };
/** The faces that were found last. @type {Face[]} */
let faces = [];

/** @param {any} progress */
function onLoading({ status, what, loadedBytes, totalBytes }) {
  if (status === "starting") return update({ loading: { key: "load.starting", values: {} }, loaded: null });
  const mb = number(loadedBytes / MB, 1);
  if (what === "program") return update({ loading: { key: "load.program", values: { mb } }, loaded: null });
  update({ loading: { key: "load.base", values: { mb, total: number(totalBytes / MB, 1) } }, loaded: loadedBytes / totalBytes });
}

async function start() {
  try {
    worker = new Remote(startWorker(new URL("./worker.js", import.meta.url).href).worker);
    const speakers = await worker.call("load", { base: MODEL, wasmUrl: PROGRAM }, { onProgress: onLoading });
    update({ load: { status: "ready" }, speakers });
    worker.ended.then((error) => update({ load: { status: "failed", error: describe(error) } }));
  } catch (error) {
    update({ load: { status: "failed", error: describe(error) } });
  }
}

/** Gives a picture to the worker, and shows it. @param {Picture} picture */
async function look(picture) {
  showPicture(picture, faces);
  update({ pictures: state.pictures + 1 });
  const found = await worker.call("look", picture, { transfer: [picture.rgba.buffer] });
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
    await worker.call("clear", {});
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
    readFile(file, signal, async (picture, part) => {
      await look(picture);
      update({ part });
    }),
  );

async function speak() {
  if (state.work !== "idle" || state.pictures === 0) return;
  stopPlaying();
  update({ work: "speaking", speech: null, speakError: null });
  try {
    update({ speech: await worker.call("speak", { speaker: $("speaker").value }), work: "idle" });
  } catch (error) {
    update({ work: "idle", speakError: describe(error) });
  }
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
render();
await start();
