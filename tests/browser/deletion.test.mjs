// Deletion at any moment: while the page learns, while it loads, where it cannot load, from another tab; and an error where something cannot be deleted.

import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseFiles, heardTo, inOrder, learnBriefly, openSteps, ready, storedFiles, trained, visit } from "./steps.mjs";

/** @import { Session } from "./harness.mjs" */
/** @import { Page } from "playwright-core" */

const MINUTE = 60_000;

/** Begins a visit that ends with its test; without a `path`, waits until the page is ready. @param {import("node:test").TestContext} t @param {Parameters<typeof visit>[0]} [options] */
async function open(t, options = {}) {
  const session = await visit({ device: "cpu", tiny: true, ...options });
  t.after(() => session.close());
  if (!options.path) await ready(session);
  return session;
}

/** @param {Page} page */
const clickDelete = async (page) => {
  page.once("dialog", (dialog) => dialog.accept());
  await page.click("#delete-all");
};

/** @param {Page} page @param {number} [timeout] */
const deleted = (page, timeout = 30_000) => page.waitForFunction(() => document.querySelector("#deletion-words")?.textContent === "Everything has been deleted.", null, { timeout });

/** @param {Session} session @param {number} [timeout] */
async function deleteAll(session, timeout) {
  await clickDelete(session.page);
  await deleted(session.page, timeout);
  assert.deepEqual(await storedFiles(session), {});
}

/** Puts a file among the stored recordings. @param {Page} page */
const storeSomething = (page) =>
  page.evaluate(async () => {
    const top = await (await navigator.storage.getDirectory()).getDirectoryHandle("ownvoice", { create: true });
    const file = await (await (await top.getDirectoryHandle("recordings", { create: true })).getFileHandle("p01.1", { create: true })).createWritable();
    await file.write(new Uint8Array(2_000_000));
    await file.close();
  });

test("while the page learns: the training ends, and nothing is written again", { timeout: 4 * MINUTE }, async (t) => {
  const session = await open(t);
  const { page } = session;
  await chooseFiles(page, 4);
  await page.click("#train-start");
  await trained(page, 30);
  assert.ok(Object.keys(await storedFiles(session)).some((path) => path.includes("run/checkpoint")), "a checkpoint is stored meanwhile");
  await deleteAll(session);
  await page.waitForTimeout(5000); // far more than 25 iterations of this base
  assert.deepEqual(await storedFiles(session), {}, "and nothing comes back");
  assert.equal(await page.evaluate(async () => (await (await navigator.storage.getDirectory()).keys().next()).done), true, "not even an empty folder");
  assert.equal(await page.isHidden("#train-stop"), true);
  assert.equal(await page.isDisabled("#mine .say"), true);

  // The same while the clips are aligned; and another training works.
  await chooseFiles(page, 4);
  await page.click("#train-start");
  await clickDelete(page);
  await deleted(page);
  await page.waitForTimeout(3000);
  assert.deepEqual(await storedFiles(session), {});
  await learnBriefly(page, 2);
  session.assertQuiet();
});

/** Delays the write of a file in the worker, and notifies the page when it begins. @param {string} file @param {number} ms */
const delayWrite = (file, ms) => (/** @type {Session} */ session) => {
  session.page.addInitScript(() => {
    new BroadcastChannel("moment").onmessage = () => (/** @type {any} */ (globalThis).moment = true);
  });
  const slow = `{
    const { createSyncAccessHandle } = FileSystemFileHandle.prototype;
    const moment = new BroadcastChannel("moment");
    FileSystemFileHandle.prototype.createSyncAccessHandle = async function (...args) {
      if (this.name.startsWith("${file}.")) {
        moment.postMessage(this.name);
        await new Promise((resolve) => setTimeout(resolve, ${ms}));
      }
      return createSyncAccessHandle.apply(this, args);
    };
  }
  `;
  session.change("js/worker.js", (body) => Buffer.concat([Buffer.from(slow), body]));
};

for (const [what, file, ms] of /** @type {const} */ ([
  ["while a checkpoint is written", "checkpoint", 2000],
  ["while the finished voice is written", "voice", 2000],
  ["while a write hangs for ever", "checkpoint", 1e9],
])) {
  test(`${what}: nothing of it stays`, { timeout: 4 * MINUTE }, async (t) => {
    const session = await open(t, { prepare: delayWrite(file, ms) });
    const { page } = session;
    await chooseFiles(page, 2);
    await page.click("#train-start");
    if (file === "voice") {
      await trained(page, 3);
      await page.click("#train-stop");
    }
    await page.waitForFunction(() => /** @type {any} */ (globalThis).moment, null, { timeout: MINUTE, polling: 5 });
    await deleteAll(session, MINUTE);
    await page.waitForTimeout(4000); // longer than the write
    assert.deepEqual(await storedFiles(session), {}, "and nothing comes back");
    assert.equal(await page.isDisabled("#mine .say"), true, "nor does the voice");
    session.assertQuiet();
  });
}

