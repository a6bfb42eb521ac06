// The live waveform of a recording.

/** Clears a canvas. @param {HTMLCanvasElement} canvas @returns {{ context: CanvasRenderingContext2D, width: number, height: number, colour: (name: string) => string } | null} */
function prepare(canvas) {
  const { clientWidth: width, clientHeight: height } = canvas;
  const context = canvas.getContext("2d");
  if (!context || width === 0) return null; // not on screen
  const ratio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  const style = getComputedStyle(canvas);
  return { context, width, height, colour: (name) => style.getPropertyValue(name).trim() };
}

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
