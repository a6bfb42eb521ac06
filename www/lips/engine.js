// The worker of the page of lips, and its start.

import { describe } from "../js/errors.js";
import { Remote } from "../js/rpc.js";
import { startWorker } from "../js/start.js";
import { number } from "../strings.js";
import { update } from "./state.js";

/** @import { CallOptions } from "../js/rpc.js" */

const MODEL = new URL("models/lips/", location.href).href;
const PROGRAM = new URL("pkg/ownvoice_web_lips_bg.wasm.gz", import.meta.url).href;
const MB = 1e6;

/** @type {Remote} */
let worker;

/** @param {any} progress */
function onLoading({ status, what, loadedBytes, totalBytes }) {
  if (status === "starting") return update({ loading: { key: "load.starting", values: {} }, loaded: null });
  const mb = number(loadedBytes / MB, 1);
  if (what === "program") return update({ loading: { key: "load.program", values: { mb } }, loaded: null });
  update({ loading: { key: "load.base", values: { mb, total: number(totalBytes / MB, 1) } }, loaded: loadedBytes / totalBytes });
}

export async function start() {
  try {
    worker = new Remote(startWorker(new URL("./worker.js", import.meta.url).href).worker);
    const loaded = await worker.call("load", { base: MODEL, wasmUrl: PROGRAM }, { onProgress: onLoading });
    update({ load: { status: "ready" }, ...loaded });
    worker.ended.then((error) => update({ load: { status: "failed", error: describe(error) } }));
  } catch (error) {
    update({ load: { status: "failed", error: describe(error) } });
  }
}

/** @param {string} method @param {unknown} args @param {CallOptions} [options] @returns {Promise<any>} */
export const call = (method, args, options) => worker.call(method, args, options);
