// Pictures of the camera and of files, as the squares that a net sees.

import { OwnvoiceError, throwIfAborted } from "../js/errors.js";

/** A picture; four bytes per pixel. @typedef {{ width: number, height: number, rgba: Uint8ClampedArray<ArrayBuffer> }} Picture */

/** Pictures that are taken in a second of filming. */
export const PICTURES = 10;
const SECOND_MS = 1000;
/** The largest file that is read as a picture. */
const MAX_FILE_BYTES = 50e6;
/** Sides and pixels of the pictures that are read. */
const LEAST_SIDE = 8;
const MAX_PIXELS = 50e6;

const canvas = document.createElement("canvas");
const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));

/** Copies the square in the middle. @param {CanvasImageSource} source @param {number} width @param {number} height @param {number} side Side of the copy. @returns {Picture} */
function copySquare(source, width, height, side) {
  const least = Math.min(width, height);
  if (canvas.width !== side) Object.assign(canvas, { width: side, height: side });
  context.imageSmoothingQuality = "high";
  context.drawImage(source, (width - least) / 2, (height - least) / 2, least, least, 0, 0, side, side);
  return { width: side, height: side, rgba: context.getImageData(0, 0, side, side).data };
}

/** Resolves at the next picture of a playing video. @param {HTMLVideoElement} video @param {AbortSignal} signal @returns {Promise<void>} */
function nextFrame(video, signal) {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      video.cancelVideoFrameCallback(request);
      reject(new OwnvoiceError("cancelled", "cancelled"));
    };
    const request = video.requestVideoFrameCallback(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}

/** Takes the next picture of a playing video. @param {HTMLVideoElement} video @param {number} side @param {AbortSignal} signal */
export async function takePicture(video, side, signal) {
  await nextFrame(video, signal);
  return copySquare(video, video.videoWidth, video.videoHeight, side);
}

/** Takes pictures for a second. @param {HTMLVideoElement} video @param {number} side @param {AbortSignal} signal @param {(part: number) => void} onPart @returns {Promise<Picture[]>} */
export async function filmSecond(video, side, signal, onPart) {
  const pictures = [];
  const startMs = performance.now();
  while (pictures.length < PICTURES) {
    await nextFrame(video, signal);
    // Between two of them a thing should have moved.
    if (performance.now() - startMs < (pictures.length * SECOND_MS) / PICTURES) continue;
    pictures.push(copySquare(video, video.videoWidth, video.videoHeight, side));
    onPart(pictures.length / PICTURES);
  }
  return pictures;
}

/** Reads a file, upright as its camera was held. @param {Blob} file @param {number} side @param {AbortSignal} [signal] @returns {Promise<Picture>} */
export async function readPicture(file, side, signal) {
  if (file.size > MAX_FILE_BYTES) throw new OwnvoiceError("file-too-large", "the file is too large", { found: file.size / 1e6 });
  const bitmap = await createImageBitmap(file).catch((error) => {
    throw new OwnvoiceError("picture-unreadable", /** @type {Error} */ (error).message);
  });
  try {
    throwIfAborted(signal);
    const { width, height } = bitmap;
    if (Math.min(width, height) < LEAST_SIDE || width * height > MAX_PIXELS) throw new OwnvoiceError("picture-size", `the picture has ${width} x ${height} pixels`);
    return copySquare(bitmap, width, height, side);
  } finally {
    bitmap.close();
  }
}

/** Returns the address of a small copy of a picture. @param {Uint8Array} rgb @param {number} side */
export function thumbnail(rgb, side) {
  const image = new ImageData(side, side);
  for (let pixel = 0; pixel < side * side; pixel++) {
    image.data.set(rgb.subarray(3 * pixel, 3 * pixel + 3), 4 * pixel);
    image.data[4 * pixel + 3] = 255;
  }
  if (canvas.width !== side) Object.assign(canvas, { width: side, height: side });
  context.putImageData(image, 0, 0);
  return canvas.toDataURL("image/jpeg", 0.8);
}
