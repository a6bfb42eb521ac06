// The loss curves, training and held-out, by uPlot. It is fetched while the page loads: it is not needed before a training, and nothing is fetched then.

/** @typedef {import("uplot")} Plot */

/** @type {Promise<typeof import("uplot")> | undefined} */
let library;
/** @type {{ plot: Plot, look: string } | null} */
let drawn = null;

/** @returns {Promise<typeof import("uplot")>} */
export function prepareCurve() {
  library ??= new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement("script"), { src: "vendor/uplot.js" });
    script.onload = () => resolve(/** @type {any} */ (globalThis).uPlot);
    script.onerror = () => reject(new Error("uPlot could not be fetched"));
    document.head.append(script);
  });
  return library;
}

/** One loss per iteration, and those of the held-out clips. @typedef {{ losses: number[], heldOut: { iteration: number, loss: number }[], iterations: number }} Losses */

/** @type {Losses} */
let latest = { losses: [], heldOut: [], iterations: 1 };

/** @param {HTMLElement} element @param {Losses} losses @param {{ loss: string, heldOut: string, iteration: string }} words */
export async function drawCurve(element, losses, words) {
  latest = losses;
  const uPlot = await prepareCurve();
  if (element.clientWidth === 0) return; // not on screen
  const colour = (/** @type {string} */ name) => getComputedStyle(element).getPropertyValue(name).trim();
  const look = [colour("--ember"), colour("--good"), colour("--soft"), colour("--line"), words.loss, latest.iterations].join();
  const size = { width: element.clientWidth, height: element.clientHeight };
  if (drawn && drawn.look !== look) {
    drawn.plot.destroy();
    drawn = null;
  }
  if (!drawn) {
    const axis = { stroke: colour("--soft"), font: `12px ${colour("--sans")}`, grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
    /** @type {import("uplot").Options} */
    const options = {
      ...size,
      cursor: { show: false },
      legend: { show: false },
      scales: { x: { time: false, range: [1, Math.max(2, latest.iterations)] } },
      axes: [{ ...axis, grid: { show: false }, size: 26 }, { ...axis, size: 44 }],
      series: [
        { label: words.iteration },
        { label: words.loss, stroke: colour("--ember"), width: 2, points: { show: false }, spanGaps: true },
        { label: words.heldOut, stroke: colour("--good"), width: 2, dash: [6, 4], points: { show: true, size: 7, fill: colour("--good") }, spanGaps: true },
      ],
    };
    drawn = { plot: new uPlot(options, data(latest), element), look };
    return;
  }
  if (drawn.plot.width !== size.width || drawn.plot.height !== size.height) drawn.plot.setSize(size);
  drawn.plot.setData(data(latest));
}

/** @param {Losses} losses @returns {import("uplot").AlignedData} */
function data({ losses, heldOut }) {
  const held = new Map(heldOut.map(({ iteration, loss }) => [iteration, loss]));
  const numbers = losses.map((_, i) => i + 1);
  const known = (/** @type {number | undefined} */ value) => (value !== undefined && Number.isFinite(value) ? value : null);
  return [numbers, Array.from(losses, known), numbers.map((iteration) => known(held.get(iteration)))];
}
