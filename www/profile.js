// Measures a training step on this machine: the time of each module, and whether it computes what the CPU computes.

import { activity } from "./activities.js";
import { $, showError } from "./dom.js";
import { createElement, renderChildren, setText } from "./shared/dom.js";
import { formatNumber } from "./shared/language.js";
import { state, studio, unlessCancelled, update } from "./state.js";
import { t } from "./strings.js";

/** @import { State } from "./state.js" */
/** @import { Key } from "./strings.js" */
/** @typedef {"profile" | "precision"} Panel */

/** @type {{ [panel in Panel]: (signal: AbortSignal, show: (part: number) => void) => Promise<any> }} */
const MEASUREMENTS = {
  profile: (signal, show) => studio().profile({ signal, onProgress: ({ module, modules }) => show(module / modules) }),
  precision: (signal, show) => studio().precision({ signal, onProgress: ({ done, of }) => show(done / of) }),
};

/** Starts a measurement, or cancels it. @param {Panel} panel */
export function toggleMeasurement(panel) {
  if (activity.current === panel) return activity.cancel();
  const updatePanel = (/** @type {Partial<State[Panel]>} */ change) => update({ [panel]: { ...state[panel], ...change } });
  return activity.perform(panel, async ({ signal }) => {
    updatePanel({ part: 0, found: null, error: null });
    try {
      updatePanel({ found: await MEASUREMENTS[panel](signal, (part) => updatePanel({ part })) });
    } catch (error) {
      updatePanel({ error: unlessCancelled(error) });
    }
  });
}

/** Renders button, bar and error. @param {Panel} panel @param {State} state */
function renderPanel(panel, { activity: current, [panel]: { part, found, error } }) {
  const measuring = current === panel;
  $(`${panel}-start`).disabled = !measuring && !activity.allows(panel);
  setText($(`${panel}-start`), t(measuring ? "profile.stop" : found ? `${panel}.again` : `${panel}.start`));
  $(`${panel}-bar`).hidden = !measuring;
  $(`${panel}-bar`).value = part;
  showError($(`${panel}-error`), error);
}

/** @param {State} state */
export function renderPrecision(state) {
  renderPanel("precision", state);
  const { found } = state.precision;
  const { code = "", reason = "" } = state.studio?.device ?? {};
  // An adapter that failed the self-test is reported without a comparison too: the reason names the operation at fault.
  const report = found ? `${reason}\n${found.text}` : code.startsWith("adapter-") && code !== "adapter-found" ? reason : "";
  const fault = found?.fault;
  const where = fault && [fault.module, fault.operation].filter(Boolean).join(": ");
  setText($("precision-words"), !found ? "" : found.passes ? t("precision.passes", { count: found.tensors }) : where ? t("precision.fault", { where }) : t("precision.differs", { count: found.rows.length }));
  $("precision-text").hidden = $("precision-copy").hidden = !report;
  if ($("precision-text").textContent === report) return;
  $("precision-text").textContent = report;
  setText($("precision-copy"), t("precision.copy"));
}

/** Copies the report, or selects it where the browser does not allow that. */
export async function copyReport() {
  const text = $("precision-text");
  try {
    await navigator.clipboard.writeText(text.textContent ?? "");
    setText($("precision-copy"), t("precision.copied"));
  } catch {
    getSelection()?.selectAllChildren(text);
  }
}

/** @param {State} state */
export function renderProfile(state) {
  renderPanel("profile", state);
  const { found } = state.profile;
  $("profile-table").hidden = !found;
  if (!found) return;
  const { tHead, tBodies } = $("profile-table");
  const hasDispatches = found.rows.some(({ forwardDispatches }) => forwardDispatches !== null);
  const columns = /** @type {const} */ (["forwardMs", "backwardMs", ...(hasDispatches ? /** @type {const} */ (["forwardDispatches", "backwardDispatches"]) : [])]);
  const heads = /** @type {const} */ (["module", ...columns]).map((column) => createElement("th", { scope: "col" }, t(`profile.${column}`)));
  if (tHead) renderChildren(tHead, [createElement("tr", {}, ...heads)]);
  const rows = found.rows.map((row) => {
    const cells = columns.map((column) => createElement("td", {}, row[column] === null ? "" : formatNumber(row[column], column.endsWith("Ms") ? 1 : 0)));
    const name = t(/** @type {Key} */ (`profile.module.${row.module}`));
    return createElement("tr", {}, createElement("th", { scope: "row" }, name), ...cells);
  });
  renderChildren(tBodies[0], rows);
  const moved = found.rows.find(({ module }) => module === "whole step")?.forwardBytes ?? null;
  const megabytes = (/** @type {Key} */ key, /** @type {number | null} */ bytes) => (bytes === null ? [] : [t(key, { mb: formatNumber(bytes / 1e6, 0) })]);
  setText($("profile-memory"), [...megabytes("profile.memory", found.deviceBytes), ...megabytes("profile.moved", moved)].join(" "));
}
