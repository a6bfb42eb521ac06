// A worker that does nothing but note what it is asked, and the globals that `load` needs of a page.

/** @typedef {{ id: number, method?: string, args?: any, signal?: string }} Message */

/** Replaces the globals, and returns a list of the workers that are started. @param {import("node:test").TestContext} t */
export function fakePage(t) {
  /** @type {FakeWorker[]} */
  const workers = [];
  class FakeWorker {
    /** @type {Message[]} */
    sent = [];
    isTerminated = false;
    /** @type {(event: { data: any }) => void} */
    onmessage = () => {};

    constructor() {
      workers.push(this);
    }

    /** @param {Message} message */
    postMessage(message) {
      this.sent.push(message);
      if (message.method === "load") this.answer({ result: LOADED });
    }

    /** Answers the last call. @param {{ result?: unknown, error?: { code: string, message: string } }} answer */
    answer(answer) {
      const id = this.sent.findLast(({ method }) => method)?.id;
      queueMicrotask(() => this.onmessage({ data: { id, ...answer } }));
    }

    terminate() {
      this.isTerminated = true;
    }
  }
  const globals = { Worker: FakeWorker, document: { baseURI: "https://example.org/app/" }, navigator: {} };
  for (const [name, value] of Object.entries(globals)) {
    const before = Object.getOwnPropertyDescriptor(globalThis, name);
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    t.after(() => (before ? Object.defineProperty(globalThis, name, before) : Reflect.deleteProperty(globalThis, name)));
  }
  return workers;
}

/** What the worker's `load` returns. */
const LOADED = { device: { kind: "cpu" }, hash: "", base: { handle: 1, info: { id: "base" } }, prompts: [], storage: null, storageError: null, cached: true, checkpointIterations: 25 };
