// Takes pictures of a video, 25 a second, from a file or from the camera, without its sound.

import { OwnvoiceError, throwIfAborted } from "../js/errors.js";
import { openCamera } from "../shared/camera.js";

/** Pictures per second. */
export const RATE = 25;
/** The longest video that is spoken. */
export const MAX_SECONDS = 30;
/** Longest side of a picture, in pixels. Faces are searched at this size; larger pictures would only take memory. */
const LONGEST_SIDE = 320;
/** A position beyond the end of any video. */
const FAR_SECONDS = 1e7;

/** A picture; four bytes per pixel. @typedef {{ width: number, height: number, rgba: Uint8ClampedArray<ArrayBuffer> }} Picture */

/** Copies the current picture of a video. */
class Copier {
  #context = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d", { willReadFrequently: true }));

  /** @param {HTMLVideoElement} video @returns {Picture} */
  copy(video) {
    const { canvas } = this.#context;
    const scale = Math.min(1, LONGEST_SIDE / Math.max(video.videoWidth, video.videoHeight));
    const [width, height] = [video.videoWidth, video.videoHeight].map((side) => Math.max(1, Math.round(side * scale)));
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    this.#context.imageSmoothingQuality = "high";
    this.#context.drawImage(video, 0, 0, width, height);
    return { width, height, rgba: this.#context.getImageData(0, 0, width, height).data };
  }
}

/**
 * Turns pictures of any rate into 25 a second: for each of these times, the picture that is nearest to it. A camera keeps its rate only roughly: taking the
 * last picture before each time would double some pictures and lose others.
 */
export class PictureClock {
  #onPicture;
  /** Time of the first picture. */
  #startSeconds = 0;
  #count = 0;
  /** The picture before, with its time. @type {{ picture: Picture, seconds: number } | null} */
  #before = null;

  /** @param {(picture: Picture) => void} onPicture */
  constructor(onPicture) {
    this.#onPicture = onPicture;
  }

  get isFull() {
    return this.#count === MAX_SECONDS * RATE;
  }

  /** @param {Picture} picture @param {number} seconds When it was taken, on any clock. */
  push(picture, seconds) {
    const before = this.#before ?? { picture, seconds };
    if (!this.#before) this.#startSeconds = seconds;
    for (; this.#nextSeconds <= seconds && !this.isFull; this.#count++) {
      const nearest = this.#nextSeconds - before.seconds < seconds - this.#nextSeconds ? before.picture : picture;
      this.#onPicture({ ...nearest, rgba: nearest.rgba.slice() });
    }
    this.#before = { picture, seconds };
  }

  /** The time of the next picture. */
  get #nextSeconds() {
    return this.#startSeconds + this.#count / RATE;
  }
}

/** Resolves at the next event of a name, or rejects where the video cannot be read. @param {HTMLVideoElement} video @param {string} name */
function nextEvent(video, name) {
  return new Promise((resolve, reject) => {
    const settled = new AbortController();
    const { signal } = settled;
    video.addEventListener(name, () => (settled.abort(), resolve(undefined)), { signal });
    video.addEventListener("error", () => (settled.abort(), reject(new OwnvoiceError("video-unreadable", video.error?.message || "it has no pictures"))), { signal });
  });
}

/** @param {HTMLVideoElement} video @param {number} seconds */
async function seek(video, seconds) {
  const seeked = nextEvent(video, "seeked");
  video.currentTime = seconds;
  await seeked;
}

/**
 * Reads the pictures of a file, in order. It seeks each of them: a video that plays loses pictures on a busy machine.
 * @param {Blob} file
 * @param {{ signal: AbortSignal, maxSeconds?: number }} options
 * @param {(picture: Picture, number: number, count: number) => unknown} onPicture Called with each picture, its index and the number of pictures.
 */
export async function readPictures(file, { signal, maxSeconds = MAX_SECONDS }, onPicture) {
  const video = Object.assign(document.createElement("video"), { muted: true, playsInline: true, preload: "auto" });
  const url = URL.createObjectURL(file);
  try {
    const loaded = nextEvent(video, "loadeddata");
    video.src = url;
    await loaded;
    // A recorder writes no duration into its file.
    if (!Number.isFinite(video.duration)) await seek(video, FAR_SECONDS);
    const seconds = Number.isFinite(video.duration) ? video.duration : video.currentTime;
    if (!video.videoWidth) throw new OwnvoiceError("video-unreadable", "it has no pictures");
    if (seconds > maxSeconds + 1 / RATE) throw new OwnvoiceError("clip-too-long", `the video lasts ${seconds} s`, { found: seconds });
    const copier = new Copier();
    const count = Math.min(Math.round(seconds * RATE), maxSeconds * RATE);
    for (let number = 0; number < count; number++) {
      throwIfAborted(signal);
      await seek(video, (number + 0.5) / RATE);
      await onPicture(copier.copy(video), number, count);
    }
  } finally {
    video.removeAttribute("src");
    video.load();
    URL.revokeObjectURL(url);
  }
}

/**
 * Films until it is stopped, the camera is lost or the time is up.
 * @param {{ signal: AbortSignal, stopSignal: AbortSignal }} signals `signal` discards the film, `stopSignal` ends it.
 * @param {() => void} onOpen Called when the camera runs.
 * @param {(picture: Picture) => void} onPicture
 * @returns {Promise<"stopped" | "lost" | "full">}
 */
export async function film({ signal, stopSignal }, onOpen, onPicture) {
  const stream = await openCamera("user");
  const video = Object.assign(document.createElement("video"), { muted: true, playsInline: true });
  video.srcObject = stream;
  try {
    throwIfAborted(signal);
    await video.play();
    onOpen();
    return await new Promise((resolve, reject) => {
      const copier = new Copier();
      const clock = new PictureClock(onPicture);
      /** @param {number} _ @param {VideoFrameCallbackMetadata} metadata */
      const onFrame = (_, { captureTime, mediaTime }) => {
        clock.push(copier.copy(video), captureTime === undefined ? mediaTime : captureTime / 1000);
        if (clock.isFull) return resolve("full");
        video.requestVideoFrameCallback(onFrame);
      };
      video.requestVideoFrameCallback(onFrame);
      stream.getVideoTracks()[0].addEventListener("ended", () => resolve("lost"));
      stopSignal.addEventListener("abort", () => resolve("stopped"));
      signal.addEventListener("abort", () => reject(new OwnvoiceError("cancelled", "cancelled")));
    });
  } finally {
    for (const track of stream.getTracks()) track.stop();
    video.srcObject = null;
  }
}
