// Decodes the sound of a file by the browser.

import { OwnvoiceError } from "../js/errors.js";
import { cutOpusOnce } from "./opus-delay.js";
import { sampleRateOf } from "./sample-rate.js";

/** Sampling rate to which the browser resamples where the file's own is unknown, in Hz. It keeps all of speech. */
const RATE = 48_000;

export const unreadable = () => new OwnvoiceError("audio-unreadable", "the browser cannot decode this file");

/** @param {Blob} file @returns {Promise<{ samples: Float32Array<ArrayBuffer>, sampleRate: number }>} */
export async function decodeAudio(file) {
  const bytes = await file.arrayBuffer();
  // Only Chromium has this property.
  if ("userAgentData" in navigator) cutOpusOnce(bytes);
  const decoder = new OfflineAudioContext(1, 1, sampleRateOf(bytes, RATE));
  const decoded = await decoder.decodeAudioData(bytes).catch(() => Promise.reject(unreadable()));
  return { samples: await mixDown(decoded), sampleRate: decoded.sampleRate };
}

/** The loss of energy in the mean of all channels from which the loudest one is used alone, as by the library: a microphone may be on one channel only. */
const MAX_LOSS = 2.8;

/** As many samples as are added up before the page answers again. */
const SLICE = 1 << 20;

/** Returns the mean of the channels or, where sound would be lost in it, the loudest one. @param {AudioBuffer} decoded */
async function mixDown(decoded) {
  const channels = Array.from({ length: decoded.numberOfChannels }, (_, channel) => decoded.getChannelData(channel));
  if (channels.length === 1) return channels[0].slice();
  const mean = new Float32Array(decoded.length);
  const energies = channels.map(() => 0);
  let energy = 0;
  for (let from = 0; from < mean.length; from += SLICE) {
    const to = Math.min(mean.length, from + SLICE);
    channels.forEach((channel, index) => {
      for (let i = from; i < to; i++) {
        energies[index] += channel[i] * channel[i];
        mean[i] += channel[i] / channels.length;
      }
    });
    for (let i = from; i < to; i++) energy += mean[i] * mean[i];
    await new Promise((resolve) => setTimeout(resolve));
  }
  const most = Math.max(...energies);
  return most > MAX_LOSS * energy ? channels[energies.indexOf(most)].slice() : mean;
}