test("while the similarity of a voice is about to be stored: nothing of it stays", { timeout: 4 * MINUTE }, async (t) => {
  const prepare = (/** @type {Session} */ session) => {
    session.page.addInitScript(() => {
      let writes = 0;
      const { postMessage } = Worker.prototype;
      Worker.prototype.postMessage = function (/** @type {any[]} */ ...args) {
        // The first write of the voice is without its similarity.
        if (args[0]?.method === "keep" && args[0].args.key.startsWith("voice-")) /** @type {any} */ (globalThis).moment = ++writes === 2;
        return postMessage.apply(this, /** @type {any} */ (args));
      };
    });
    // Each change of the store waits for its turn, in which a deletion comes first.
    const slow = `{
      const { request } = LockManager.prototype;
      LockManager.prototype.request = async function (...args) {
        if (args[0].startsWith("ownvoice-store-") && args[1].mode !== "shared") await new Promise((resolve) => setTimeout(resolve, 1000));
        return request.apply(this, args);
      };
    }
    `;
    session.change("js/worker.js", (body) => Buffer.concat([Buffer.from(slow), body]));
  };
  const session = await open(t, { prepare });
  const { page } = session;
  await chooseFiles(page, 2);
  await page.click("#train-start");
  await trained(page, 3);
  await page.click("#train-stop");
  page.once("dialog", (dialog) => dialog.accept());
  await page.waitForFunction(() => {
    const { moment } = /** @type {any} */ (globalThis);
    if (moment) document.getElementById("delete-all")?.click();
    return moment;
  }, null, { timeout: MINUTE, polling: 5 });
  await deleted(page);
  assert.deepEqual(await storedFiles(session), {});
  await page.waitForTimeout(4000); // longer than the writes
  assert.deepEqual(await storedFiles(session), {}, "and nothing comes back");
  session.assertQuiet();
});

test("while the voice speaks: it stops and is deleted", { timeout: 3 * MINUTE }, async (t) => {
  const session = await open(t);
  const { page } = session;
  await learnBriefly(page, 3);
  await page.fill("#text", "This is one of many sentences, all of them alike. ".repeat(40));
  await page.click("#mine .say");
  await page.waitForFunction(() => document.querySelector("#mine .words")?.textContent === "Speaking", null, { timeout: MINUTE, polling: 5 });
  await deleteAll(session);
  assert.equal(await page.textContent("#mine .words"), "Waiting for your voice.");
  assert.equal(await page.isDisabled("#mine .say"), true);
  assert.equal(await page.isHidden("#mine .download"), true);
  await page.waitForTimeout(2000);
  assert.equal(await page.textContent("#mine .words"), "Waiting for your voice.", "and no sentence follows");
  assert.equal(await page.isHidden("#speak-error"), true);
  session.assertQuiet();
});

test("while the engine restarts: the training does not", { timeout: 4 * MINUTE }, async (t) => {
  let served = 0;
  const prepare = (/** @type {Session} */ session) => {
    session.page.addInitScript(() => {
      const { Worker } = globalThis;
      globalThis.Worker = class extends Worker {
        /** @param {string | URL} url @param {WorkerOptions} [options] */
        constructor(url, options) {
          super(url, options);
          /** @type {any} */ (globalThis).endWorker = () => this.terminate();
        }
      };
    });
    // The next worker waits for its files.
    const slow = "const { fetch } = self; self.fetch = async (...args) => { await new Promise((resolve) => setTimeout(resolve, 3000)); return fetch(...args); };\n";
    session.change("js/worker.js", (body) => (served++ ? Buffer.concat([Buffer.from(slow), body]) : body));
  };
  const session = await open(t, { prepare });
  const { page } = session;
  await chooseFiles(page, 2);
  await page.click("#train-start");
  await trained(page, 30);
  await page.evaluate("endWorker()");
  await page.waitForSelector("#engine[data-state=restarting]", { state: "attached" });
  await deleteAll(session);
  await page.waitForSelector("#engine[data-state=restarted]", { timeout: MINUTE });
  await page.waitForTimeout(3000);
  assert.deepEqual(await storedFiles(session), {});
  assert.equal(await page.isHidden("#train-cancel"), true);
  assert.equal(await page.isHidden("#train-resume"), true);
});

