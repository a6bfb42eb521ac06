// The loss curves of training and held-out clips, drawn by uPlot. The library is fetched while the page loads, because nothing is fetched during a training.

/** @typedef {import("uplot")} Plot */

/** @type {Promise<typeof import("uplot")> | undefined} */
let library;
/** The plot, and what its colours and axes were made from. @type {{ plot: Plot, style: string } | null} */
let drawn = null;

/** @returns {Promise<typeof import("uplot")>} */
export function fetchPlotLibrary() {
  library ??= new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement("script"), { src: "vendor/uplot.js" });
    script.onload = () => resolve(/** @type {any} */ (globalThis).uPlot);
    script.onerror = () => reject(new Error("uPlot could not be fetched"));
    document.head.append(script);
  });
  return library;
}

/** One loss per iteration, and the losses of the held-out clips. @typedef {{ losses: number[], heldOut: { iteration: number, loss: number }[], iterations: number }} Losses */

/** @type {Losses} */
let latest = { losses: [], heldOut: [], iterations: 1 };

/** @param {HTMLElement} element @param {Losses} losses @param {{ loss: string, heldOut: string, iteration: string }} labels */
export async function drawCurve(element, losses, labels) {
  latest = losses;
  const uPlot = await fetchPlotLibrary();
  if (element.clientWidth === 0) return; // not on screen
  const colour = (/** @type {string} */ name) => getComputedStyle(element).getPropertyValue(name).trim();
  const style = [colour("--ember"), colour("--good"), colour("--soft"), colour("--line"), labels.loss, latest.iterations].join();
  const size = { width: element.clientWidth, height: element.clientHeight };
  if (drawn && drawn.style !== style) {
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
        { label: labels.iteration },
        { label: labels.loss, stroke: colour("--ember"), width: 2, points: { show: false }, spanGaps: true },
        { label: labels.heldOut, stroke: colour("--good"), width: 2, dash: [6, 4], points: { show: true, size: 7, fill: colour("--good") }, spanGaps: true },
      ],
    };
    drawn = { plot: new uPlot(options, data(latest), element), style };
    return;
  }
  if (drawn.plot.width !== size.width || drawn.plot.height !== size.height) drawn.plot.setSize(size);
  drawn.plot.setData(data(latest));
}

/** @param {Losses} losses @returns {import("uplot").AlignedData} */
function data({ losses, heldOut }) {
  const held = new Map(heldOut.map(({ iteration, loss }) => [iteration, loss]));
  const iterations = losses.map((_, i) => i + 1);
  const orNull = (/** @type {number | undefined} */ value) => (value !== undefined && Number.isFinite(value) ? value : null);
  return [iterations, Array.from(losses, orNull), iterations.map((iteration) => orNull(held.get(iteration)))];
}
