// What both pages do with their words: those of `index.html`, and those of `lips.html`.

import { LANGUAGES, language } from "./strings.js";

/** Sets words where they differ: a screen reader announces whatever is set in a live region. @param {Element} element @param {string} words */
export function say(element, words) {
  if (element.textContent !== words) element.textContent = words;
}

/** Sets the texts that the page itself names. @template {string} Key @param {(key: Key | "title" | "tagline" | "language") => string} t */
export function translatePage(t) {
  document.documentElement.lang = language;
  document.title = `${t("title")}: ${t("tagline")}`;
  for (const element of document.querySelectorAll("[data-text]")) say(element, t(/** @type {Key} */ (/** @type {HTMLElement} */ (element).dataset.text)));
  for (const button of document.querySelectorAll("#languages button")) button.ariaPressed = `${/** @type {HTMLElement} */ (button).lang === language}`;
  languages().ariaLabel = t("language");
}

/** The language switch. */
export function offerLanguages() {
  for (const [lang, name] of Object.entries(LANGUAGES)) {
    languages().append(Object.assign(document.createElement("button"), { type: "button", className: "plain", lang, textContent: name }));
  }
}

const languages = () => /** @type {HTMLElement} */ (document.getElementById("languages"));
