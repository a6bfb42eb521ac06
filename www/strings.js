// The page in the visitor's language: chosen by the browser's, or by the switch. English is complete, and every other language is checked against it.

import { de } from "./strings/de.js";
import { en } from "./strings/en.js";

/** @typedef {keyof typeof en} Key */
/** @typedef {keyof typeof LANGUAGES} Language */

export const LANGUAGES = { en: "English", de: "Deutsch" };

const CHOSEN = "ownvoice-language";

/** @param {string | null | undefined} tag @returns {Language | undefined} */
const known = (tag) => /** @type {Language[]} */ (Object.keys(LANGUAGES)).find((language) => tag?.toLowerCase().startsWith(language));

/** @returns {string | null} */
function chosenBefore() {
  try {
    return localStorage.getItem(CHOSEN);
  } catch {
    return null; // this browser keeps nothing
  }
}

/** @type {Language} */
export let language = known(chosenBefore()) ?? navigator.languages.map(known).find(Boolean) ?? "en";

/** @param {Language} chosen */
export function choose(chosen) {
  language = chosen;
  try {
    localStorage.setItem(CHOSEN, chosen);
  } catch {
    // the choice lasts as long as the page
  }
}

export function forgetLanguage() {
  try {
    localStorage.removeItem(CHOSEN);
  } catch {
    // there was none
  }
}

/** What a page says with its strings. @template {string} Key @param {{ [tag in Language]: { [key in Key | "error.other"]: string } }} strings */
export function speaking(strings) {
  /** @param {Key | "error.other"} key @param {{ [name: string]: string | number }} [values] */
  const t = (key, values = {}) => strings[language][key].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
  /** An error in words, with its code for those who report it. @param {{ code?: unknown, message: string, found?: number }} error */
  const inWords = ({ code, message, found = 0 }) => {
    const key = /** @type {Key} */ (`error.${code}`);
    const words = key in strings.en ? t(key, { found: number(found, 1), message }) : `${t("error.other")} ${message}`;
    return { words, code: typeof code === "string" ? code : "internal" };
  };
  return { t, inWords };
}

export const { t, inWords } = speaking({ en, de });

/** Tags of the languages that `text-language` names. */
const TAGS = /** @type {{ [name: string]: string }} */ ({ Dutch: "nl", French: "fr", German: "de", Italian: "it", Polish: "pl", Portuguese: "pt", Spanish: "es", Swedish: "sv" });

/** @param {import("./js/index.js").TextWarning} warning */
export function warningInWords({ code, detail }) {
  const tag = code === "text-language" && TAGS[detail];
  return t(`speak.${code}`, { detail: (tag && new Intl.DisplayNames(language, { type: "language" }).of(tag)) || detail });
}

/** @param {number} value @param {number} digits After the point. */
export const number = (value, digits) => value.toLocaleString(language, { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** @param {number} seconds */
export function clock(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
