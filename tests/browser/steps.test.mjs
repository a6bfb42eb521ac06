// One task at a time: one step is shown, each fits a phone, and a visitor can go back, by the keyboard too.

import assert from "node:assert/strict";
import { test } from "node:test";
import { clean } from "./axe.mjs";
import { chooseFiles, inOrder, learned, ready, record, visit } from "./steps.mjs";

/** @import { Page } from "playwright-core" */

const MINUTE = 60_000;
const SMALL = { width: 390, height: 700 };

/** The steps that are shown. @param {Page} page */
const shown = (page) => page.$$eval(".step", (steps) => steps.filter((step) => step.checkVisibility()).map(({ id }) => id));

/** Whether all of an element is on the screen without scrolling from the top. @param {Page} page @param {string} selector */
const fits = (page, selector) =>
  page.$eval(selector, (element) => {
    scrollTo(0, 0);
    const { top, bottom, left, right, height } = element.getBoundingClientRect();
    return height > 0 && top >= 0 && bottom <= innerHeight && left >= 0 && right <= innerWidth;
  });

const focused = (/** @type {Page} */ page) => page.evaluate(() => document.activeElement?.id);

for (const locale of ["en-US", "de-DE"]) {
  test(`each step alone, with its next thing on a small phone: ${locale}`, { timeout: 4 * MINUTE }, async (t) => {
    const { path: microphone, parts } = inOrder(1);
    const session = await visit({ device: "cpu", tiny: true, viewport: SMALL, locale, microphone });
    t.after(() => session.close());
    const { page } = session;
    await ready(session);
    const words = async () => (await page.textContent("#way-words"))?.match(/\d/g)?.join(" ");
    assert.deepEqual([await shown(page), await words()], [["agree"], "1 4"]);
    for (const part of ["#way", "#prompt-text", "#record-button"]) assert.ok(await fits(page, part), `${part}, before the consent`);

    // While a sentence is recorded nothing leads away from it.
    await page.click("#record-button");
    await page.waitForSelector("#record-button[aria-pressed=true]");
    assert.equal(await page.locator("#way button:enabled").count(), 0);
    await page.waitForFunction((end) => /** @type {any} */ (window).microphoneSeconds >= end, parts[0].end, { polling: 20, timeout: MINUTE });
    await page.click("#record-button");
    await page.waitForSelector("#clip-words[data-state=good]");
    for (const part of ["#prompt-text", "#next", "#clip-words"]) assert.ok(await fits(page, part), `${part}, after the consent`);
    await page.click("#next");
    assert.deepEqual([await shown(page), await words()], [["read"], "2 4"]);
    assert.equal(await page.getAttribute("#way [data-step=agree]", "data-done"), "", "that step is done");
    for (const part of ["#prompt-text", "#record-button"]) assert.ok(await fits(page, part), `${part}, of a sentence`);

    // A way back, and the title of each step is read first. Where the microphone cannot be turned off, it is off.
    await page.click("#way [data-step=agree]");
    assert.deepEqual([await shown(page), await focused(page)], [["agree"], "agree-title"]);
    await page.click("#way [data-step=read]");
    assert.deepEqual([await shown(page), await focused(page)], [["read"], "read-title"]);
    assert.equal(await page.isVisible("#close-microphone"), true);
    await page.click("#way [data-step=train]");
    assert.deepEqual([await shown(page), await focused(page)], [["train"], "train-title"]);
    await page.click("#way [data-step=read]");
    assert.equal(await page.isHidden("#close-microphone"), true);

    await chooseFiles(page, 2);
    assert.ok(await fits(page, "#files-agreed"), "the consent for files");
    await page.click("#files-open");
    assert.deepEqual(await shown(page), ["read"]);
    await page.click("#files-learn");
    assert.deepEqual([await shown(page), await focused(page)], [["train"], "train-title"]);
    await page.waitForSelector("#train-pause:not([hidden])");
    for (const part of ["#train-words", "#train-bar", "#train-pause"]) assert.ok(await fits(page, part), `${part}, while it learns`);
    if (locale === "en-US") await learned(page);
    await page.waitForSelector("#mine .say:enabled");
    await page.waitForFunction(() => document.body.dataset.step === "talk");
    assert.deepEqual([await shown(page), await words(), await focused(page)], [["talk"], "4 4", "speak-title"]);
    for (const part of ["#text", "#mine .say"]) assert.ok(await fits(page, part), `${part}, with the voice`);
    assert.equal(await page.isVisible("#both"), true, "before and after with one control");
    await clean(session, "the voice");

    // The keyboard of a phone takes half of the screen.
    await page.focus("#text");
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    await page.setViewportSize({ ...SMALL, height: 330 });
    await page.waitForFunction(() => { const box = document.querySelector("#text")?.getBoundingClientRect(); return box && box.top >= 0 && box.bottom <= innerHeight; }, null, { timeout: 5000 });
    session.assertQuiet();
  });
}

test("an unfinished visit goes on where it was", { timeout: 3 * MINUTE }, async (t) => {
  const { path: microphone, parts } = inOrder(1);
  const session = await visit({ device: "cpu", tiny: true, microphone });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await record(page, parts.slice(0, 1));
  await page.waitForTimeout(300); // it is being stored
  await page.reload();
  await ready(session);
  assert.deepEqual(await shown(page), ["read"]);
  assert.match((await page.textContent("#prompt-position")) ?? "", /^Sentence 1 /);
  assert.equal(await page.isVisible("#card"), true);
  session.assertQuiet();
});
