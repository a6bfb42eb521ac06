// The curve of the loss.

/** Draws the losses so far, from left to right. @param {HTMLCanvasElement} canvas @param {number[]} losses */
export function drawLosses(canvas, losses) {
  const { clientWidth, clientHeight } = canvas;
  const context = canvas.getContext("2d");
  if (!context || clientWidth === 0) return; // not on screen
  const ratio = devicePixelRatio || 1;
  const [width, height] = [Math.round(clientWidth * ratio), Math.round(clientHeight * ratio)];
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  context.clearRect(0, 0, width, height);
  const most = Math.max(...losses);
  const line = 2 * ratio;
  context.lineWidth = line;
  context.strokeStyle = getComputedStyle(canvas).getPropertyValue("--ember").trim();
  context.beginPath();
  losses.forEach((loss, index) => context.lineTo((index / (losses.length - 1)) * width, line + (1 - loss / most) * (height - 2 * line)));
  context.stroke();
}
