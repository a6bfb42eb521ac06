// Heat maps of spectrograms and alignments, and their content in figures, as text alternative.

/** @import { Picture } from "./js/index.js" */

/** The colours from nothing to most, dark on light paper and bright on dark. @param {HTMLElement} element @returns {number[][]} */
function ramp(element) {
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
  const colours = ramp(canvas);
  const cells = new ImageData(columns, rows);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const place = Math.max(0, Math.min(1, value(column, row))) * (colours.length - 1);
      const low = Math.min(colours.length - 2, Math.floor(place));
      const at = ((rows - 1 - row) * columns + column) * 4;
      for (let i = 0; i < 3; i++) cells.data[at + i] = colours[low][i] + (colours[low + 1][i] - colours[low][i]) * (place - low);
      cells.data[at + 3] = 255;
    }
  }
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const small = new OffscreenCanvas(columns, rows);
  small.getContext("2d")?.putImageData(cells, 0, 0);
  context.imageSmoothingQuality = "high";
  context.drawImage(small, 0, 0, canvas.width, canvas.height);
}

/** Log amplitudes from what is just audible to loud. */
const [QUIET, LOUD] = [-9, 0.5];

/** @param {Picture} picture @param {"recorded" | "predicted"} which */
export function melMap(picture, which) {
  const { mels, [which]: data } = picture;
  const value = (/** @type {number} */ column, /** @type {number} */ row) => (data[column * mels + row] - QUIET) / (LOUD - QUIET);
  return { columns: data.length / mels, rows: mels, value };
}

/** The first sound at the top. @param {Picture} picture */
export const alignmentMap = ({ alignment, symbols }) => ({
  columns: alignment.length / symbols.length,
  rows: symbols.length,
  value: (/** @type {number} */ column, /** @type {number} */ row) => alignment[column * symbols.length + (symbols.length - 1 - row)],
});

/** How far the voice's spectrogram is from the recording's, the mean of the differences. @param {Picture} picture @returns {number} dB */
export function differenceDb({ recorded, predicted }) {
  const DB_A_NEPER = 8.686;
  return (DB_A_NEPER * recorded.reduce((sum, value, i) => sum + Math.abs(value - predicted[i]), 0)) / recorded.length;
}

/** Phones whose posterior exceeds one half in some frame of their own. @param {Picture} picture */
export function soundsHeard({ alignment, symbols, durations }) {
  let [heard, count, begin] = [0, 0, 0];
  symbols.forEach((symbol, index) => {
    if (/^[A-Z]/.test(symbol)) {
      count += 1;
      const frames = Array.from({ length: durations[index] }, (_, frame) => alignment[(begin + frame) * symbols.length + index]);
      heard += frames.some((surely) => surely > 0.5) ? 1 : 0;
    }
    begin += durations[index];
  });
  return { heard, count };
}
