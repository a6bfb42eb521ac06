// How both pages start their worker, and what they show meanwhile.

import { blobThatImports } from "../js/start.js";
import { formatNumber } from "./language.js";

/** @import { LoadProgress } from "../js/index.js" */

/** What is shown while a page loads: a string with its values, and the part that is done, null while it is unknown.
 * @typedef {{ key: "load.program" | "load.base" | "load.starting", values: { [name: string]: string }, part: number | null }} Loading */

/**
 * The address of a script that imports the worker. A worker obeys the policy of its own response, which many hosts do not send; a worker that a script of the
 * page imports inherits the policy of the page.
 * @param {string | URL} url
 */
export const workerUnderPolicy = (url) => blobThatImports(new URL(url, document.baseURI).href);

/** Returns a function that turns the progress of a load into what is shown. @returns {(progress: LoadProgress) => Loading} */
export function loadingProgress() {
  // Program and base are fetched at the same time; the size of the program is known only at its end.
  const base = { loaded: 0, total: 0 };
  let program = 0;
  const mb = (/** @type {number} */ bytes) => formatNumber(bytes / 1e6, 1);
  return /** @returns {Loading} */ (progress) => {
    if (progress.status === "starting") return { key: "load.starting", values: {}, part: null };
    if (progress.what === "program") program = progress.loadedBytes;
    else Object.assign(base, { loaded: progress.loadedBytes, total: progress.totalBytes });
    if (base.loaded < base.total) return { key: "load.base", values: { mb: mb(base.loaded), total: mb(base.total) }, part: base.loaded / base.total };
    return { key: "load.program", values: { mb: mb(program) }, part: null };
  };
}
