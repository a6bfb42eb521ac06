// What every part of the page uses to draw.

import { CONSENT } from "./state.js";
import { inWords, t } from "./strings.js";

/** @import { Elements } from "./elements.js" */
/** @import { Failure, State } from "./state.js" */

/** An element of the page. @template {keyof Elements} Id @param {Id} id */
export const $ = (id) => /** @type {Elements[Id]} */ (document.getElementById(id));

/** @param {HTMLElement} element @param {Failure | null} error @param {string} [otherWords] In place of those of its code. */
export function fail(element, error, otherWords) {
  element.hidden = !error;
  const { words, code } = error ? { ...inWords(error), ...(otherWords && { words: otherWords }) } : { words: "", code: "" };
  if (element.dataset.shown === words + code) return;
  element.dataset.shown = words + code;
  element.replaceChildren(...(error ? [words, " ", Object.assign(document.createElement("code"), { textContent: code })] : []));
}

/** @template {keyof HTMLElementTagNameMap} Tag @param {Tag} tag @param {Partial<HTMLElementTagNameMap[Tag]>} properties @param {(Node | string)[]} children */
export function element(tag, properties, ...children) {
  const made = document.createElement(tag);
  Object.assign(made, properties);
  made.append(...children);
  return made;
}

/** @typedef {{ h3: HTMLElement, ".name": HTMLElement, ".what": HTMLElement, ".wave": HTMLElement, ".words": HTMLElement, ".say": HTMLButtonElement,
 *   ".play": HTMLButtonElement, ".download": HTMLAnchorElement }} VoiceCard */
/** A part of a voice's card, by its selector. @template {keyof VoiceCard} Part @param {"base" | "mine"} which @param {Part} part */
export const ofCard = (which, part) => /** @type {VoiceCard[Part]} */ ($(which).querySelector(part));

/** The name of a card. @param {State["prompts"]} prompts @param {number} index */
export const place = (prompts, index) => (prompts[index].id === CONSENT.id ? t("read.consent") : t("read.position", { n: index, count: prompts.length - 1 }));
