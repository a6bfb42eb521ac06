// The strings of nets.html in the language that is chosen for all pages.

import { translator } from "../shared/language.js";
import { de } from "./strings/de.js";
import { en } from "./strings/en.js";

/** @typedef {keyof typeof en} Key */

export const { t, describeError } = translator({ en, de });
