// Decodes the sound of a file by the browser.

import { OwnvoiceError } from "../js/errors.js";

/** Sampling rate to which the browser resamples, in Hz. It keeps all of speech. */
const RATE = 48_000;

export const unreadable = () => new OwnvoiceError("audio-unreadable", "the browser cannot decode this file");

/** @param {Blob} file @returns {Promise<{ samples: Float32Array<ArrayBuffer>, sampleRate: number }>} */
export async function decodeAudio(file) {
  const decoder = new OfflineAudioContext(1, 1, RATE);
  const decoded = await decoder.decodeAudioData(await file.arrayBuffer()).catch(() => Promise.reject(unreadable()));
  return { samples: mixDown(decoded), sampleRate: decoded.sampleRate };
}

/** Returns the mean of the channels. @param {AudioBuffer} decoded */
function mixDown(decoded) {
  const samples = new Float32Array(decoded.length);
  for (let channel = 0; channel < decoded.numberOfChannels; channel++) {
    decoded.getChannelData(channel).forEach((sample, i) => (samples[i] += sample / decoded.numberOfChannels));
  }
  return samples;
}
