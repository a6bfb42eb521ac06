// The words of the page of lips, in the language that is chosen for both pages.

import { speaking } from "../strings.js";
import { de } from "./strings/de.js";
import { en } from "./strings/en.js";

/** @typedef {keyof typeof en} Key */

export const { t, inWords } = speaking({ en, de });
