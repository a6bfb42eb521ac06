// Storage space: a full disk, the request for persistent storage, and deletion.

import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { chooseFiles, inOrder, learned, openStep, ready, record, speak, storedFiles, visit } from "./steps.mjs";

/** @import { Session } from "./harness.mjs" */

const MINUTE = 60_000;

/** Limits the storage of the page to a number of bytes. @param {Session} session @param {number} quotaSize */
async function quota(session, quotaSize) {
  const devtools = await session.context.newCDPSession(session.page);
  await devtools.send("Storage.overrideQuotaForOrigin", { origin: new URL(session.url).origin, quotaSize });
}

test("a full disk is reported, and the training continues without storage", { timeout: 3 * MINUTE }, async (t) => {
  const { path: microphone, parts } = inOrder(1);
  const session = await visit({ device: "cpu", tiny: true, microphone });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await quota(session, 1);
  await page.click("#record-button");
  await page.waitForSelector("#record-button[aria-pressed=true]");
  await page.waitForTimeout(parts[0].end * 1000);
  await page.click("#record-button");
  await page.waitForSelector("#clip-words code", { state: "attached" });
  assert.match((await page.textContent("#clip-words")) ?? "", /no space left.*storage-full/);
  await page.waitForSelector("#prompt-list [data-state=good]", { state: "attached" }); // the recording can be used all the same
  await openStep(session.page, "#record");
  await session.screenshot("disk-full", "#record");

  await chooseFiles(page, 4);
  await page.click("#train-start");
  await page.waitForSelector("#train-unkept:not([hidden])");
  assert.match((await page.textContent("#train-unkept")) ?? "", /disk has no space.*storage-full/);
  await learned(page);
  await speak(page, "mine");
  await page.waitForSelector("#said-error:not([hidden])");
  assert.match((await page.textContent("#said-error")) ?? "", /no space left.*storage-full/);
  session.assertQuiet();
});

test("persistent storage is requested once there are data, and everything can be deleted", { timeout: 3 * MINUTE }, async (t) => {
  const profile = mkdtempSync(join(tmpdir(), "ownvoice-profile-"));
  const { path: microphone, parts } = inOrder(1);
  const prepare = (/** @type {Session} */ { page }) =>
    page.addInitScript(() => {
      const asked = (/** @type {any} */ (globalThis).asked = /** @type {string[]} */ ([]));
      StorageManager.prototype.persist = async () => {
        asked.push(document.querySelector("#prompt-position")?.textContent ?? "");
        return true;
      };
      StorageManager.prototype.persisted = async () => asked.length > 0;
    });
  // The service worker caches only files that match the list, so that the tiny base cannot be used.
  const session = await visit({ device: "cpu", microphone, profile, serviceWorker: true, prepare });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await page.waitForSelector("#offline-words:not([hidden])", { timeout: MINUTE });
  await page.click("#languages [lang=de]");
  await page.click("#languages [lang=en]");
  assert.deepEqual(await page.evaluate("asked"), []);
  await record(page, parts);
  assert.deepEqual(await page.evaluate("asked"), ["Your consent"], "once, after the first recording");
  assert.match((await page.textContent("#kept-words")) ?? "", /recordings of 2 sentences, \d\.\d MB/);
  await page.waitForFunction(() => /promised to keep it/.test(document.querySelector("#kept-promise")?.textContent ?? ""));
  assert.match((await page.textContent("#kept-total")) ?? "", /the base voice, \d+\.\d MB/);
  await session.screenshot("kept", "footer");
  await chooseFiles(page, 2);
  await page.click("#train-start");
  await page.click("#train-stop", { timeout: MINUTE });
  await learned(page);
  const before = await storedFiles(session);
  const kinds = new Set(Object.keys(before).map((path) => path.replace(/\.\d+$/, "").replace(/[0-9a-f]{16,}$/, "ID")));
  const recordings = ["consent", "file%3Ap01.wav", "file%3Ap02.wav", "p01"].map((name) => `recordings/${name}`);
  const voices = ["bases/ID", "kept/file-ID", "kept/last", "kept/sound-ID", "kept/voice-ID", "run/voice"];
  assert.deepEqual([...kinds].sort(), [...voices, ...recordings].map((path) => `ownvoice/${path}`).sort());

  page.once("dialog", (dialog) => dialog.accept());
  await page.click("#delete-all");
  await page.waitForFunction(() => /until you delete them/.test(document.querySelector("#kept-words")?.textContent ?? ""));
  assert.deepEqual(await storedFiles(session), {});
  const left = await page.evaluate(async () => ({ caches: await caches.keys(), workers: (await navigator.serviceWorker.getRegistrations()).length, words: { ...localStorage } }));
  assert.deepEqual(left, { caches: [], workers: 0, words: {} });
});