test("where the engine cannot load: deletion needs only the page", { timeout: 2 * MINUTE }, async (t) => {
  const session = await open(t, { path: "icon.svg" });
  const { page } = session;
  await storeSomething(page);
  session.change("models/base/manifest.json", () => Buffer.from("{"));
  await session.goto();
  await page.waitForSelector("body[data-phase=failed]");
  await page.waitForFunction(() => /2\.0 MB of recordings/.test(document.querySelector("#kept-words")?.textContent ?? ""));
  await session.screenshot("failed-with-footer");
  await deleteAll(session);
});

test("after the engine could not be restarted", { timeout: 2 * MINUTE }, async (t) => {
  const prepare = (/** @type {Session} */ { page }) => page.addInitScript(() => {
    const { Worker } = globalThis;
    /** @type {Worker | undefined} */
    let made;
    globalThis.Worker = class extends Worker {
      /** @param {string | URL} url @param {WorkerOptions} [options] */
      constructor(url, options) {
        if (made) throw new DOMException("no more workers", "SecurityError");
        super(url, options);
        made = this;
      }
    };
    /** @type {any} */ (globalThis).endWorker = () => made?.terminate();
  });
  const session = await open(t, { prepare });
  const { page } = session;
  await storeSomething(page);
  await page.evaluate("endWorker()");
  await page.waitForSelector("#engine[data-state=failed]");
  await deleteAll(session);
});

test("while the microphone records: it is closed, and the recording is not stored", { timeout: 2 * MINUTE }, async (t) => {
  const { path: microphone } = inOrder(1);
  const session = await open(t, { microphone });
  const { page } = session;
  await page.click("#record-button");
  await page.waitForSelector("#record-button[aria-pressed=true]");
  await heardTo(page, 2);
  await clickDelete(page);
  await deleted(page);
  await page.waitForSelector("#level", { state: "hidden" });
  assert.equal(await page.getAttribute("#record-button", "aria-pressed"), "false");
  assert.equal(await page.textContent("#clip-words"), "Not recorded yet.");
  assert.deepEqual(await storedFiles(session), {});
  session.assertQuiet();
});

test("while the page loads: the load ends", { timeout: 2 * MINUTE }, async (t) => {
  const session = await open(t, { path: "icon.svg" });
  const { page } = session;
  await storeSomething(page);
  // A server that does not answer.
  session.rewrite("js/leader.js", (text) => text.replace("await chooseDevice(wanted)", "await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))"));
  await session.goto();
  await page.waitForSelector("body[data-phase=loading] #delete-all:not([hidden])");
  await clickDelete(page);
  await page.waitForSelector("body[data-phase=failed]");
  assert.match((await page.textContent("#loading-error")) ?? "", /deleted.*Reload/);
  await deleted(page);
  assert.deepEqual(await storedFiles(session), {});
});

test("a failed deletion is reported", { timeout: 2 * MINUTE }, async (t) => {
  const prepare = (/** @type {Session} */ { page }) =>
    page.addInitScript(() => {
      FileSystemDirectoryHandle.prototype.removeEntry = () => Promise.reject(new DOMException("it is in use", "NoModificationAllowedError"));
    });
  const session = await open(t, { path: "icon.svg", prepare });
  const { page } = session;
  await storeSomething(page);
  await session.goto();
  await ready(session);
  await clickDelete(page);
  await page.waitForSelector("#deletion-error:not([hidden])");
  assert.match((await page.textContent("#deletion-error")) ?? "", /Not everything could be deleted.*it is in use/);
});

test("two tabs: one learns at a time, the other shows an error; deletion in one deletes in both", { timeout: 4 * MINUTE }, async (t) => {
  const session = await open(t);
  const other = await session.context.newPage();
  await other.goto(session.url);
  openSteps(other);
  await ready({ page: other });
  await chooseFiles(session.page, 4);
  await session.page.click("#train-start");
  // Clicked by a script: the training of the tiny base would end before Playwright has moved a pointer.
  await session.page.waitForFunction(() => {
    const pause = /** @type {HTMLElement | null} */ (document.querySelector("#train-pause:not([hidden])"));
    if (!pause?.checkVisibility() || !/^Iteration/.test(document.querySelector("#train-iteration")?.textContent ?? "")) return false;
    pause.click();
    return true;
  }, null, { timeout: MINUTE, polling: 5 });
  await chooseFiles(other, 2);
  await other.click("#train-start");
  await other.waitForSelector("#train-error:not([hidden])");
  assert.match((await other.textContent("#train-error")) ?? "", /Another tab.*is learning.*training-elsewhere/);
  assert.equal(await session.page.isVisible("#train-stop"), true, "the first continues");

  await clickDelete(other);
  await deleted(other);
  await deleted(session.page);
  await session.page.waitForSelector("#train-stop", { state: "hidden" });
  await session.page.waitForTimeout(3000);
  assert.deepEqual(await storedFiles(session), {});
  assert.equal(await session.page.locator("#file-list li").count(), 0);
  session.assertQuiet();
});
