// Learning seen from outside: pauses are not counted, another tab shows the result, and what is resumed is compared with its own recordings.

import assert from "node:assert/strict";
import { test } from "node:test";
import { SENTENCES, chooseFiles, learned, openSteps, ready, run, sound, visit } from "./steps.mjs";

/** @import { Page } from "playwright-core" */

const MINUTE = 60_000;

/** Pauses at an iteration, by a script: the tiny base learns faster than Playwright moves a pointer. @param {Page} page @param {number} iteration */
async function pauseAt(page, iteration) {
  await page.evaluate((iteration) => {
    const words = /** @type {Element} */ (document.querySelector("#train-iteration"));
    const observer = new MutationObserver(() => {
      if (!(Number(words.textContent?.match(/^Iteration (\d+)/)?.[1]) >= iteration)) return;
      observer.disconnect();
      /** @type {HTMLElement} */ (document.querySelector("#train-pause")).click();
    });
    observer.observe(words, { childList: true, characterData: true, subtree: true });
  }, iteration);
  await page.click("#train-start");
  await page.waitForFunction(() => /^Paused/.test(document.querySelector("#train-words")?.textContent ?? ""), null, { timeout: MINUTE });
}

test("a pause counts neither in the time left nor in the time that it took", { timeout: 3 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await chooseFiles(page, 2);
  await pauseAt(page, 10);
  assert.equal(await page.textContent("#train-left"), "", "it stands still");
  // All that stands there from now on.
  await page.evaluate(() => {
    const left = /** @type {Element} */ (document.querySelector("#train-left"));
    const said = (/** @type {any} */ (globalThis).left = /** @type {string[]} */ ([]));
    new MutationObserver(() => left.textContent && said.push(left.textContent)).observe(left, { childList: true, characterData: true, subtree: true });
  });
  const PAUSE_SECONDS = 20;
  await page.waitForTimeout(1000 * PAUSE_SECONDS);
  await page.click("#train-pause");
  await learned(page);
  const seconds = (/** @type {string} */ words) => Number(words.match(/(\d+):(\d\d)/)?.[1]) * 60 + Number(words.match(/(\d+):(\d\d)/)?.[2]);
  const left = /** @type {string[]} */ (await page.evaluate("left"));
  const took = (await page.textContent("#train-words")) ?? "";
  t.diagnostic(`${took} Left after the pause: ${[...new Set(left)].join(", ")}`);
  assert.ok(left.length > 0 && left.every((words) => seconds(words) < PAUSE_SECONDS), left.join());
  assert.ok(seconds(took) < PAUSE_SECONDS, took);
  session.assertQuiet();
});

test("a tab in which another one learns shows the voice once that is done", { timeout: 3 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  const other = await session.context.newPage();
  await other.goto(session.url);
  openSteps(other);
  await ready({ page: other });
  await chooseFiles(page, 2);
  await pauseAt(page, 2);
  await chooseFiles(other, 2);
  await other.click("#train-start");
  await other.waitForSelector("#train-error:not([hidden])");
  assert.equal(await other.isDisabled("#mine .say"), true);
  await page.click("#train-pause");
  await learned(page);
  await other.waitForFunction(() => document.querySelector("#train-words")?.textContent === "A saved voice is open.", null, { timeout: MINUTE });
  assert.equal(await other.isHidden("#train-error"), true, "it no longer waits");
  assert.equal(await other.isDisabled("#mine .say"), false);
  assert.equal(await other.locator("#voices li").count(), 1);
  session.assertQuiet();
});

test("a resumed training is compared with the recordings that it was begun with", { timeout: 3 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await chooseFiles(page, 3);
  await pauseAt(page, 27);
  page.on("dialog", (dialog) => dialog.accept());
  await page.reload();
  await ready(session);
  assert.match((await page.textContent("#train-resume")) ?? "", /^Continue learning from \d+ %/);
  for (const left of [2, 1, 0]) {
    await page.focus("#file-list [data-remove]");
    await page.keyboard.press("Enter");
    await page.waitForFunction((left) => document.querySelectorAll("#file-list li").length === left, left);
    assert.equal(await page.evaluate((left) => document.activeElement?.matches(left ? "[data-remove]" : "#file-input"), left), true, "the focus goes to the next row, or to the field");
  }
  await page.click("#train-resume");
  await learned(page);
  // Of one recording or none it would say that it cannot be measured.
  await page.waitForSelector("#likeness-bars:not([hidden])", { timeout: MINUTE });
  session.assertQuiet();
});

test("a minute of reading leads from the card to learning", { timeout: 4 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true, path: "icon.svg", viewport: { width: 390, height: 700 } });
  t.after(() => session.close());
  const { page } = session;
  // As an earlier visit has stored it.
  const cards = [{ id: "consent", text: "This is my own voice, and I agree that this page learns to speak with it.", which: /** @type {number | "consent"} */ ("consent") }];
  SENTENCES.forEach(({ id, text }, which) => cards.push({ id, text, which }));
  for (const at of [1, 2, 3, 4]) cards.push({ ...cards[at], id: `own-${at}` });
  const clips = cards.map(({ which, ...card }) => ({ ...card, samples: sound(which).toString("base64") }));
  await run(
    session,
    `const { load } = await import(new URL("js/index.js", location.href).href);
    const studio = await load({ base: "models/base", device: "cpu", storage: "ownvoice" });
    for (const { id, text, samples } of input) {
      const bytes = Uint8Array.from(atob(samples), (letter) => letter.charCodeAt(0));
      await studio.storage.put({ id, text, samples: Float32Array.from(new Int16Array(bytes.buffer), (x) => x / 32768), sampleRate: 16000 });
    }
    studio.close();`,
    clips,
  );
  await session.goto();
  await ready(session);
  assert.match((await page.textContent("#total-words")) ?? "", /That is enough/);
  const isFilled = (/** @type {string} */ selector) => page.$eval(selector, (button) => getComputedStyle(button).backgroundColor !== "rgba(0, 0, 0, 0)");
  assert.deepEqual([await isFilled("#learn"), await isFilled("#next"), await isFilled("#record-button")], [true, false, false], "one primary button");
  await session.screenshot("enough");
  await page.focus("#learn");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement?.id === "train-title" && scrollY === 0 && Number(document.querySelector("#train-title")?.getBoundingClientRect().top) < 250, null, { timeout: MINUTE });
  await learned(page);
  assert.equal(await page.isHidden("#learn"), true);
  assert.equal(await page.evaluate(() => document.activeElement?.matches("#speak-title")), true, "the focus follows");
  session.assertQuiet([/404/]); // a picture asks for a favicon
});
