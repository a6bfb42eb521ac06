// Records camera and microphone with the browser's recorder, which keeps both on one clock.

import { OwnvoiceError, throwIfAborted } from "../js/errors.js";
import { openCamera } from "../shared/camera.js";
import { MAX_SECONDS } from "./pictures.js";

/** The unprocessed sound of the microphone. */
const MICROPHONE = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
/** Bit rates: enough for pictures in which a face has 96 pixels. */
const BITS_PER_SECOND = { videoBitsPerSecond: 2_500_000, audioBitsPerSecond: 128_000 };
/** In the order of preference; Safari records only the second one. */
const TYPES = ["video/webm;codecs=vp8,opus", "video/mp4"];
/** Key frames, in milliseconds between them: each picture is sought later, starting from the key frame before it. */
const KEY_FRAMES = { videoKeyFrameIntervalDuration: 500 };

/**
 * Records until it is stopped, the camera is lost or the time is up.
 * @param {{ signal: AbortSignal, stopSignal: AbortSignal }} signals `signal` discards the recording, `stopSignal` ends it.
 * @param {(stream: MediaStream) => void} onOpen Called when the recording begins.
 * @returns {Promise<Blob>}
 */
export async function record({ signal, stopSignal }, onOpen) {
  const stream = await openCamera("user", MICROPHONE);
  try {
    throwIfAborted(signal);
    const mimeType = TYPES.find((type) => MediaRecorder.isTypeSupported(type));
    const recorder = new MediaRecorder(stream, { mimeType, ...BITS_PER_SECOND, ...KEY_FRAMES });
    /** @type {Blob[]} */
    const parts = [];
    recorder.addEventListener("dataavailable", ({ data }) => parts.push(data));
    const recorded = new Promise((resolve, reject) => {
      recorder.addEventListener("stop", () => resolve(new Blob(parts, { type: recorder.mimeType })));
      recorder.addEventListener("error", () => reject(new OwnvoiceError("capture-failed", "the browser stopped recording")));
      signal.addEventListener("abort", () => reject(new OwnvoiceError("cancelled", "cancelled")));
    });
    const stop = () => recorder.state !== "inactive" && recorder.stop();
    recorder.start();
    onOpen(stream);
    stopSignal.addEventListener("abort", stop);
    stream.getVideoTracks()[0].addEventListener("ended", stop);
    const timeout = setTimeout(stop, MAX_SECONDS * 1000);
    try {
      return await recorded;
    } finally {
      clearTimeout(timeout);
      stop();
    }
  } finally {
    for (const track of stream.getTracks()) track.stop();
  }
}
