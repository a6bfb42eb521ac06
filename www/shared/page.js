// What both pages are made of besides their steps: the header with its languages, and the panel that is shown while the page loads.

import { setText, showError } from "./dom.js";
import { LANGUAGES, chooseLanguage, language } from "./language.js";

/** @import { DescribedError } from "./dom.js" */
/** @import { Language } from "./language.js" */

/** @template {HTMLElement} [Kind=HTMLElement] @param {string} id @returns {Kind} An element that both pages have. */
const byId = (id) => /** @type {Kind} */ (document.getElementById(id));

/** Sets the texts that the document names. @template {string} Key @param {(key: Key | "title" | "tagline" | "language") => string} t */
export function translatePage(t) {
  document.documentElement.lang = language;
  document.title = `${t("title")}: ${t("tagline")}`;
  for (const element of document.querySelectorAll("[data-text]")) setText(element, t(/** @type {Key} */ (/** @type {HTMLElement} */ (element).dataset.text)));
  for (const button of document.querySelectorAll("#languages button")) button.ariaPressed = `${/** @type {HTMLElement} */ (button).lang === language}`;
  byId("languages").ariaLabel = t("language");
}

/** Makes the parts that both pages have. @param {{ translate: () => void, redraw: () => void }} page */
export function setUpPage({ translate, redraw }) {
  for (const [lang, name] of Object.entries(LANGUAGES)) {
    byId("languages").append(Object.assign(document.createElement("button"), { type: "button", className: "plain", lang, textContent: name }));
  }
  byId("languages").addEventListener("click", ({ target }) => {
    const { lang } = /** @type {HTMLElement} */ (target);
    if (!lang) return;
    chooseLanguage(/** @type {Language} */ (lang));
    translate();
    redraw();
  });
  byId("reload").addEventListener("click", () => location.reload());
  addEventListener("resize", redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  translate();
  redraw();
}

/** @param {"loading" | "ready" | "failed"} phase @param {{ words: string, part: number | null, error: DescribedError | null }} loading `part` is null while it is unknown. */
export function renderPhase(phase, { words, part, error }) {
  document.body.dataset.phase = phase;
  byId("loading").hidden = phase === "ready";
  byId("steps").hidden = phase !== "ready";
  byId("loading-failed").hidden = phase !== "failed";
  const bar = /** @type {HTMLProgressElement} */ (byId("loading-bar"));
  bar.hidden = phase === "failed";
  if (phase === "loading" && part !== null) bar.value = part;
  else bar.removeAttribute("value");
  setText(byId("loading-words"), phase === "loading" ? words : "");
  showError(byId("loading-error"), phase === "failed" ? error : null);
}
