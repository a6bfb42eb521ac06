// The words of the page of lips, in the language that is chosen for both pages.

import { language, number } from "../strings.js";
import { de } from "./strings/de.js";
import { en } from "./strings/en.js";

/** @typedef {keyof typeof en} Key */

const STRINGS = { en, de };

/** @param {Key} key @param {{ [name: string]: string | number }} [values] */
export function t(key, values = {}) {
  return STRINGS[language][key].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

/** An error in words, with its code for those who report it. @param {{ code?: unknown, message: string, found?: number }} error */
export function inWords({ code, message, found = 0 }) {
  const key = /** @type {Key} */ (`error.${code}`);
  const words = key in en ? t(key, { found: number(found, 1) }) : `${t("error.other")} ${message}`;
  return { words, code: typeof code === "string" ? code : "internal" };
}
