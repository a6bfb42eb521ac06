// The page of lips: events change the state, and each change is drawn.

import { describe } from "../js/errors.js";
import { drawnWhile, takeFiles } from "../shared/dom.js";
import { setUpPage } from "../shared/page.js";
import { isSilent, onPlaybackChange, togglePlaying } from "../shared/player.js";
import { activity, perform } from "./activities.js";
import { $ } from "./dom.js";
import { call, start } from "./engine.js";
import { film, readPictures } from "./pictures.js";
import { renderTeaching } from "./render-teaching.js";
import { drawPicture, render, renderWave, translate } from "./render.js";
import { OWN_VOICE, drawWith, state, update } from "./state.js";
import { addVideos, forgetAll, learn, openVoice, recordTake, removeTake } from "./teaching.js";

/** @import { Task } from "../shared/activity.js" */
/** @import { Picture } from "./pictures.js" */
/** @import { Face } from "./pkg/ownvoice_web_lips.js" */
/** @import { Name } from "./state.js" */

/** The faces that were found last. @type {Face[]} */
let faces = [];

/** Shows a picture and gives it to the worker, which looks for faces. @param {Picture} picture */
async function addPicture(picture) {
  drawPicture(picture, faces);
  update({ pictures: state.pictures + 1 });
  const found = await call("addPicture", picture, { transfer: [picture.rgba.buffer] });
  if (!found) return;
  faces = found;
  update({ faces: faces.length });
}

/** Takes a video, then speaks it. @param {"opening" | "reading"} name @param {(task: Task<Name>) => Promise<void>} takeVideo */
async function speakVideo(name, takeVideo) {
  const noVideo = { faces: null, pictures: 0 };
  const work = async (/** @type {Task<Name>} */ task) => {
    update({ ...noVideo, part: 0, isCameraLost: false, filmError: null, speakError: null, speech: null });
    faces = [];
    await call("clear", {});
    await takeVideo(task);
  };
  // After a failure nothing of the video is left to be spoken.
  if (await perform(name, work, (filmError) => ({ ...noVideo, filmError }))) await speak();
}

const speakFilm = () =>
  speakVideo("opening", async (task) => {
    /** @type {Promise<void>[]} */
    const added = [];
    const end = await film(task, () => task.to("filming"), (picture) => {
      const adding = addPicture(picture);
      adding.catch(() => task.cancel());
      added.push(adding);
    });
    await Promise.all(added);
    update({ isCameraLost: end === "lost" });
  });

/** @param {File} file */
const speakFile = (file) =>
  speakVideo("reading", ({ signal }) =>
    readPictures(file, { signal }, async (picture, number, count) => {
      await addPicture(picture);
      update({ part: (number + 1) / count });
    }),
  );

async function speak() {
  if (state.pictures === 0) return;
  await activity.perform("speaking", async () => {
    update({ speech: null, speakError: null });
    try {
      update({ speech: await call("speak", { speaker: $("speaker").value }) });
    } catch (error) {
      update({ speakError: describe(error) });
    }
  });
}

/** Speaks the last video in the voice that was just learned. */
function speakAsOwn() {
  $("speaker").value = OWN_VOICE;
  return speak();
}

const redraw = () => update({});

/** The waveform is drawn in each frame as long as it is played. */
const drawWave = drawnWhile(renderWave, () => !isSilent());

drawWith(() => {
  render();
  renderTeaching();
  drawWave();
});
onPlaybackChange(redraw);

$("film-record").addEventListener("click", () => (state.activity === "filming" ? activity.stop() : speakFilm()));
$("film-cancel").addEventListener("click", () => activity.cancel());
$("speak").addEventListener("click", speak);
$("play").addEventListener("click", () => togglePlaying("speech", state.speech));
$("file").addEventListener("change", () => {
  const [file] = takeFiles($("file"));
  if (file) speakFile(file);
});
$("teach-record").addEventListener("click", () => (state.activity === "recording" ? activity.stop() : recordTake()));
$("teach-cancel").addEventListener("click", () => activity.cancel());
$("teach-files").addEventListener("change", () => addVideos(takeFiles($("teach-files"))));
$("takes").addEventListener("click", ({ target }) => {
  const { take } = /** @type {HTMLElement} */ (target).dataset;
  if (take) removeTake(Number(take));
});
$("learn").addEventListener("click", async () => (await learn()) && speakAsOwn());
$("learn-stop").addEventListener("click", () => activity.stop());
$("learn-cancel").addEventListener("click", () => activity.cancel());
$("own-file").addEventListener("change", async () => {
  const [file] = takeFiles($("own-file"));
  if (file && (await openVoice(file))) speakAsOwn();
});
$("own-forget").addEventListener("click", forgetAll);

setUpPage({ translate, redraw });
await start();
