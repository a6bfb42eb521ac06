// The way of a newcomer: one step is shown at a time, and any other can be opened.

import { activity, isAtCard } from "./activities.js";
import { $ } from "./dom.js";
import { setText } from "./shared/dom.js";
import { closeMicrophone, showPrompt } from "./recording.js";
import { WANTED_SECONDS, consented, goodSeconds, state, update } from "./state.js";
import { t } from "./strings.js";

/** @import { State, Step } from "./state.js" */

/** Shows a step. A sentence that is being recorded or checked is finished first. @param {Step} step @returns {boolean} Whether it is shown. */
export function show(step) {
  if (isAtCard(activity.current)) return false;
  if (step === "train" || step === "talk") closeMicrophone(); // its control is not shown there
  else if (state.source === "record" && (step === "agree") !== (state.current === 0)) {
    const firstOpen = state.prompts.findIndex(({ id }, index) => index > 0 && !state.recordings.get(id)?.report);
    showPrompt(step === "agree" ? 0 : Math.max(1, firstOpen));
  }
  update({ step });
  return true;
}

/** Shows a step from its beginning, for screen readers too. @param {Step} step */
export function goTo(step) {
  if (!show(step)) return;
  scrollTo(0, 0);
  /** @type {HTMLElement} */ ($(step).querySelector("h2")).focus({ preventScroll: true });
}

/** @param {State} state */
export function renderWay(state) {
  document.body.dataset.step = state.step;
  const done = { agree: consented(state), read: goodSeconds(state) >= WANTED_SECONDS || state.voice !== null, train: state.voice !== null, talk: false };
  const buttons = [.../** @type {NodeListOf<HTMLButtonElement>} */ ($("way").querySelectorAll("button"))];
  for (const button of buttons) {
    const step = /** @type {Step} */ (button.dataset.step);
    button.ariaCurrent = step === state.step ? "step" : null;
    button.ariaLabel = done[step] ? `${button.textContent}, ${t("way.done")}` : null;
    button.toggleAttribute("data-done", done[step]);
    button.disabled = isAtCard(state.activity);
  }
  setText($("way-words"), t("way.position", { n: 1 + buttons.findIndex(({ dataset }) => dataset.step === state.step), count: buttons.length }));
}
