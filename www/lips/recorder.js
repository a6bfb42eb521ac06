// Records camera and microphone together: the browser's recorder keeps both on one clock.

import { OwnvoiceError, check } from "../js/errors.js";
import { openCamera } from "./camera.js";
import { MOST_SECONDS } from "./pictures.js";

/** The sound as the microphone has it. */
const MICROPHONE = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
/** Of pictures that hold no more detail than a face of 96 pixels. */
const BITS_A_SECOND = { videoBitsPerSecond: 2_500_000, audioBitsPerSecond: 128_000 };
/** In the order of preference; Safari records the second alone. */
const TYPES = ["video/webm;codecs=vp8,opus", "video/mp4"];
/** Each picture is sought later, from the whole one before it. */
const KEY_FRAMES = { videoKeyFrameIntervalDuration: 500 };

/**
 * Records until it is stopped, the camera goes away or the time is up.
 * @param {{ signal: AbortSignal, stopSignal: AbortSignal }} signals Cancelled, or ended with what there is.
 * @param {(stream: MediaStream) => void} onOpen Called when the recording begins.
 * @returns {Promise<Blob>}
 */
export async function record({ signal, stopSignal }, onOpen) {
  const stream = await openCamera(MICROPHONE);
  try {
    check(signal);
    const mimeType = TYPES.find((type) => MediaRecorder.isTypeSupported(type));
    const recorder = new MediaRecorder(stream, { mimeType, ...BITS_A_SECOND, ...KEY_FRAMES });
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
    const full = setTimeout(stop, MOST_SECONDS * 1000);
    try {
      return await recorded;
    } finally {
      clearTimeout(full);
      stop();
    }
  } finally {
    for (const track of stream.getTracks()) track.stop();
  }
}
