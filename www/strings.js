// The strings of index.html in the visitor's language.

import { language, translator } from "./shared/language.js";
import { de } from "./strings/de.js";
import { en } from "./strings/en.js";

/** @typedef {keyof typeof en} Key */

export const { t, describeError } = translator({ en, de });

/** What the visitor ticks about the speaker of the files. @param {import("./state.js").FilesConsent} consent */
export const statement = ({ whose, name }) => t(`files.${whose}`, { name: name.trim() });

/** Tags of the languages that `text-language` names. */
const TAGS = /** @type {{ [name: string]: string }} */ ({ Dutch: "nl", French: "fr", German: "de", Italian: "it", Polish: "pl", Portuguese: "pt", Spanish: "es", Swedish: "sv" });

/** @param {import("./js/index.js").TextWarning} warning */
export function describeWarning({ code, detail }) {
  const tag = code === "text-language" && TAGS[detail];
  return t(`speak.${code}`, { detail: (tag && new Intl.DisplayNames(language, { type: "language" }).of(tag)) || detail });
}
