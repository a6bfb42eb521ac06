// What the page of lips uses to draw.

import { inWords } from "./words.js";

/** @import { Elements } from "./elements.js" */
/** @typedef {{ code?: string, message: string, found?: number }} Failure */

/** An element of the page. @template {keyof Elements} Id @param {Id} id */
export const $ = (id) => /** @type {Elements[Id]} */ (document.getElementById(id));

/** @param {Failure} error @returns {(Node | string)[]} Its words and its code. */
export function told(error) {
  const { words, code } = inWords(error);
  return [words, " ", Object.assign(document.createElement("code"), { textContent: code })];
}

/** @param {HTMLElement} element @param {Failure | null} error */
export function fail(element, error) {
  element.hidden = !error;
  const words = error ? told(error) : [];
  const text = words.map((part) => (typeof part === "string" ? part : part.textContent)).join("");
  if (element.textContent !== text) element.replaceChildren(...words);
}
