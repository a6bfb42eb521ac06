// Starts the worker, from this host or another.

import { OwnvoiceError } from "./errors.js";

/**
 * Returns the address of a script of the page's own that imports the worker: browsers start workers from the page's own host only. Such a worker inherits the
 * page's Content-Security-Policy, whatever headers its host sends.
 * @param {string} url
 */
export function blobThatImports(url) {
  return URL.createObjectURL(new Blob([`import ${JSON.stringify(url)};`], { type: "text/javascript" }));
}

/** Whether a script is on another host. Bundlers may leave a file: address in place of `import.meta.url`. @param {string} url */
const isOnOtherHost = (url) => /^https?:/.test(url) && new URL(url).origin !== location.origin;

/**
 * Starts a worker; fails with `worker-unavailable` where the browser refuses.
 * @param {string} [url] Address of the worker's script; by default the one beside this module.
 * @returns {{ worker: Worker, started: () => void }} Call `started` once the worker has answered and has started its helpers.
 */
export function startWorker(url) {
  const here = import.meta.url;
  try {
    if (isOnOtherHost(url ?? here)) {
      const blob = blobThatImports(url ?? new URL("worker.js", here).href);
      return { worker: new Worker(blob, { type: "module" }), started: () => URL.revokeObjectURL(blob) };
    }
    // Bundlers look for exactly the second of these expressions.
    const worker = url ? new Worker(url, { type: "module" }) : new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    return { worker, started() {} };
  } catch (error) {
    throw new OwnvoiceError("worker-unavailable", `the worker could not be started: ${/** @type {Error} */ (error).message}`);
  }
}
