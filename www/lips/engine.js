// Starts the worker of the page of lips, and calls it.

import { describe } from "../js/errors.js";
import { Remote } from "../js/rpc.js";
import { startWorker } from "../js/start.js";
import { loadingProgress, workerUnderPolicy } from "../shared/page.js";
import { activity } from "./activities.js";
import { update } from "./state.js";

/** @import { LipMethods } from "./worker.js" */

const MODEL = new URL("models/lips/", document.baseURI).href;
const PROGRAM = new URL("pkg/ownvoice_web_lips_bg.wasm.gz", import.meta.url).href;

/** @type {Remote<LipMethods>} */
let worker;

/** Resolves when the page is ready, or shows why it could not start. */
export const start = () =>
  activity.perform("loading", async (task) => {
    const showProgress = loadingProgress();
    try {
      worker = new Remote(startWorker(workerUnderPolicy("lips/worker.js")).worker);
      const onProgress = (/** @type {any} */ progress) => update({ loading: showProgress(progress) });
      update(await worker.call("load", { base: MODEL, wasmUrl: PROGRAM }, { onProgress }));
      worker.ended.then(fail);
    } catch (error) {
      update({ loadError: describe(error) });
      task.to("failed");
    }
  });

/** The worker cannot be replaced: what it holds is lost. @param {unknown} error */
function fail(error) {
  update({ loadError: describe(error) });
  activity.begin("failed");
}

/** Calls a method of the worker. @type {Remote<LipMethods>["call"]} */
export const call = (...args) => worker.call(...args);
