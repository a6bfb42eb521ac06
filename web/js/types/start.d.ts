/** Browsers start workers from the page's own host only: one from elsewhere is imported by a script of the page's own. Such a worker also inherits the page's
 * Content-Security-Policy, whatever headers its host sends. @param {string} url */
export declare function blobThatImports(url: string): string;
/**
 * Fails with `worker-unavailable` where the browser refuses.
 * @param {string} [url] Of the worker's script; without it, the one beside this module.
 * @returns {{ worker: Worker, started: () => void }} `started` is to be called when the worker has answered, and has started its own.
 */
export declare function startWorker(url?: string): {
    worker: Worker;
    started: () => void;
};
