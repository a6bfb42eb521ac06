// Opens the camera, alone or with the microphone.

import { OwnvoiceError } from "../js/errors.js";

/** @type {MediaTrackConstraints} */
const CAMERA = { width: { ideal: 640 }, height: { ideal: 480 }, frameRate: { ideal: 30 } };

/** Error codes, `refusals` by the names of the browser's errors. @typedef {{ unavailable: string, failed: string, refusals: { [name: string]: string } }} Codes */

/** @type {Codes} */
const ALONE = {
  unavailable: "camera-unavailable",
  failed: "camera-failed",
  refusals: { NotAllowedError: "camera-denied", NotFoundError: "camera-missing", OverconstrainedError: "camera-missing" },
};
/** @type {Codes} */
const WITH_MICROPHONE = {
  unavailable: "capture-unavailable",
  failed: "capture-failed",
  refusals: { NotAllowedError: "capture-denied", NotFoundError: "capture-missing", OverconstrainedError: "capture-missing" },
};

/**
 * @param {"user" | "environment"} facingMode Which camera of a phone.
 * @param {MediaTrackConstraints} [audio] Constraints of the microphone, if it is to be opened too.
 * @returns {Promise<MediaStream>}
 */
export async function openCamera(facingMode, audio) {
  const { unavailable, failed, refusals } = audio ? WITH_MICROPHONE : ALONE;
  if (!navigator.mediaDevices) throw new OwnvoiceError(unavailable, "the browser offers no camera here");
  try {
    return await navigator.mediaDevices.getUserMedia({ video: { ...CAMERA, facingMode }, audio: audio ?? false });
  } catch (error) {
    const { name, message } = /** @type {Error} */ (error);
    throw new OwnvoiceError(refusals[name] ?? failed, message);
  }
}
