// Decodes audio and video files: WAV by the library, everything else by the browser. Size and duration are checked before a file is decoded.

import { OwnvoiceError } from "./js/index.js";
import { decodeAudio, unreadable } from "./shared/decode-audio.js";
import { studio } from "./state.js";

/** @import { Audio } from "./js/index.js" */

/** The library's limit for a clip. */
const MAX_SECONDS = 120;
/** Two minutes of uncompressed sound at the highest sampling rate, or of video. */
const MAX_BYTES = 200e6;
/** Time after which a file without readable metadata is given up. */
const MAX_METADATA_MS = 10_000;

/** @param {File} file @returns {Promise<Audio>} */
export async function readAudio(file) {
  if (file.size > MAX_BYTES) throw new OwnvoiceError("file-too-large", "the file is too large", { found: file.size / 1e6 });
  const head = await file.slice(0, 12).text();
  if (/^RIFF[^]{4}WAVE/.test(head)) {
    try {
      return await studio().readWav(file);
    } catch (error) {
      // The codec inside a WAV file may be one that the browser knows.
      if (/** @type {OwnvoiceError} */ (error).code !== "audio-unreadable") throw error;
    }
  }
  const seconds = await duration(file);
  if (seconds > MAX_SECONDS) throw new OwnvoiceError("clip-too-long", "the recording is too long", { found: seconds });
  return decodeAudio(file);
}

/** The duration in seconds, from the file's metadata. @param {File} file @returns {Promise<number>} */
async function duration(file) {
  const url = URL.createObjectURL(file);
  const player = Object.assign(document.createElement("audio"), { preload: "metadata" });
  const timeout = setTimeout(() => player.dispatchEvent(new Event("error")), MAX_METADATA_MS);
  try {
    return await new Promise((resolve, reject) => {
      player.onerror = () => reject(unreadable());
      player.ondurationchange = () => {
        if (Number.isFinite(player.duration)) resolve(player.duration);
        else player.currentTime = Number.MAX_SAFE_INTEGER; // a recorder's file has no duration in its header: seek to its end
      };
      player.src = url;
    });
  } finally {
    clearTimeout(timeout);
    player.removeAttribute("src");
    URL.revokeObjectURL(url);
  }
}
