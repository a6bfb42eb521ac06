// Waveforms of recordings and speech: wavesurfer.js draws them and reports clicks, player.js plays.

/** @type {typeof import("wavesurfer.js").default} */
const WaveSurfer = /** @type {any} */ (globalThis).WaveSurfer;

/** In pixels. It is fixed, because wavesurfer.js writes it into its style sheet, whose hash is in the page's policy. */
const HEIGHT = 64;

/** @param {HTMLElement} element */
function coloursOf(element) {
  const style = getComputedStyle(element);
  return { waveColor: style.getPropertyValue("--wave").trim(), progressColor: style.getPropertyValue("--ember").trim() };
}

/** The waveforms by their elements. @type {WeakMap<HTMLElement, { surfer: InstanceType<typeof WaveSurfer>, samples: Float32Array | null, colour: string, onSeek: (seconds: number) => void }>} */
const waves = new WeakMap();

/**
 * @param {HTMLElement} element
 * @param {{ samples: Float32Array, sampleRate: number } | null | undefined} sound
 * @param {number} played The seconds that have been played.
 * @param {(seconds: number) => void} onSeek
 */
export function showWave(element, sound, played, onSeek) {
  if (element.clientWidth === 0) return; // not on screen
  const colours = coloursOf(element);
  let wave = waves.get(element);
  if (!wave) {
    if (!sound) return;
    const surfer = WaveSurfer.create({ container: element, height: HEIGHT, ...colours, cursorWidth: 0, barWidth: 3, barGap: 2, barRadius: 2, hideScrollbar: true });
    const made = { surfer, samples: null, colour: colours.waveColor, onSeek };
    surfer.on("click", (part) => made.onSeek(part * surfer.getDuration()));
    waves.set(element, (wave = made));
  }
  wave.onSeek = onSeek; // of the sound that is shown now
  if (wave.colour !== colours.waveColor) {
    wave.colour = colours.waveColor;
    wave.surfer.setOptions(colours);
  }
  if (wave.samples !== (sound?.samples ?? null)) {
    wave.samples = sound?.samples ?? null;
    if (sound) wave.surfer.load("", [shapeOf(sound.samples)], sound.samples.length / sound.sampleRate);
    else wave.surfer.empty();
  }
  if (sound) wave.surfer.setTime(played);
}

/** More than the bars of any screen. */
const MOST_PEAKS = 2000;

/** The peaks of a sound. Speech is quiet most of the time: the square root makes its shape visible. @param {Float32Array} samples */
function shapeOf(samples) {
  const peaks = new Float32Array(Math.min(MOST_PEAKS, samples.length));
  const width = samples.length / peaks.length;
  for (let i = 0; i < samples.length; i++) {
    const at = Math.min(peaks.length - 1, Math.floor(i / width));
    const size = Math.abs(samples[i]);
    if (size > peaks[at]) peaks[at] = size;
  }
  return peaks.map(Math.sqrt);
}
