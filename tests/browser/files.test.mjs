// Files instead of a microphone: on a phone, and with a wrong text; and the screen that stays on.

import assert from "node:assert/strict";
import { test } from "node:test";
import { PHONE, chooseFiles, download, learned, ready, speak, trained, visit } from "./steps.mjs";

const MINUTE = 60_000;

test("phone: every stage fits, and the microphone can be denied", { timeout: 10 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true, viewport: PHONE, permission: "deny" });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await session.screenshot("phone-loaded");
  await page.click("#record-button");
  await page.waitForSelector("#clip-words code", { state: "attached" });
  assert.equal(await page.textContent("#clip-words code"), "microphone-denied");
  await chooseFiles(page, 6);
  await session.screenshot("phone-files");
  await page.click("#train-start");
  await page.waitForSelector("#train-stop:not([hidden])");
  await session.screenshot("phone-learning");
  await learned(page, 8 * MINUTE);
  await speak(page, "base");
  await speak(page, "mine");
  await session.screenshot("phone-spoken");
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), PHONE.width, "nothing is wider than the phone");
});

test("training leaves out a file whose text is wrong, and without others leads back to it", { timeout: 5 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  // Training starts before the change is checked, because the field still has the focus.
  const startWith = async (/** @type {string} */ id, /** @type {string} */ text) => {
    await page.fill(`[data-file=${id}]`, text);
    await page.evaluate(() => document.getElementById("train-start")?.click());
  };
  const wrong = "Something that nobody has ever said into this microphone, nor will.";
  await chooseFiles(page, 4);
  const right = await page.inputValue("[data-file=p02]");
  await startWith("p02", wrong);
  await page.waitForSelector("#train-stop:not([hidden])");
  await page.waitForFunction(() => /does not match this text/.test(document.querySelector("#file-list li:nth-child(2) .verdict")?.textContent ?? ""));
  assert.equal(await page.isHidden("#train-error"), true, "the others are learned from");
  await page.click("#train-cancel");
  await page.waitForFunction(() => /^Cancelled/.test(document.querySelector("#train-words")?.textContent ?? ""));
  await page.fill("[data-file=p02]", right);
  await page.locator("[data-file=p02]").blur();
  await page.waitForFunction(() => /^Good/.test(document.querySelector("#file-list li:nth-child(2) .verdict")?.textContent ?? ""));
  for (let count = 4; count > 1; count--) {
    await page.click("#file-list li:nth-child(2) [data-remove]");
    await page.waitForFunction((count) => document.querySelectorAll("#file-list li").length === count, count - 1);
  }

  await startWith("p01", wrong);
  await page.waitForSelector("#train-error:not([hidden])");
  assert.match((await page.textContent("#train-error")) ?? "", /cannot be used.*p01.*clip-mismatch/);
  await page.click("#train-clip");
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("data-file")), "p01");
  await session.screenshot("bad-file");
  session.assertQuiet();
});

test("the screen is kept on only while a voice is learned", { timeout: 2 * MINUTE }, async (t) => {
  const prepare = (/** @type {import("./harness.mjs").Session} */ { page }) =>
    page.addInitScript(() => {
      const log = (/** @type {any} */ (globalThis).awake = /** @type {string[]} */ ([]));
      class Sentinel extends EventTarget {
        async release() {
          log.push("release");
          this.dispatchEvent(new Event("release"));
        }
      }
      const request = async (/** @type {string} */ type) => (log.push(type), new Sentinel());
      Object.defineProperty(Navigator.prototype, "wakeLock", { value: { request } });
    });
  const session = await visit({ device: "cpu", tiny: true, prepare });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await chooseFiles(page, 2);
  assert.deepEqual(await page.evaluate("awake"), []);
  await page.click("#train-start");
  await page.waitForSelector("#train-stop:not([hidden])");
  assert.deepEqual(await page.evaluate("awake"), ["screen"]);
  await page.click("#train-cancel");
  await page.waitForFunction(() => /^Cancelled/.test(document.querySelector("#train-words")?.textContent ?? ""));
  assert.deepEqual(await page.evaluate("awake"), ["screen", "release"]);
  session.assertQuiet();
});

test("the voice file says who agreed to what, and how; and a tick ends with what it was for", { timeout: 3 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await chooseFiles(page, 2);
  await page.check("input[name=whose][value=other]");
  assert.equal(await page.isChecked("#files-agreed"), false, "the statement is another");
  assert.equal(await page.isDisabled("#files-agreed"), true, "nobody has agreed yet");
  assert.equal(await page.isDisabled("#train-start"), true);
  await page.fill("#speaker-name", "Ada Byron");
  await page.check("#files-agreed");
  await page.click("#train-start");
  await trained(page, 2);
  await page.click("#train-stop");
  await learned(page);
  const consent = (await page.textContent("#voice-consent")) ?? "";
  assert.match(consent, /“This is the voice of Ada Byron, who has agreed that this page learns to speak with it\.” Ticked on the page .*, on 20\d\d-\d\d-\d\d; not spoken\./);
  const file = await download(page, "#save");
  const metadata = JSON.parse(JSON.parse(file.toString("utf8", 8, 8 + Number(file.readBigUInt64LE(0)))).__metadata__.ownvoice);
  assert.ok(consent.includes(metadata.consent), metadata.consent);
  assert.equal(metadata.consent_recording_sha256, undefined);

  page.once("dialog", (dialog) => dialog.accept());
  await page.click("#delete-all");
  await page.waitForFunction(() => document.querySelector("#deletion-words")?.textContent);
  assert.equal(await page.isChecked("#files-agreed"), false);
  assert.equal(await page.inputValue("#speaker-name"), "");
  assert.equal(await page.textContent("#kept-total"), "", "the browser's old count does not stand beside it");
  session.assertQuiet();
});

test("one recording: its number is said in words, and likeness says what it lacks", { timeout: 3 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await chooseFiles(page, 1);
  assert.match((await page.textContent("#train-words")) ?? "", /^One recording, 0:0\d of speech/);
  await page.click("#train-start");
  await trained(page, 2);
  await page.click("#train-stop");
  await learned(page);
  assert.match((await page.textContent("#likeness-words")) ?? "", /two or more recordings/);
  session.assertQuiet();
});
