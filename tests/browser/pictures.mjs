// Makes the README's pictures of the page, docs/*.jpg: reading and speaking, with the voice of the tests. Run it by hand when the page has changed.

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
    await picture("reading", "#way");
  }
  await heardTo(page, end);
  await page.click("#record-button");
  await page.waitForSelector("#clip-words:is([data-state=good], [data-state=bad])");
}
await page.click("#train-start");
await page.waitForSelector("#likeness-bars:not([hidden])", { timeout: 15 * MINUTE });
await page.setViewportSize(PHONE);
await page.reload(); // as one who comes back
await ready(session);
await page.fill("#text", "The train leaves at 5:30 from platform two. I am glad that you can hear me.");
await speak(page, "mine");
await page.waitForFunction(() => document.querySelector("#mine .play")?.textContent === "Play", null, { timeout: MINUTE });
await page.click("#mine .play");
// Paused at a word, however slow the machine is.
await page.waitForFunction(() => {
  const isThere = document.querySelector("#mine mark")?.textContent === "glad";
  if (isThere) /** @type {HTMLElement} */ (document.querySelector("#mine .play")).click();
  return isThere;
}, null, { timeout: MINUTE, polling: 10 });
await picture("speaking", "header");
await session.close();
