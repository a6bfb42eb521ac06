// What the browser decodes of a file's sound, for both pages.

import { OwnvoiceError } from "./js/errors.js";

/** Hz to which the browser resamples; no speech is lost. */
const RATE = 48_000;

export const unreadable = () => new OwnvoiceError("audio-unreadable", "the browser cannot decode this file");

/** @param {Blob} file @returns {Promise<{ samples: Float32Array<ArrayBuffer>, sampleRate: number }>} */
export async function decodeSound(file) {
  const decoder = new OfflineAudioContext(1, 1, RATE);
  const decoded = await decoder.decodeAudioData(await file.arrayBuffer()).catch(() => Promise.reject(unreadable()));
  return { samples: mixed(decoded), sampleRate: decoded.sampleRate };
}

/** The mean of the channels. @param {AudioBuffer} decoded */
function mixed(decoded) {
  const samples = new Float32Array(decoded.length);
  for (let channel = 0; channel < decoded.numberOfChannels; channel++) {
    decoded.getChannelData(channel).forEach((sample, i) => (samples[i] += sample / decoded.numberOfChannels));
  }
  return samples;
}
