// Waveforms and curves on canvases, in the page's own colours.

/** @param {HTMLCanvasElement} canvas @returns {{ context: CanvasRenderingContext2D, width: number, height: number, colour: (name: string) => string } | null} */
function begin(canvas) {
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

/**
 * The loudest sample under each bar.
 * @param {Float32Array} samples @param {number} bars @returns {number[]}
 */
function peaks(samples, bars) {
  return Array.from({ length: bars }, (_, bar) => {
    const [from, to] = [bar, bar + 1].map((edge) => Math.floor((edge / bars) * samples.length));
    let peak = 0;
    for (let i = from; i < to; i++) peak = Math.max(peak, Math.abs(samples[i]));
    return peak;
  });
}

/** @param {HTMLCanvasElement} canvas @param {(bars: number) => number[]} heights @param {number} played Part that has been heard, 0 to 1. */
function bars(canvas, heights, played) {
  const on = begin(canvas);
  if (!on) return;
  const { context, width, height, colour } = on;
  const count = Math.floor(width / (BAR + GAP));
  const values = heights(count);
  const [heard, rest] = [colour("--ember"), colour("--wave")];
  for (let bar = 0; bar < count; bar++) {
    // Speech is quiet most of the time: a root makes its shape visible.
    const tall = Math.max(2, Math.sqrt(values[bar] ?? 0) * (height - 2));
    context.fillStyle = bar / count < played ? heard : rest;
    context.beginPath();
    context.roundRect(bar * (BAR + GAP), (height - tall) / 2, BAR, tall, BAR / 2);
    context.fill();
  }
}

/** @param {HTMLCanvasElement} canvas @param {Float32Array | null} samples @param {number} [played] */
export const drawWave = (canvas, samples, played = 0) => bars(canvas, (count) => (samples ? peaks(samples, count) : []), played);

/** What the microphone hears, newest at the right. @param {HTMLCanvasElement} canvas @param {number[]} levels Peaks, 0 to 1. */
export const drawLive = (canvas, levels) =>
  bars(canvas, (count) => [...Array(Math.max(0, count - levels.length)).fill(0), ...levels.slice(-count)], 1);

/** A falling loss. @param {HTMLCanvasElement} canvas @param {number[]} losses One an iteration. @param {number} iterations The whole width. */
export function drawCurve(canvas, losses, iterations) {
  const on = begin(canvas);
  if (!on) return;
  const { context, width, height, colour } = on;
  const finite = losses.filter(Number.isFinite);
  if (finite.length === 0) return;
  const top = Math.max(...finite);
  const low = Math.min(...finite);
  const [left, right, above, below] = [44, 8, 10, 22];
  const x = (/** @type {number} */ i) => left + (i / Math.max(1, iterations - 1)) * (width - left - right);
  const y = (/** @type {number} */ loss) => above + ((top - loss) / Math.max(top - low, 1e-6)) * (height - above - below);

  context.strokeStyle = colour("--line");
  context.fillStyle = colour("--soft");
  context.font = `12px ${colour("--sans")}`;
  context.textBaseline = "middle";
  for (const loss of top - low > 1e-6 ? [top, (top + low) / 2, low] : [top]) {
    context.beginPath();
    context.moveTo(left, y(loss));
    context.lineTo(width - right, y(loss));
    context.stroke();
    context.textAlign = "right";
    context.fillText(loss.toFixed(2), left - 8, y(loss));
  }
  context.textBaseline = "bottom";
  context.textAlign = "left";
  context.fillText("1", left, height);
  context.textAlign = "right";
  context.fillText(String(iterations), width - right, height);

  context.strokeStyle = colour("--ember");
  context.lineWidth = 2;
  context.lineJoin = "round";
  context.beginPath();
  losses.forEach((loss, i) => Number.isFinite(loss) && context.lineTo(x(i), y(loss)));
  context.stroke();
  context.fillStyle = colour("--ember");
  context.beginPath();
  context.arc(x(losses.length - 1), y(/** @type {number} */ (finite.at(-1))), 3.5, 0, 2 * Math.PI);
  context.fill();
}
