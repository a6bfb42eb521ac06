// Pictures of a video, 25 a second, from a file or from the camera; never its sound.

import { OwnvoiceError, check } from "../js/errors.js";
import { openCamera } from "./camera.js";

/** Pictures a second. */
export const RATE = 25;
/** What is spoken at once. */
export const MOST_SECONDS = 30;
/** Faces are searched for in pictures of this size; larger ones would only take memory. */
const LONGEST_SIDE = 320;
/** A place that no video reaches. */
const FAR_SECONDS = 1e7;

/** One picture. @typedef {{ width: number, height: number, rgba: Uint8ClampedArray<ArrayBuffer> }} Picture */

/** Copies what a video shows. */
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
 * Pictures of any rate, which a camera keeps only roughly, as 25 a second: for each of these the one whose time is nearest. To take the last one that is
 * there would double one and lose another wherever their times lie a little before or after those of the 25.
 */
export class PictureClock {
  #each;
  /** Seconds. */
  #begun = 0;
  #taken = 0;
  /** The picture before, and when it was. @type {{ picture: Picture, seconds: number } | null} */
  #before = null;

  /** @param {(picture: Picture) => void} each */
  constructor(each) {
    this.#each = each;
  }

  get isFull() {
    return this.#taken === MOST_SECONDS * RATE;
  }

  /** @param {Picture} picture @param {number} seconds When it was taken, by any clock. */
  push(picture, seconds) {
    const before = this.#before ?? { picture, seconds };
    if (!this.#before) this.#begun = seconds;
    for (; this.#place <= seconds && !this.isFull; this.#taken++) {
      const nearest = this.#place - before.seconds < seconds - this.#place ? before.picture : picture;
      this.#each({ ...nearest, rgba: nearest.rgba.slice() });
    }
    this.#before = { picture, seconds };
  }

  /** The time of the next of the 25. */
  get #place() {
    return this.#begun + this.#taken / RATE;
  }
}

/** @param {HTMLVideoElement} video @param {string} name Of the event. */
function reached(video, name) {
  return new Promise((resolve, reject) => {
    const ended = new AbortController();
    const { signal } = ended;
    video.addEventListener(name, () => (ended.abort(), resolve(undefined)), { signal });
    video.addEventListener("error", () => (ended.abort(), reject(new OwnvoiceError("video-unreadable", video.error?.message || "it holds no pictures"))), { signal });
  });
}

/** @param {HTMLVideoElement} video @param {number} seconds */
async function seek(video, seconds) {
  const there = reached(video, "seeked");
  video.currentTime = seconds;
  await there;
}

/**
 * The pictures of a file, in order. Each is sought: a video that plays loses pictures on a machine that is busy.
 * @param {Blob} file
 * @param {{ signal: AbortSignal, mostSeconds?: number }} options
 * @param {(picture: Picture, number: number, count: number) => unknown} each Called with each picture, its number and how many there are.
 */
export async function readFile(file, { signal, mostSeconds = MOST_SECONDS }, each) {
  const video = Object.assign(document.createElement("video"), { muted: true, playsInline: true, preload: "auto" });
  const url = URL.createObjectURL(file);
  try {
    const loaded = reached(video, "loadeddata");
    video.src = url;
    await loaded;
    // The file of a recorder has no duration.
    if (!Number.isFinite(video.duration)) await seek(video, FAR_SECONDS);
    const seconds = Number.isFinite(video.duration) ? video.duration : video.currentTime;
    if (!video.videoWidth) throw new OwnvoiceError("video-unreadable", "it holds no pictures");
    if (seconds > mostSeconds + 1 / RATE) throw new OwnvoiceError("clip-too-long", `the video lasts ${seconds} s`, { found: seconds });
    const copier = new Copier();
    const count = Math.min(Math.round(seconds * RATE), mostSeconds * RATE);
    for (let number = 0; number < count; number++) {
      check(signal);
      await seek(video, (number + 0.5) / RATE);
      await each(copier.copy(video), number, count);
    }
  } finally {
    video.removeAttribute("src");
    video.load();
    URL.revokeObjectURL(url);
  }
}

/**
 * Films until it is stopped, the camera goes away or the time is up.
 * @param {{ signal: AbortSignal, stopSignal: AbortSignal }} signals Cancelled, or ended with what there is.
 * @param {() => void} onOpen Called when the camera runs.
 * @param {(picture: Picture) => void} each
 * @returns {Promise<"stopped" | "lost" | "full">}
 */
export async function film({ signal, stopSignal }, onOpen, each) {
  const stream = await openCamera();
  const video = Object.assign(document.createElement("video"), { muted: true, playsInline: true });
  video.srcObject = stream;
  try {
    check(signal);
    await video.play();
    onOpen();
    return await new Promise((resolve, reject) => {
      const copier = new Copier();
      const clock = new PictureClock(each);
      /** @param {number} _ @param {VideoFrameCallbackMetadata} shown */
      const onPicture = (_, { captureTime, mediaTime }) => {
        clock.push(copier.copy(video), captureTime === undefined ? mediaTime : captureTime / 1000);
        if (clock.isFull) return resolve("full");
        video.requestVideoFrameCallback(onPicture);
      };
      video.requestVideoFrameCallback(onPicture);
      stream.getVideoTracks()[0].addEventListener("ended", () => resolve("lost"));
      stopSignal.addEventListener("abort", () => resolve("stopped"));
      signal.addEventListener("abort", () => reject(new OwnvoiceError("cancelled", "cancelled")));
    });
  } finally {
    for (const track of stream.getTracks()) track.stop();
    video.srcObject = null;
  }
}
