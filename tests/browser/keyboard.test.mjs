// The whole path without a mouse.

import assert from "node:assert/strict";
import { test } from "node:test";
import { heardTo, inOrder, learned, ready, visit } from "./steps.mjs";

const MINUTE = 60_000;

test("the whole path by keyboard", { timeout: 5 * MINUTE }, async (t) => {
  const { path: microphone, parts } = inOrder(2);
  const session = await visit({ device: "cpu", tiny: true, microphone });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  /** Presses Tab until an element has the focus, at most once around the page. @param {string} selector */
  const tabTo = async (selector) => {
    for (let i = 0; i < 60; i++) {
      if (await page.evaluate((selector) => document.activeElement?.matches(selector), selector)) return;
      await page.keyboard.press("Tab");
    }
    assert.fail(`${selector} cannot be reached by Tab`);
  };
  const focused = () => page.evaluate(() => document.activeElement?.id);
  // A letter is a command on the card only, because speech input types letters anywhere.
  await tabTo("#way [data-step=talk]");
  await page.keyboard.press("Enter");
  assert.equal(await focused(), "speak-title", "the title of the step that was opened");
  await tabTo("#text");
  await page.keyboard.press("Tab");
  await page.keyboard.press("r");
  await tabTo("#way [data-step=agree]");
  await page.keyboard.press("Enter");
  assert.equal(await focused(), "agree-title");
  await tabTo("#languages button");
  await page.keyboard.press("r");
  assert.equal(await page.getAttribute("#record-button", "aria-pressed"), "false");
  assert.equal(await page.isDisabled("#record-button"), false, "nothing is being opened");
  for (const { begin, end } of parts) {
    await tabTo("#record-button");
    await heardTo(page, begin);
    await page.keyboard.press("r");
    await page.waitForSelector("#record-button[aria-pressed=true]");
    assert.equal(await focused(), "record-button", "after Record");
    await heardTo(page, end);
    await page.keyboard.press("r");
    await page.waitForSelector("#clip-words:is([data-state=good], [data-state=bad])");
    assert.match((await page.textContent("#clip-words")) ?? "", /^Good/, (await page.textContent("#prompt-position")) ?? "");
    assert.equal(await focused(), "record-button", "after Stop");
    await page.keyboard.press("ArrowRight");
  }
  await tabTo("#way [data-step=train]");
  await page.keyboard.press("Enter");
  await tabTo("#train-start");
  // The focus is visible.
  assert.notEqual(await page.evaluate(() => getComputedStyle(/** @type {Element} */ (document.activeElement)).outlineStyle), "none");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#train-stop:not([hidden])");
  assert.equal(await focused(), "train-pause", "after Start");
  await tabTo("#train-stop");
  await page.keyboard.press("Enter");
  await learned(page);
  assert.equal(await focused(), "speak-title", "what was learned is heard next");
  await tabTo("#text");
  await page.keyboard.type(" Really.");
  await tabTo("#mine .say");
  await page.keyboard.press("Space");
  await page.waitForSelector("#mine .download:not([hidden])", { timeout: MINUTE });
  await tabTo("#mine .download");
  session.assertQuiet();
});
