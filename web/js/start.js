// The worker, from wherever its script lies.

import { OwnvoiceError } from "./rpc.js";

/** Browsers start workers from the page's own host only: one from elsewhere is imported by a script of the page's own. Such a worker also inherits the page's
 * Content-Security-Policy, whatever headers its host sends. @param {string} url */
export function blobThatImports(url) {
  return URL.createObjectURL(new Blob([`import ${JSON.stringify(url)};`], { type: "text/javascript" }));
}

/** Whether a worker cannot be started from there as it is. Bundlers may leave the address of a source file, which says nothing. @param {string} url */
const isElsewhere = (url) => /^https?:/.test(url) && new URL(url).origin !== location.origin;

/**
 * Fails with `worker-unavailable` where the browser refuses.
 * @param {string} [url] Of the worker's script; without it, the one beside this module.
 * @returns {{ worker: Worker, started: () => void }} `started` is to be called when the worker has answered, and has started its own.
 */
export function startWorker(url) {
  const beside = import.meta.url;
  try {
    if (isElsewhere(url ?? beside)) {
      const blob = blobThatImports(url ?? new URL("worker.js", beside).href);
      return { worker: new Worker(blob, { type: "module" }), started: () => URL.revokeObjectURL(blob) };
    }
    // Bundlers look for exactly the second of these expressions.
    const worker = url ? new Worker(url, { type: "module" }) : new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    return { worker, started() {} };
  } catch (error) {
    throw new OwnvoiceError("worker-unavailable", `the worker could not be started: ${/** @type {Error} */ (error).message}`);
  }
}
