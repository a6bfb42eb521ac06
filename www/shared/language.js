// The visitor's language: that of the browser, or the one chosen on the page. English is complete, and every other language is checked against it.

/** @import { DescribedError } from "./dom.js" */
/** @typedef {keyof typeof LANGUAGES} Language */

export const LANGUAGES = { en: "English", de: "Deutsch" };

/** Key of the choice in the browser's storage. */
const CHOICE = "ownvoice-language";

/** @param {string | null | undefined} tag @returns {Language | undefined} */
const languageOf = (tag) => /** @type {Language[]} */ (Object.keys(LANGUAGES)).find((language) => tag?.toLowerCase().startsWith(language));

/** @returns {string | null} */
function storedChoice() {
  try {
    return localStorage.getItem(CHOICE);
  } catch {
    return null; // this browser stores nothing
  }
}

/** @type {Language} */
export let language = languageOf(storedChoice()) ?? navigator.languages.map(languageOf).find(Boolean) ?? "en";

/** @param {Language} chosen */
export function chooseLanguage(chosen) {
  language = chosen;
  try {
    localStorage.setItem(CHOICE, chosen);
  } catch {
    // the choice lasts as long as the page
  }
}

export function forgetLanguage() {
  try {
    localStorage.removeItem(CHOICE);
  } catch {
    // nothing was stored
  }
}

/** The end of the key of a text about what is more than it should be, or less. @param {number} [found] */
export const signOf = (found = 0) => /** @type {const} */ (["", ".more", ".less"]).at(Math.sign(found)) ?? "";

/** What a page says, from its strings in all languages. @template {string} Key @param {{ [tag in Language]: { [key in Key | "error.other"]: string } }} strings */
export function translator(strings) {
  /** A text for one thing has the key of that for several, with `.one`. @param {Key | "error.other"} key @param {{ [name: string]: string | number }} [values] */
  const t = (key, values = {}) => (values.count === 1 && strings[language][/** @type {Key} */ (`${key}.one`)] || strings[language][key]).replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
  /** What was found to be too much or too little can have a text of its own, with `.more` or `.less`.
   * @param {{ code?: unknown, message: string, found?: number }} error @returns {DescribedError} */
  const describeError = ({ code, message, found = 0 }) => {
    const signed = `error.${code}${signOf(found)}`;
    const key = /** @type {Key} */ (signed in strings.en ? signed : `error.${code}`);
    const text = key in strings.en ? t(key, { found: formatNumber(found, 1), message }) : `${t("error.other")} ${message}`;
    return { text, code: typeof code === "string" ? code : "internal" };
  };
  return { t, describeError };
}

/** @param {number} value @param {number} digits After the decimal point. */
export const formatNumber = (value, digits) => value.toLocaleString(language, { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** Minutes and seconds. @param {number} seconds */
export function formatTime(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
