// Draws what is taught: takes, and the learning from them. No decisions are made here.

import { say } from "../page.js";
import { clock, number } from "../strings.js";
import { $, fail, told } from "./dom.js";
import { MOST_SECONDS } from "./pictures.js";
import { state } from "./state.js";
import { t } from "./words.js";

/** @import { LeftOut } from "./pkg/ownvoice_web_lips.js" */
/** @import { Take } from "./state.js" */

/** @param {Take["name"]} name */
const named = (name) => (typeof name === "number" ? t("teach.recorded", { number: name }) : name);

/** @returns {string} */
function words() {
  const { work, taking } = state;
  if (work === "asking") return t("teach.asking");
  if (work === "recording") return t("teach.recording", { most: MOST_SECONDS });
  return work === "taking" ? t("teach.taking", { name: named(taking) }) : "";
}

/** The stretches of a video of which nothing is made, and why. @param {LeftOut[]} leftOut @param {"speak.silent" | "teach.left-out"} key @returns {HTMLLIElement[]} */
export function stretches(leftOut, key) {
  return leftOut.map((part) => {
    const times = { begin: number(part.begin ?? 0, 1), end: number(part.end ?? 0, 1) };
    const item = document.createElement("li");
    item.append(t(key, times), " ", ...told(part));
    return item;
  });
}

/** @param {Take} take @param {number} index */
function row({ name, seconds, leftOut, error }, index) {
  const item = document.createElement("li");
  const head = Object.assign(document.createElement("div"), { className: "head" });
  const remove = Object.assign(document.createElement("button"), { type: "button", className: "plain", textContent: t("teach.remove"), disabled: state.work !== "idle" });
  remove.dataset.take = `${index}`;
  remove.ariaLabel = t("teach.remove-named", { name: named(name) });
  head.append(Object.assign(document.createElement("span"), { className: "name", textContent: named(name) }), remove);
  const verdict = Object.assign(document.createElement("p"), { className: error ? "failure" : "" });
  verdict.append(...(error ? told(error) : [t("teach.seconds", { seconds: number(seconds, 1) })]));
  const parts = Object.assign(document.createElement("ul"), { className: "small" });
  parts.append(...stretches(leftOut, "teach.left-out"));
  item.append(head, verdict, ...(leftOut.length > 0 ? [parts] : []));
  return item;
}

/** What the list was drawn from: drawn anew, it would lose the focus. */
let drawn = "";

export function renderTeaching() {
  const { work, takes, leastWindows, own, recording, part } = state;
  const idle = work === "idle";
  const windows = takes.reduce((sum, take) => sum + take.windows, 0);
  const seconds = takes.reduce((sum, take) => sum + take.seconds, 0);
  say($("teach-how"), t("teach.how", { most: MOST_SECONDS }));
  if ($("teach-view").srcObject !== recording) {
    $("teach-view").srcObject = recording;
    if (recording) $("teach-view").play().catch(() => {}); // it is taken away before it began
  }
  $("teach-view").hidden = !recording;
  $("teach-view").ariaLabel = t("teach.view");
  $("teach-bar").hidden = work !== "taking";
  $("teach-bar").value = part;
  say($("teach-words"), words());
  fail($("teach-error"), state.teachError);
  $("teach-record").disabled = !idle && work !== "recording";
  $("teach-record").ariaPressed = `${work === "recording"}`;
  say($("teach-record-words"), t(work === "recording" ? "film.stop" : "teach.record"));
  $("teach-files").disabled = !idle;
  const isTaking = work === "asking" || work === "recording" || work === "taking";
  $("teach-choose").hidden = isTaking;
  $("teach-cancel").hidden = !isTaking;
  const looks = JSON.stringify([takes, idle, t("teach.remove")]);
  if (looks !== drawn) {
    drawn = looks;
    $("takes").replaceChildren(...takes.map(row));
  }
  $("takes").hidden = takes.length === 0;
  say($("teach-total"), t(windows < leastWindows ? "teach.more" : "teach.enough", { seconds: number(seconds, 1) }));
  $("learn").disabled = !idle || windows < leastWindows;
  $("learn").hidden = work === "learning";
  $("learn-stop").hidden = $("learn-cancel").hidden = work !== "learning";
  renderLearning();
  $("own").hidden = !own;
  $("own-file").disabled = !idle;
  $("own-forget").disabled = !idle || (takes.length === 0 && !own);
  renderOwn();
}

function renderLearning() {
  const { work, step, heldOut, begun } = state;
  const learning = work === "learning";
  $("learn-bar").hidden = !learning;
  $("learn-step").hidden = !learning;
  $("learn-held-out").hidden = !learning || heldOut.length === 0;
  if (!learning) return;
  if (!step) {
    $("learn-bar").removeAttribute("value");
    say($("learn-iteration"), t("teach.starting"));
    say($("learn-loss"), "");
  } else {
    $("learn-bar").value = step.iteration / step.iterations;
    const left = ((performance.now() - begun) / 1000 / step.iteration) * (step.iterations - step.iteration);
    say($("learn-iteration"), t("teach.iteration", { iteration: step.iteration, iterations: step.iterations, left: clock(left) }));
    say($("learn-loss"), t("teach.loss", { loss: number(step.loss, 3) }));
  }
  if (heldOut.length > 0) say($("learn-held-out"), t("teach.held-out", { before: number(heldOut[0], 3), now: number(heldOut[heldOut.length - 1], 3) }));
}

/** @type {Blob | null} */
let offered = null;

function renderOwn() {
  const { own } = state;
  if (own) {
    const { iterations, seconds, before, after } = own.tuning;
    say($("own-words"), t("teach.learned", { iterations, seconds: number(seconds, 1), before: number(before, 3), after: number(after, 3) }));
  }
  if (offered === (own?.file ?? null)) return;
  offered = own?.file ?? null;
  URL.revokeObjectURL($("own-download").href);
  if (!own) return $("own-download").removeAttribute("href");
  $("own-download").href = URL.createObjectURL(own.file);
  $("own-download").download = "me.ownvoice-lips";
}
