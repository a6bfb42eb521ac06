// The profile of a training step on this machine.

import { $, element, fail, say } from "./dom.js";
import { failure, state, studio, update } from "./state.js";
import { number, t } from "./strings.js";

/** @import { State } from "./state.js" */

let ending = new AbortController();

/** Measures, or ends the measuring that is under way. */
export async function measure() {
  if (state.profile.status === "measuring") return ending.abort();
  ending = new AbortController();
  const onProgress = (/** @type {{ module: number, modules: number }} */ { module, modules }) => update({ profile: { ...state.profile, part: module / modules } });
  update({ profile: { status: "measuring", part: 0, found: null, error: null } });
  try {
    update({ profile: { status: "done", part: 1, found: await studio().profile({ onProgress, signal: ending.signal }), error: null } });
  } catch (error) {
    update({ profile: { status: "none", part: 0, found: null, error: failure(error) } });
  }
}

/** What the table shows. @type {State["profile"]["found"]} */
let shown = null;

/** @param {State} state */
export function renderProfile({ profile: { status, part, found, error }, training }) {
  const measuring = status === "measuring";
  $("profile-start").disabled = training.status === "running";
  say($("profile-start"), t(measuring ? "profile.stop" : found ? "profile.again" : "profile.start"));
  $("profile-bar").hidden = !measuring;
  $("profile-bar").value = part;
  fail($("profile-error"), error);
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
