// Coming back with a voice: one speaks at once, by the keyboard too, and says again what was said before.

import assert from "node:assert/strict";
import { test } from "node:test";
import { clean } from "./axe.mjs";
import { SENTENCES, download, heard, heardTo, learnBriefly, ready, spoken, visit } from "./steps.mjs";

/** @import { Page } from "playwright-core" */

const MINUTE = 60_000;

/** The texts that can be said again, in order. @param {Page} page */
const said = (page) => page.$$eval("#said .again", (all) => all.map(({ textContent }) => textContent));

/** Speaks a text with Ctrl and Enter, to its end. @param {Page} page @param {string} text */
async function say(page, text) {
  await page.fill("#text", text);
  await page.press("#text", "Control+Enter");
  await page.waitForFunction((text) => document.querySelector("#said .again")?.textContent === text, text, { timeout: MINUTE });
}

test("who comes back with a voice speaks first, and says again what was said", { timeout: 6 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true, viewport: { width: 390, height: 700 } });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  assert.equal(await page.evaluate(() => document.querySelector("#steps")?.lastElementChild?.id), "talk", "at first, speaking comes last");
  await learnBriefly(page, 2);
  const inView = (/** @type {string} */ selector) => page.$eval(selector, (element) => { const { top, bottom } = element.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight; });
  assert.ok(await inView("#mine .say"), "what was learned can be heard at once");
  await say(page, "Good morning.");
  await say(page, "I am thirsty.");
  await say(page, "Good morning.");
  assert.deepEqual(await said(page), ["Good morning.", "I am thirsty."], "each text once, the latest first");
  await page.click("#said [data-act=keep][data-said='I am thirsty.']");
  assert.deepEqual(await said(page), ["I am thirsty.", "Good morning."], "phrases that are kept come first");
  await page.waitForTimeout(300); // it is being stored

  await page.reload();
  await ready(session);
  assert.equal(await page.evaluate(() => document.querySelector("#steps")?.firstElementChild?.id), "talk");
  assert.equal(await page.evaluate(() => document.querySelector(".pair")?.firstElementChild?.id), "mine");
  assert.equal(await page.getAttribute("#said [data-said='I am thirsty.'][data-act=keep]", "aria-pressed"), "true");
  for (const control of [".trust", "#text", "#mine .say"]) assert.ok(await inView(control), `${control} is on the first screen`);
  await session.screenshot("home-phone");
  await clean(session, "home");
  await page.click("#said .again >> text=I am thirsty.");
  assert.equal(await page.inputValue("#text"), "I am thirsty.");
  await page.waitForSelector("#mine .download:not([hidden])", { timeout: MINUTE });

  // A name is read as the visitor writes it, also after the next visit.
  const seconds = async () => {
    await page.fill("#text", "Hello, Siobhan.");
    await page.press("#text", "Control+Enter");
    await page.waitForSelector("#mine .download:not([hidden])", { timeout: MINUTE });
    return heard(await download(page, "#mine .download")).seconds;
  };
  const usual = await seconds();
  await page.click("text=Names and words that it says wrong");
  await page.fill("#pronunciations", "siobhan = my very good friend from the village");
  const changed = await seconds();
  assert.ok(changed > 1.5 * usual, `${changed} and ${usual} s`);
  await page.reload();
  await ready(session);
  assert.equal(await page.inputValue("#pronunciations"), "siobhan = my very good friend from the village");

  await page.click("#large");
  const size = await page.evaluate(() => parseFloat(getComputedStyle(/** @type {Element} */ (document.querySelector("#text"))).fontSize));
  assert.ok(size >= 28, `${size} px`);
  await clean(session, "large text");
  await session.screenshot("home-large");
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);

  await page.click("#said [data-act=forget][data-said='Good morning.']");
  assert.deepEqual(await said(page), ["I am thirsty.", "Hello, Siobhan."]);
  page.once("dialog", (dialog) => dialog.accept());
  await page.click("#delete-all");
  await page.waitForFunction(() => document.querySelectorAll("#said li").length === 0);
  await page.reload();
  await ready(session);
  assert.deepEqual(await said(page), [], "what was said is deleted with everything");
});

test("a sound is called like its text, and is shared with other apps", { timeout: 3 * MINUTE }, async (t) => {
  const prepare = (/** @type {import("./harness.mjs").Session} */ { page }) =>
    page.addInitScript(() => {
      navigator.canShare = () => true;
      navigator.share = async ({ files } = {}) => {
        const [file] = files ?? [];
        Object.assign(globalThis, { shared: [file.name, file.type, file.size] });
      };
    });
  const session = await visit({ device: "cpu", tiny: true, prepare });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  assert.equal(await page.isHidden("#base .share"), true, "there is no sound yet");
  await page.fill("#text", "Is it 5:30 / 6?\nYes.");
  await page.press("#text", "Control+Enter");
  await page.waitForSelector("#base .share:not([hidden])", { timeout: MINUTE });
  const [saved] = await Promise.all([page.waitForEvent("download"), page.click("#base .download")]);
  assert.equal(saved.suggestedFilename(), "Is it 5 30 6 Yes.wav");
  await page.click("#base .share");
  const [name, type, size] = await page.evaluate("shared");
  assert.deepEqual([name, type], ["Is it 5 30 6 Yes.wav", "audio/wav"]);
  assert.ok(size > 10_000, `${size} bytes`);
});

test("a phrase that the visitor has recorded is played as it is", { timeout: 6 * MINUTE }, async (t) => {
  const { path: microphone, parts } = spoken(["consent", 0]);
  const session = await visit({ device: "cpu", tiny: true, microphone });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  const { text } = SENTENCES[0];
  const record = async (/** @type {{ begin: number, end: number }} */ part) => {
    await heardTo(page, part.begin);
    await page.click("#record-button");
    await heardTo(page, part.end);
    await page.click("#record-button");
    await page.waitForSelector("#clip-words:is([data-state=good], [data-state=bad])");
    assert.match((await page.textContent("#clip-words")) ?? "", /^Good/);
  };
  await say(page, text);
  await page.click("#said [data-act=record]");
  assert.equal(await page.textContent("#prompt-position"), "Your own phrase");
  assert.equal(await page.textContent("#prompt-text"), text);
  assert.equal(await page.isDisabled("#record-button"), true, "nothing is recorded before the consent");
  await page.click("#back");
  await page.click("#record-button");
  await heardTo(page, parts[0].end);
  await page.click("#record-button");
  await page.waitForSelector("#clip-words[data-state=good]");
  await page.click("#next");
  await record(parts[1]);
  assert.equal(await page.getAttribute("#said [data-act=record]", "aria-pressed"), "true");
  await page.click("#next");
  assert.match((await page.textContent("#prompt-position")) ?? "", /^Sentence 1 of 12/);

  const spokenAgain = async () => {
    await page.fill("#text", ` ${text.toUpperCase()} `);
    await page.press("#text", "Control+Enter");
    await page.waitForSelector("#mine .download:not([hidden])", { timeout: MINUTE });
    assert.match((await page.textContent("#mine .words")) ?? "", /^Your own recording/);
    return heard(await download(page, "#mine .download"));
  };
  const { seconds, notes } = await spokenAgain();
  assert.ok(seconds > 5, `${seconds} s`);
  assert.deepEqual(notes, {}, "a recording is not marked as synthetic");
  await page.reload();
  await ready(session);
  assert.equal((await spokenAgain()).seconds, seconds);
  assert.equal(await page.locator("#prompt-list button").count(), 14, "consent, the phrase and twelve sentences");
  session.assertQuiet();
});
