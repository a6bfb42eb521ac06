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

/** The waveforms by their elements. @type {WeakMap<HTMLElement, { surfer: InstanceType<typeof WaveSurfer>, samples: Float32Array | null, colour: string }>} */
const waves = new WeakMap();

/**
 * @param {HTMLElement} element
 * @param {{ samples: Float32Array, sampleRate: number } | null | undefined} sound
 * @param {number} played The part that has been played, 0 to 1.
 * @param {(part: number) => void} onSeek
 */
export function showWave(element, sound, played, onSeek) {
  if (element.clientWidth === 0) return; // not on screen
  const colours = coloursOf(element);
  let wave = waves.get(element);
  if (!wave) {
    if (!sound) return;
    const surfer = WaveSurfer.create({ container: element, height: HEIGHT, ...colours, cursorWidth: 0, barWidth: 3, barGap: 2, barRadius: 2, hideScrollbar: true });
    surfer.on("click", (part) => onSeek(part));
    wave = { surfer, samples: null, colour: colours.waveColor };
    waves.set(element, wave);
  }
  if (wave.colour !== colours.waveColor) {
    wave.colour = colours.waveColor;
    wave.surfer.setOptions(colours);
  }
  if (wave.samples !== (sound?.samples ?? null)) {
    wave.samples = sound?.samples ?? null;
    if (sound) wave.surfer.load("", [amplified(sound.samples)], sound.samples.length / sound.sampleRate);
    else wave.surfer.empty();
  }
  if (sound) wave.surfer.setTime((played * sound.samples.length) / sound.sampleRate);
}

/** Speech is quiet most of the time: the square root makes its shape visible. @param {Float32Array} samples */
const amplified = (samples) => samples.map((sample) => Math.sign(sample) * Math.sqrt(Math.abs(sample)));
