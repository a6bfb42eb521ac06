// Heat maps of spectrograms and alignments, and figures that describe them in words.

/** @import { Picture } from "./js/index.js" */

/** The colours from the least value to the greatest, as red, green and blue. @param {HTMLElement} element @returns {number[][]} */
function colourRamp(element) {
  const style = getComputedStyle(element);
  return ["--heat-0", "--heat-1", "--heat-2", "--heat-3"].map((name) => {
    const hex = style.getPropertyValue(name).trim();
    return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  });
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {{ columns: number, rows: number, value: (column: number, row: number) => number }} map Row 0 is the lowest; values from 0 to 1.
 */
export function drawHeat(canvas, { columns, rows, value }) {
  const { clientWidth: width, clientHeight: height } = canvas;
  const context = canvas.getContext("2d");
  if (!context || width === 0) return; // not on screen
  const colours = colourRamp(canvas);
  const image = new ImageData(columns, rows);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const position = Math.max(0, Math.min(1, value(column, row))) * (colours.length - 1);
      const low = Math.min(colours.length - 2, Math.floor(position));
      const at = ((rows - 1 - row) * columns + column) * 4;
      for (let i = 0; i < 3; i++) image.data[at + i] = colours[low][i] + (colours[low + 1][i] - colours[low][i]) * (position - low);
      image.data[at + 3] = 255;
    }
  }
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const small = new OffscreenCanvas(columns, rows);
  small.getContext("2d")?.putImageData(image, 0, 0);
  context.imageSmoothingQuality = "high";
  context.drawImage(small, 0, 0, canvas.width, canvas.height);
}

/** Log amplitudes of just audible and of loud sound. */
const [QUIET, LOUD] = [-9, 0.5];

/** @param {Picture} picture @param {"recorded" | "predicted"} which */
export function melMap(picture, which) {
  const { mels, [which]: data } = picture;
  const value = (/** @type {number} */ column, /** @type {number} */ row) => (data[column * mels + row] - QUIET) / (LOUD - QUIET);
  return { columns: data.length / mels, rows: mels, value };
}

/** The first sound is at the top. @param {Picture} picture */
export const alignmentMap = ({ alignment, symbols }) => ({
  columns: alignment.length / symbols.length,
  rows: symbols.length,
  value: (/** @type {number} */ column, /** @type {number} */ row) => alignment[column * symbols.length + (symbols.length - 1 - row)],
});

/** The mean absolute difference between the spectrograms of the voice and the recording. @param {Picture} picture @returns {number} dB */
export function differenceDb({ recorded, predicted }) {
  const DB_PER_NEPER = 8.686;
  return (DB_PER_NEPER * recorded.reduce((sum, value, i) => sum + Math.abs(value - predicted[i]), 0)) / recorded.length;
}

/** How many phones have a posterior above one half in at least one of their frames. @param {Picture} picture */
export function soundsHeard({ alignment, symbols, durations }) {
  let [heard, count, begin] = [0, 0, 0];
  symbols.forEach((symbol, index) => {
    if (/^[A-Z]/.test(symbol)) {
      count += 1;
      const frames = Array.from({ length: durations[index] }, (_, frame) => alignment[(begin + frame) * symbols.length + index]);
      heard += frames.some((posterior) => posterior > 0.5) ? 1 : 0;
    }
    begin += durations[index];
  });
  return { heard, count };
}
