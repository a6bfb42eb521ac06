// Renders the takes and the learning from them. No decisions are made here.

import { createElement, offerDownload, renderChildren, setText } from "../shared/dom.js";
import { formatNumber, formatTime } from "../shared/language.js";
import { $, errorNodes, showError } from "./dom.js";
import { MAX_SECONDS } from "./pictures.js";
import { state } from "./state.js";
import { t } from "./strings.js";

/** @import { LeftOut } from "./pkg/ownvoice_web_lips.js" */
/** @import { Take } from "./state.js" */

/** @param {Take["name"]} name */
const takeName = (name) => (typeof name === "number" ? t("teach.recorded", { number: name }) : name);

/** @returns {string} */
function progressText() {
  const { activity, taking } = state;
  if (activity === "asking") return t("teach.asking");
  if (activity === "recording") return t("teach.recording", { most: MAX_SECONDS });
  return activity === "taking" ? t("teach.taking", { name: takeName(taking) }) : "";
}

/** The stretches of a video that are left out, with the reasons. @param {LeftOut[]} leftOut @param {"speak.silent" | "teach.left-out"} key @returns {HTMLLIElement[]} */
export function stretchItems(leftOut, key) {
  return leftOut.map((part) => {
    const times = { begin: formatNumber(part.begin ?? 0, 1), end: formatNumber(part.end ?? 0, 1) };
    return createElement("li", {}, `${t(key, times)} `, ...errorNodes(part));
  });
}

/** @param {Take} take @param {number} index */
function takeRow({ name, seconds, leftOut, error }, index) {
  const label = takeName(name);
  const remove = createElement("button", { type: "button", className: "plain", textContent: t("teach.remove"), ariaLabel: t("teach.remove-named", { name: label }), disabled: state.activity !== "idle" });
  remove.dataset.take = `${index}`;
  const head = createElement("div", { className: "head" }, createElement("span", { className: "name", textContent: label }), remove);
  const verdict = createElement("p", { className: error ? "failure" : "" }, ...(error ? errorNodes(error) : [t("teach.seconds", { seconds: formatNumber(seconds, 1) })]));
  const parts = leftOut.length > 0 ? [createElement("ul", { className: "small" }, ...stretchItems(leftOut, "teach.left-out"))] : [];
  return createElement("li", {}, head, verdict, ...parts);
}

export function renderTeaching() {
  const { activity, takes, leastWindows, own, recording, part } = state;
  const idle = activity === "idle";
  const windows = takes.reduce((sum, take) => sum + take.windows, 0);
  const seconds = takes.reduce((sum, take) => sum + take.seconds, 0);
  setText($("teach-how"), t("teach.how", { most: MAX_SECONDS }));
  if ($("teach-view").srcObject !== recording) {
    $("teach-view").srcObject = recording;
    if (recording) $("teach-view").play().catch(() => {}); // it ended before it was shown
  }
  $("teach-view").hidden = !recording;
  $("teach-view").ariaLabel = t("teach.view");
  $("teach-bar").hidden = activity !== "taking";
  $("teach-bar").value = part;
  setText($("teach-words"), progressText());
  showError($("teach-error"), state.teachError);
  $("teach-record").disabled = !idle && activity !== "recording";
  $("teach-record").ariaPressed = `${activity === "recording"}`;
  setText($("teach-record-words"), t(activity === "recording" ? "film.stop" : "teach.record"));
  $("teach-files").disabled = !idle;
  const isTaking = activity === "asking" || activity === "recording" || activity === "taking";
  $("teach-choose").hidden = isTaking;
  $("teach-cancel").hidden = !isTaking;
  renderChildren($("takes"), takes.map(takeRow));
  $("takes").hidden = takes.length === 0;
  setText($("teach-total"), t(windows < leastWindows ? "teach.more" : "teach.enough", { seconds: formatNumber(seconds, 1) }));
  $("learn").disabled = !idle || windows < leastWindows;
  $("learn").hidden = activity === "learning";
  $("learn-stop").hidden = $("learn-cancel").hidden = activity !== "learning";
  renderLearning();
  $("own").hidden = !own;
  $("own-file").disabled = !idle;
  $("own-forget").disabled = !idle || (takes.length === 0 && !own);
  renderOwn();
}

function renderLearning() {
  const { activity, step, heldOut, startedMs } = state;
  const learning = activity === "learning";
  $("learn-bar").hidden = !learning;
  $("learn-step").hidden = !learning;
  $("learn-held-out").hidden = !learning || heldOut.length === 0;
  if (!learning) return;
  if (!step) {
    $("learn-bar").removeAttribute("value");
    setText($("learn-iteration"), t("teach.starting"));
    setText($("learn-loss"), "");
  } else {
    $("learn-bar").value = step.iteration / step.iterations;
    const left = ((performance.now() - startedMs) / 1000 / step.iteration) * (step.iterations - step.iteration);
    setText($("learn-iteration"), t("teach.iteration", { iteration: step.iteration, iterations: step.iterations, left: formatTime(left) }));
    setText($("learn-loss"), t("teach.loss", { loss: formatNumber(step.loss, 3) }));
  }
  if (heldOut.length > 0) setText($("learn-held-out"), t("teach.held-out", { before: formatNumber(heldOut[0], 3), now: formatNumber(heldOut.at(-1) ?? NaN, 3) }));
}

function renderOwn() {
  const { own } = state;
  if (own) {
    const { iterations, seconds, before, after } = own.tuning;
    setText($("own-words"), t("teach.learned", { iterations, seconds: formatNumber(seconds, 1), before: formatNumber(before, 3), after: formatNumber(after, 3) }));
  }
  offerDownload($("own-download"), own?.file ?? null, "me.ownvoice-lips");
}
