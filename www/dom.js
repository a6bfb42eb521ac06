// The elements of index.html, and what several of its parts show.

import * as dom from "./shared/dom.js";
import { CONSENT, isOwn } from "./state.js";
import { describeError, t } from "./strings.js";

/** @import { Elements } from "./elements.js" */
/** @import { Failure, State } from "./state.js" */

/** An element of the page. @template {keyof Elements} Id @param {Id} id */
export const $ = (id) => /** @type {Elements[Id]} */ (document.getElementById(id));

/** Shows how a voice is made to those who have come back with one, and see only their text and their voices. */
export const showMaking = () => void (document.body.dataset.making = "");

/** Shows an error, or hides the element where there is none. @param {HTMLElement} element @param {Failure | null} error @param {string} [otherText] In place of the text of its code. */
export function showError(element, error, otherText) {
  const described = error && describeError(error);
  dom.showError(element, described && { ...described, text: otherText || described.text });
}

/** @typedef {{ h3: HTMLElement, ".name": HTMLElement, ".what": HTMLElement, ".wave": HTMLElement, ".words": HTMLElement, ".reading": HTMLElement,
 *   ".say": HTMLButtonElement, ".play": HTMLButtonElement, ".download": HTMLAnchorElement, ".opus": HTMLButtonElement, ".share": HTMLButtonElement }} VoiceCard */
/** A part of a voice's card, by its selector. @template {keyof VoiceCard} Part @param {"base" | "mine"} which @param {Part} part */
export const cardPart = (which, part) => /** @type {VoiceCard[Part]} */ ($(which).querySelector(part));

/** The name of a card. @param {State["prompts"]} prompts @param {number} index */
export function promptName(prompts, index) {
  if (prompts[index].id === CONSENT.id) return t("read.consent");
  const own = prompts.filter(isOwn).length;
  return isOwn(prompts[index]) ? t("read.own") : t("read.position", { n: index - own, count: prompts.length - 1 - own });
}
