// The live waveform of a recording, and the curves of a training.

import { prepare } from "./shared/canvas.js";
import { formatNumber } from "./shared/language.js";

const BAR = 3;
const GAP = 2;

/** Draws levels, the newest at the right. @param {HTMLCanvasElement} canvas @param {number[]} levels Peaks, 0 to 1. */
export function drawLevels(canvas, levels) {
  const surface = prepare(canvas);
  if (!surface) return;
  const { context, width, height, colour } = surface;
  const count = Math.floor(width / (BAR + GAP));
  const values = [...Array(Math.max(0, count - levels.length)).fill(0), ...levels.slice(-count)];
  context.fillStyle = colour("--ember");
  values.forEach((value, bar) => {
    // Speech is quiet most of the time: the square root makes its shape visible.
    const barHeight = Math.max(2, Math.sqrt(value) * (height - 2));
    context.beginPath();
    context.roundRect(bar * (BAR + GAP), (height - barHeight) / 2, BAR, barHeight, BAR / 2);
    context.fill();
  });
}

/** The space around the curves, in pixels, in which their numbers stand. */
const MARGIN = { left: 40, right: 8, top: 10, bottom: 24 };

/** Draws one loss per iteration, and the losses of the held-out clips.
 * @param {HTMLCanvasElement} canvas @param {{ losses: number[], heldOut: { iteration: number, loss: number }[], iterations: number }} training */
export function drawCurve(canvas, { losses, heldOut, iterations }) {
  const surface = prepare(canvas);
  if (!surface) return;
  const { context, width, height, colour } = surface;
  const own = Array.from(losses, (loss, i) => ({ iteration: i + 1, loss }));
  const finite = (/** @type {typeof heldOut} */ points) => points.filter(({ loss }) => Number.isFinite(loss));
  const all = finite([...own, ...heldOut]).map(({ loss }) => loss);
  if (!all.length) return;
  const [least, most] = [Math.min(...all), Math.max(...all)];
  const right = width - MARGIN.right;
  const bottom = height - MARGIN.bottom;
  const x = (/** @type {number} */ iteration) => MARGIN.left + ((iteration - 1) / Math.max(1, iterations - 1)) * (right - MARGIN.left);
  const y = (/** @type {number} */ loss) => MARGIN.top + ((most - loss) / (most - least || 1)) * (bottom - MARGIN.top);
  context.lineWidth = 1;
  context.strokeStyle = colour("--line");
  context.strokeRect(MARGIN.left, MARGIN.top, right - MARGIN.left, bottom - MARGIN.top);
  Object.assign(context, { fillStyle: colour("--soft"), font: `12px ${colour("--sans")}`, textBaseline: "middle", textAlign: "right" });
  for (const loss of [least, most]) context.fillText(formatNumber(loss, 2), MARGIN.left - 6, y(loss));
  for (const iteration of [1, iterations]) context.fillText(`${iteration}`, x(iteration) + (iteration === 1 ? 8 : 0), bottom + 14);
  /** @param {typeof heldOut} points @param {string} name @param {number[]} dash */
  const line = (points, name, dash) => {
    context.strokeStyle = colour(name);
    context.lineWidth = 2;
    context.setLineDash(dash);
    context.beginPath();
    for (const { iteration, loss } of finite(points)) context.lineTo(x(iteration), y(loss));
    context.stroke();
    context.setLineDash([]);
  };
  line(own, "--ember", []);
  line(heldOut, "--good", [6, 4]);
  context.fillStyle = colour("--good");
  for (const { iteration, loss } of finite(heldOut)) context.fillRect(x(iteration) - 3, y(loss) - 3, 6, 6);
}
