// A training step on this machine: where its time goes, and whether it computes what the CPU does.

import { $, element, fail } from "./dom.js";
import { say } from "./page.js";
import { failure, state, studio, update } from "./state.js";
import { number, t } from "./strings.js";

/** @import { State } from "./state.js" */
/** @typedef {"profile" | "precision"} Panel */

let ending = new AbortController();

/** @type {{ [panel in Panel]: (signal: AbortSignal, show: (part: number) => void) => Promise<any> }} */
const WORK = {
  profile: (signal, show) => studio().profile({ signal, onProgress: ({ module, modules }) => show(module / modules) }),
  precision: (signal, show) => studio().precision({ signal, onProgress: ({ done, of }) => show(done / of) }),
};

/** Measures, or ends the measuring that is under way. @param {Panel} panel */
export async function measure(panel) {
  if (state[panel].status === "measuring") return ending.abort();
  ending = new AbortController();
  const set = (/** @type {Partial<State[Panel]>} */ change) => update({ [panel]: { ...state[panel], ...change } });
  set({ status: "measuring", part: 0, found: null, error: null });
  try {
    set({ status: "done", found: await WORK[panel](ending.signal, (part) => set({ part })) });
  } catch (error) {
    set({ status: "none", error: failure(error) });
  }
}

/** Button, bar and error. One measuring at a time, and none beside a training. @param {Panel} panel @param {State} state */
function renderPanel(panel, { [panel]: { status, part, found, error }, profile, precision, training }) {
  const measuring = status === "measuring";
  const busy = training.status === "running" || [profile, precision].some((other) => other.status === "measuring");
  $(`${panel}-start`).disabled = busy && !measuring;
  say($(`${panel}-start`), t(measuring ? "profile.stop" : found ? `${panel}.again` : `${panel}.start`));
  $(`${panel}-bar`).hidden = !measuring;
  $(`${panel}-bar`).value = part;
  fail($(`${panel}-error`), error);
}

/** @param {State} state */
export function renderPrecision(state) {
  renderPanel("precision", state);
  const { found } = state.precision;
  const { code = "", reason = "" } = state.studio?.device ?? {};
  // An adapter that was not trusted is reported without a comparison, too: the reason names its operation at fault.
  const text = found ? `${reason}\n${found.text}` : code.startsWith("adapter-") && code !== "adapter-found" ? reason : "";
  const fault = found?.fault;
  const where = fault && [fault.module, fault.operation].filter(Boolean).join(": ");
  say($("precision-words"), !found ? "" : found.passes ? t("precision.passes", { count: found.tensors }) : where ? t("precision.fault", { where }) : t("precision.differs", { count: found.rows.length }));
  $("precision-text").hidden = $("precision-copy").hidden = !text;
  if ($("precision-text").textContent === text) return;
  $("precision-text").textContent = text;
  say($("precision-copy"), t("precision.copy"));
}

/** Copies the report, or selects it where the browser does not allow that. */
export async function copyReport() {
  const text = $("precision-text");
  try {
    await navigator.clipboard.writeText(text.textContent ?? "");
    say($("precision-copy"), t("precision.copied"));
  } catch {
    getSelection()?.selectAllChildren(text);
  }
}

/** What the table shows. @type {State["profile"]["found"]} */
let shown = null;

/** @param {State} state */
export function renderProfile(state) {
  renderPanel("profile", state);
  const { found } = state.profile;
  $("profile-table").hidden = !found;
  if (!found || shown === found) return;
  shown = found;
  const { tHead, tBodies } = $("profile-table");
  const counted = found.rows.some(({ forwardDispatches }) => forwardDispatches !== null);
  const figures = /** @type {const} */ (["forwardMs", "backwardMs", ...(counted ? /** @type {const} */ (["forwardDispatches", "backwardDispatches"]) : [])]);
  tHead?.replaceChildren(element("tr", {}, ...(/** @type {const} */ (["module", ...figures])).map((column) => element("th", { scope: "col" }, t(`profile.${column}`)))));
  const rows = found.rows.map((row) => {
    const cells = figures.map((figure) => element("td", {}, row[figure] === null ? "" : number(row[figure], figure.endsWith("Ms") ? 1 : 0)));
    const name = t(/** @type {import("./strings.js").Key} */ (`profile.module.${row.module}`));
    return element("tr", {}, element("th", { scope: "row" }, name), ...cells);
  });
  tBodies[0].replaceChildren(...rows);
  const moved = found.rows.find(({ module }) => module === "whole step")?.forwardBytes ?? null;
  const megabytes = (/** @type {import("./strings.js").Key} */ key, /** @type {number | null} */ bytes) => (bytes === null ? [] : [t(key, { mb: number(bytes / 1e6, 0) })]);
  say($("profile-memory"), [...megabytes("profile.memory", found.deviceBytes), ...megabytes("profile.moved", moved)].join(" "));
}
