// The elements of nets.html, and errors in its words.

import * as dom from "../shared/dom.js";
import { describeError } from "./strings.js";

/** @import { Elements } from "./elements.js" */
/** @import { Failure } from "./state.js" */

/** An element of the page. @template {keyof Elements} Id @param {Id} id */
export const $ = (id) => /** @type {Elements[Id]} */ (document.getElementById(id));

/** @param {Failure} error */
export const errorNodes = (error) => dom.errorNodes(describeError(error));

/** Shows an error, or hides the element where there is none. @param {HTMLElement} element @param {Failure | null} error */
export const showError = (element, error) => dom.showError(element, error && describeError(error));
