// The curve of the loss.

import { prepare } from "../shared/canvas.js";

const LINE = 2;

/** Draws the losses so far, from left to right. @param {HTMLCanvasElement} canvas @param {number[]} losses */
export function drawLosses(canvas, losses) {
  const surface = prepare(canvas);
  if (!surface) return;
  const { context, width, height, colour } = surface;
  const most = Math.max(...losses);
  context.lineWidth = LINE;
  context.strokeStyle = colour("--ember");
  context.beginPath();
  losses.forEach((loss, index) => context.lineTo((index / (losses.length - 1)) * width, LINE + (1 - loss / most) * (height - 2 * LINE)));
  context.stroke();
}
