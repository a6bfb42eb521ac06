// Starts the worker of the page of things, and calls it.

import { describe } from "../js/errors.js";
import { Remote } from "../js/rpc.js";
import { startWorker } from "../js/start.js";
import { loadingProgress, workerUnderPolicy } from "../shared/page.js";
import { activity } from "./activities.js";
import { update } from "./state.js";

/** @import { NetMethods, Stored } from "./worker.js" */

const MODEL = new URL("models/nets/", document.baseURI).href;
const PROGRAM = new URL("pkg/ownvoice_web_nets_bg.wasm.gz", import.meta.url).href;

/** @type {Remote<NetMethods>} */
let worker;

/** Returns what was stored, or null where the page could not start, which it then shows. @returns {Promise<Stored | null>} */
export async function start() {
  /** @type {Stored | null} */
  let stored = null;
  await activity.perform("loading", async (task) => {
    const showProgress = loadingProgress();
    try {
      worker = new Remote(startWorker(workerUnderPolicy("nets/worker.js")).worker);
      const onProgress = (/** @type {any} */ progress) => update({ loading: showProgress(progress) });
      stored = await worker.call("load", { base: MODEL, wasmUrl: PROGRAM }, { onProgress });
      worker.ended.then(fail);
    } catch (error) {
      update({ loadError: describe(error) });
      task.to("failed");
    }
  });
  return stored;
}

/** The worker cannot be replaced, but what it has stored is there after a reload. @param {unknown} error */
function fail(error) {
  update({ loadError: describe(error) });
  activity.begin("failed");
}

/** Calls a method of the worker. @type {Remote<NetMethods>["call"]} */
export const call = (...args) => worker.call(...args);
