// The camera of the page of things, and the naming of what it shows.

import { describe } from "../js/errors.js";
import { openCamera } from "../shared/camera.js";
import { perform } from "./activities.js";
import { $ } from "./dom.js";
import { call } from "./engine.js";
import { takePicture } from "./pictures.js";
import { state, update } from "./state.js";

/** Pause between two pictures that are named, so that the machine is not busy with nothing else. */
const PAUSE_MS = 150;

export const turnOn = () =>
  perform(
    "asking",
    async (task) => {
      update({ showError: null, isCameraLost: false, picture: null });
      const camera = await openCamera("environment");
      if (task.isOver) return stop(camera);
      camera.getVideoTracks()[0].addEventListener("ended", () => {
        if (state.camera === camera) update({ camera: null, isCameraLost: true });
      });
      update({ camera });
    },
    (showError) => ({ showError }),
  );

export function turnOff() {
  if (state.camera) stop(state.camera);
  update({ camera: null, seen: state.picture && state.seen });
}

/** @param {MediaStream} camera */
function stop(camera) {
  for (const track of camera.getTracks()) track.stop();
}

/** Whether what the camera shows is to be named now. */
const isWatched = () => Boolean(state.camera && state.net && !state.picture && state.activity === "idle");

/** The naming in progress. @type {AbortController | null} */
let watching = null;

/** Names what the camera shows, as long as it is to be named. Called after each change of the state. */
export async function watch() {
  if (!isWatched()) return watching?.abort();
  if (watching) return;
  const { signal } = (watching = new AbortController());
  try {
    while (isWatched() && !signal.aborted) {
      const picture = await takePicture($("see-view"), state.side, signal);
      const seen = await call("look", picture, { transfer: [picture.rgba.buffer] });
      if (isWatched() && !signal.aborted) update({ seen, seeError: null });
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  } catch (error) {
    const failure = describe(error);
    if (failure.code !== "cancelled") update({ seeError: failure });
  } finally {
    watching = null;
  }
  // What ended it may be over.
  if (isWatched() && !state.seeError) watch();
}
