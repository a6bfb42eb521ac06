// Decodes the sound of a file by the browser.

import { OwnvoiceError } from "../js/errors.js";
import { sampleRateOf } from "./sample-rate.js";

/** Sampling rate to which the browser resamples where the file's own is unknown, in Hz. It keeps all of speech. */
const RATE = 48_000;

export const unreadable = () => new OwnvoiceError("audio-unreadable", "the browser cannot decode this file");

/** @param {Blob} file @returns {Promise<{ samples: Float32Array<ArrayBuffer>, sampleRate: number }>} */
export async function decodeAudio(file) {
  const bytes = await file.arrayBuffer();
  const decoder = new OfflineAudioContext(1, 1, sampleRateOf(bytes, RATE));
  const decoded = await decoder.decodeAudioData(bytes).catch(() => Promise.reject(unreadable()));
  return { samples: mixDown(decoded), sampleRate: decoded.sampleRate };
}

/** The loss of energy in the mean of all channels from which the loudest one is used alone, as by the library: a microphone may be on one channel only. */
const MAX_LOSS = 2.8;

/** @param {Float32Array} samples */
const energy = (samples) => samples.reduce((sum, x) => sum + x * x, 0);

/** Returns the mean of the channels or, where sound would be lost in it, the loudest one. @param {AudioBuffer} decoded */
function mixDown(decoded) {
  const channels = Array.from({ length: decoded.numberOfChannels }, (_, channel) => decoded.getChannelData(channel));
  const mean = new Float32Array(decoded.length);
  for (const channel of channels) channel.forEach((sample, i) => (mean[i] += sample / channels.length));
  const loudest = channels.reduce((one, other) => (energy(other) > energy(one) ? other : one));
  return energy(loudest) > MAX_LOSS * energy(mean) ? loudest.slice() : mean;
}
