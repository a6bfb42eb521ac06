// Makes the README's pictures of the page, docs/*.jpg: reading, learning and speaking, with the voice of the tests. Run it by hand when the page has changed.

import { join } from "node:path";
import { ROOT } from "./harness.mjs";
import { PHONE, SENTENCES, heardTo, inOrder, ready, speak, visit } from "./steps.mjs";

const DESKTOP = { width: 1120, height: 860 };
const MINUTE = 60_000;

const { path: microphone, parts } = inOrder(SENTENCES.length);
const session = await visit({ device: "cpu", microphone, viewport: DESKTOP });
const { page } = session;

/** Takes a picture of the screen with an element at its top, or a little below. @param {string} name @param {string} selector */
async function picture(name, selector) {
  await page.evaluate((selector) => {
    const top = document.querySelector(selector)?.getBoundingClientRect().top ?? 0;
    scrollTo(0, scrollY + top - 24);
  }, selector);
  await page.waitForTimeout(300); // until the layout has followed the new size
  await page.screenshot({ path: join(ROOT, "docs", `${name}.jpg`), type: "jpeg", quality: 84 });
}

await ready(session);
for (const [index, { begin, end }] of parts.entries()) {
  if (index > 0) await page.click("#next");
  await heardTo(page, begin);
  await page.click("#record-button");
  await page.waitForSelector("#record-button[aria-pressed=true]");
  if (index === 6) {
    await heardTo(page, end - 2.2);
    await picture("reading", "[aria-labelledby=read-title]");
  }
  await heardTo(page, end);
  await page.click("#record-button");
  await page.waitForSelector("#clip-words:is([data-state=good], [data-state=bad])");
}
await page.click("#train-start");
await page.click("#details > summary");
await page.waitForFunction(() => /^Iteration 1[0-9]\d /.test(document.querySelector("#train-iteration")?.textContent ?? ""), null, { timeout: 10 * MINUTE });
await picture("learning", "[aria-labelledby=train-title]");
await page.click("#train-stop");
await page.waitForSelector("#likeness-bars:not([hidden])", { timeout: 2 * MINUTE });
await speak(page, "base");
await speak(page, "mine");
await page.setViewportSize(PHONE);
await page.click("#mine .play");
await page.waitForTimeout(900);
await picture("speaking", "[aria-labelledby=speak-title]");
await session.close();
