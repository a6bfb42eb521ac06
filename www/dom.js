// What every part of the page draws with.

import { CONSENT } from "./state.js";
import { inWords, t } from "./strings.js";

/** @import { Failure, State } from "./state.js" */

/** @param {string} id @returns {any} */
export const $ = (id) => document.getElementById(id);

/** Words that change only where they differ: live regions speak what is set. @param {Element} element @param {string} words */
export function say(element, words) {
  if (element.textContent !== words) element.textContent = words;
}

/** @param {HTMLElement} element @param {Failure | null} error @param {string} [otherWords] Better ones here. */
export function fail(element, error, otherWords) {
  element.hidden = !error;
  const { words, code } = error ? { ...inWords(error), ...(otherWords && { words: otherWords }) } : { words: "", code: "" };
  if (element.dataset.shown === words + code) return;
  element.dataset.shown = words + code;
  element.replaceChildren(...(error ? [words, " ", Object.assign(document.createElement("code"), { textContent: code })] : []));
}

/** @param {string} tag @param {Record<string, any>} properties @param {(Node | string)[]} children */
export function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** Which card this is. @param {State["prompts"]} prompts @param {number} index */
export const place = (prompts, index) => (prompts[index].id === CONSENT.id ? t("read.consent") : t("read.position", { n: index, count: prompts.length - 1 }));
