// Opens the studio before the page's other scripts have arrived: they and the engine are on their way at the same time.

import { OwnvoiceError, load } from "./js/index.js";
import { STORAGE } from "./state.js";

/** @import { LoadProgress, Studio } from "./js/index.js" */

/** A worker obeys the policy of its own response, which many hosts do not send; one that is imported by a script of the page's own inherits the page's policy. */
const workerUrl = URL.createObjectURL(new Blob([`import ${JSON.stringify(new URL("js/worker.js", document.baseURI))};`], { type: "text/javascript" }));

/** The base of the page's address, which anybody can write: a folder of this host only. @param {string} asked */
function baseUrl(asked) {
  const url = new URL(asked, document.baseURI);
  if (url.origin !== location.origin) throw new OwnvoiceError("base-elsewhere", `${url.host} is another host`);
  return url;
}

/** @typedef {(progress: LoadProgress) => void} Listener */

/** @type {LoadProgress[]} */
const unheard = [];
/** @type {Listener} */
let onProgress = (progress) => unheard.push(progress);

/** Calls `listener` with the progress so far and with what follows. @param {Listener} listener */
export function onOpening(listener) {
  onProgress = listener;
  unheard.splice(0).forEach(listener);
}

/** Ends it. */
export const stopping = new AbortController();

/** @returns {Promise<Studio>} */
async function open() {
  const asked = new URLSearchParams(location.search);
  const device = /** @type {"auto" | "webgpu" | "cpu"} */ (asked.get("device") ?? "auto");
  const base = baseUrl(asked.get("base") ?? "models/base/");
  const { signal } = stopping;
  return load({ base, device, prompts: "models/prompts.json", microphone: true, storage: STORAGE, workerUrl, onProgress: (progress) => onProgress(progress), signal });
}

export const opened = open();
opened.catch(() => {}); // engine.js shows it
