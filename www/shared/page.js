// What both pages are made of besides their steps: a state, the header with its languages, and the panel that is shown while the page loads.

import { blobThatImports } from "../js/start.js";
import { setText, showError } from "./dom.js";
import { LANGUAGES, chooseLanguage, formatNumber, language } from "./language.js";

/** @import { LoadProgress } from "../js/index.js" */
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

/** What is shown while a page loads: a string with its values, and the part that is done, null while it is unknown.
 * @typedef {{ key: "load.program" | "load.base" | "load.starting", values: { [name: string]: string }, part: number | null }} Loading */

/**
 * The address of a script that imports the worker. A worker obeys the policy of its own response, which many hosts do not send; a worker that a script of the
 * page imports inherits the policy of the page.
 * @param {string | URL} url
 */
export const workerUnderPolicy = (url) => blobThatImports(new URL(url, document.baseURI).href);

/** Returns a function that turns the progress of a load into what is shown. @returns {(progress: LoadProgress) => Loading} */
export function loadingProgress() {
  // Program and base are fetched at the same time; the size of the program is known only at its end.
  const base = { loaded: 0, total: 0 };
  let program = 0;
  const mb = (/** @type {number} */ bytes) => formatNumber(bytes / 1e6, 1);
  return /** @returns {Loading} */ (progress) => {
    if (progress.status === "starting") return { key: "load.starting", values: {}, part: null };
    if (progress.what === "program") program = progress.loadedBytes;
    else Object.assign(base, { loaded: progress.loadedBytes, total: progress.totalBytes });
    if (base.loaded < base.total) return { key: "load.base", values: { mb: mb(base.loaded), total: mb(base.total) }, part: base.loaded / base.total };
    return { key: "load.program", values: { mb: mb(program) }, part: null };
  };
}

/** The state of a page: one value, changed only by `update`, from which everything on the page is drawn. @template {object} State @param {State} initial */
export function createStore(initial) {
  const state = { ...initial };
  let draw = () => {};
  return {
    /** The current state. */
    state,
    /** @param {Partial<State>} change */
    update(change) {
      Object.assign(state, change);
      draw();
    },
    /** @param {() => void} drawing Called after each change. */
    drawWith(drawing) {
      draw = drawing;
    },
  };
}
