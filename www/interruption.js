// Recognises recordings in which the microphone dropped sound, for which the reader is not to blame.

/** Half a step of 16 bits: no microphone that works is as silent. */
const SILENT = 0.5 / 32768;
/** Shorter silence can be part of a word. */
const LEAST_SECONDS = 0.03;
/** A voice that pauses fades, and so does a noise gate: sound that is louder than this part of the whole, right before silence without any noise, was cut. */
const CUT_LEVEL = 0.06;
/** Sound below this may be rounded to silence; a recording that has nothing louder is too quiet. */
const LEAST_CUT = 0.001;
/** The length of the sound before the silence. Nothing fades within it, but the conversion from another sampling rate takes part of it. */
const BEFORE_SECONDS = 0.004;

/** Whether the sound breaks off within speech and comes back. @param {{ samples: Float32Array, sampleRate: number }} recording */
export function breaksOff({ samples, sampleRate }) {
  let count = 0;
  let energy = 0;
  for (let at = 0; at < samples.length; at++) {
    if (Math.abs(samples[at]) > SILENT) count++;
    energy += samples[at] * samples[at];
  }
  const cut = Math.max(LEAST_CUT, CUT_LEVEL * Math.sqrt(energy / count));
  let last = samples.length; // the last sample with sound
  for (let at = 0; at < samples.length; at++) {
    if (Math.abs(samples[at]) <= SILENT) continue;
    const before = () => samples.subarray(Math.max(0, last - Math.round(BEFORE_SECONDS * sampleRate)), last + 1);
    if (at - last > LEAST_SECONDS * sampleRate && before().some((x) => Math.abs(x) > cut)) return true;
    last = at;
  }
  return false;
}
