// Decodes audio and video files: WAV by the library, everything else by the browser. Size and duration are checked before anything is decoded.

import { OwnvoiceError } from "./js/index.js";
import { decodeSound, unreadable } from "./sound.js";
import { studio } from "./state.js";

/** @import { Audio } from "./js/index.js" */

/** The library's bound for a clip. */
const MAX_SECONDS = 120;
/** Two minutes of uncompressed sound at the highest rate, or of video. */
const MAX_BYTES = 200e6;
/** A file whose metadata take longer is not read. */
const MAX_METADATA_MS = 10_000;

/** @param {File} file @returns {Promise<Audio>} */
export async function readAudio(file) {
  if (file.size > MAX_BYTES) throw new OwnvoiceError("file-too-large", "the file is too large", { found: file.size / 1e6 });
  const head = await file.slice(0, 12).text();
  if (/^RIFF[^]{4}WAVE/.test(head)) {
    try {
      return await studio().readWav(file);
    } catch (error) {
      // A codec inside a WAV file may be one of the browser's.
      if (/** @type {OwnvoiceError} */ (error).code !== "audio-unreadable") throw error;
    }
  }
  const seconds = await duration(file);
  if (seconds > MAX_SECONDS) throw new OwnvoiceError("clip-too-long", "the recording is too long", { found: seconds });
  return decodeSound(file);
}

/** Seconds, by the file's metadata. @param {File} file @returns {Promise<number>} */
async function duration(file) {
  const url = URL.createObjectURL(file);
  const player = Object.assign(document.createElement("audio"), { preload: "metadata" });
  const late = setTimeout(() => player.dispatchEvent(new Event("error")), MAX_METADATA_MS);
  try {
    return await new Promise((resolve, reject) => {
      player.onerror = () => reject(unreadable());
      player.ondurationchange = () => {
        if (Number.isFinite(player.duration)) resolve(player.duration);
        else player.currentTime = Number.MAX_SAFE_INTEGER; // a recorder's file has no duration in its head: its end is looked up
      };
      player.src = url;
    });
  } finally {
    clearTimeout(late);
    player.removeAttribute("src");
    URL.revokeObjectURL(url);
  }
}
