// A phone that is turned: nothing stays wider than the window.

import assert from "node:assert/strict";
import { test } from "node:test";
import { PHONE, chooseFiles, openStep, ready, visit } from "./steps.mjs";

const MINUTE = 60_000;

test("after a phone is turned nothing is wider than the window, while it learns and with a report", { timeout: 5 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true, viewport: { width: PHONE.height, height: PHONE.width } });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await chooseFiles(page, 2);
  await page.click("#details > summary");
  await page.click("#train-start");
  await page.waitForSelector("#preview:not([hidden])", { timeout: 2 * MINUTE });
  await page.waitForSelector("#loss-curve");
  await page.waitForFunction(() => /^Your voice is ready/.test(document.querySelector("#train-words")?.textContent ?? ""), null, { timeout: 2 * MINUTE });
  await page.click("#precision-start");
  await page.waitForSelector("#precision-text:not([hidden])", { timeout: 2 * MINUTE });
  await page.click("#base .say");
  await page.waitForSelector("#base .download:not([hidden])", { timeout: MINUTE });
  await page.setViewportSize(PHONE);
  await page.waitForTimeout(500);
  const width = () => page.evaluate(() => document.documentElement.scrollWidth);
  assert.equal(await width(), PHONE.width);
  await session.screenshot("turned");
  await openStep(page, "#loss-curve");
  const curve = await page.locator("#loss-curve").boundingBox();
  assert.ok(curve && curve.width > 200 && curve.x + curve.width <= PHONE.width, "the curve is drawn at its new size");
  // The page is wider than before, too.
  await page.setViewportSize({ width: PHONE.height, height: PHONE.width });
  await page.waitForTimeout(500);
  assert.equal(await width(), PHONE.height);
  session.assertQuiet();
});
