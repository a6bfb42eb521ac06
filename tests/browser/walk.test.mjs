// The four steps as a visitor meets them, with a microphone, on a desktop and on a phone: what each step shows and announces, checked by axe, and without a
// request from beginning to end.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { clean } from "./axe.mjs";
import { DESKTOP, PHONE, SENTENCES, download, heard, heardTo, learned, ready, speak, spoken, spokenSamples, visit, wav } from "./steps.mjs";

/** @import { Page } from "playwright-core" */

const MINUTE = 60_000;

/** A hash of the pixels of a canvas. @param {Page} page @param {string} selector */
const canvasHash = (page, selector) =>
  page.$eval(selector, (canvas) => {
    const { width, height } = /** @type {HTMLCanvasElement} */ (canvas);
    // Reads a copy, because a canvas that is read itself becomes another kind of canvas.
    const copy = /** @type {OffscreenCanvasRenderingContext2D} */ (new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true }));
    copy.drawImage(/** @type {HTMLCanvasElement} */ (canvas), 0, 0);
    return copy.getImageData(0, 0, width, height).data.reduce((hash, value, i) => (hash * 31 + value * (i + 1)) % 1_000_003, 0);
  });

/** Records what canvases show each time they are drawn and labelled, from now on. @param {Page} page @param {string[]} selectors */
const watchDrawn = (page, selectors) =>
  page.evaluate((selectors) => {
    for (const selector of selectors) {
      const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector(selector));
      const shown = ((/** @type {any} */ (globalThis).drawn ??= {})[selector] = /** @type {Set<string>} */ (new Set()));
      new MutationObserver(() => shown.add(canvas.toDataURL())).observe(canvas, { attributeFilter: ["aria-label"] });
    }
  }, selectors);

/** How many different pictures a canvas has shown. @param {Page} page @param {string} selector */
const countDrawn = (page, selector) => page.evaluate((selector) => /** @type {any} */ (globalThis).drawn[selector].size, selector);

/** Records everything that a live region announces from now on. @param {Page} page @param {string} selector */
const listen = (page, selector) =>
  page.evaluate((selector) => {
    const region = /** @type {HTMLElement} */ (document.querySelector(selector));
    const said = (/** @type {any} */ (globalThis).said = /** @type {string[]} */ ([]));
    new MutationObserver(() => region.textContent && said.push(region.textContent)).observe(region, { childList: true, characterData: true, subtree: true });
    return region.getAttribute("role");
  }, selector);

for (const [name, viewport] of /** @type {const} */ ([["desktop", DESKTOP], ["phone", PHONE]])) {
  test(`agree, read, let it learn, speak: ${name}`, { timeout: 12 * MINUTE }, async (t) => {
    // The second sentence is recorded twice: the first time its end is missing.
    const { path: microphone, parts } = spoken(["consent", 0, 1, 1]);
    const session = await visit({ device: "cpu", tiny: true, microphone, viewport });
    t.after(() => session.close());
    const { page } = session;
    await ready(session);
    const loaded = session.mark();
    const text = (/** @type {string} */ selector) => page.textContent(selector).then((words) => words ?? "");
    const shot = (/** @type {string} */ stage) => session.screenshot(`walk-${name}-${stage}`);
    const stopRecording = async () => {
      await page.click("#record-button");
      await page.waitForSelector("#clip-words:is([data-state=good], [data-state=bad])");
      return text("#clip-words");
    };

    // The first view says what the page is, that nothing leaves it, and what comes first.
    assert.match(await text(".trust"), /Nothing leaves this page/);
    assert.equal(await page.isVisible(".trust"), true);
    assert.equal(await page.locator("#prompt-list button").count(), 13, "consent and twelve sentences");
    assert.match(await text("#card"), /Your consent.*This is my own voice, and I agree/s);
    await shot("1-first-look");
    await clean(session, "first look");

    // Before the speaker has agreed, sentences can be viewed, but neither recorded nor learned from.
    await page.click("#next");
    assert.match(await text("#clip-words"), /^Read the consent sentence first/);
    assert.equal(await page.isDisabled("#record-button"), true);
    await page.locator("body").press("r");
    assert.equal(await page.getAttribute("#record-button", "aria-pressed"), "false");
    assert.equal(await page.isDisabled("#train-start"), true);
    assert.match(await text("#train-words"), /^Read the consent sentence first/);

    await page.click("#agree-open");
    await page.click("#record-button");
    await page.waitForSelector("#record-button[aria-pressed=true]");
    await page.waitForFunction(() => Number(document.querySelector("#level")?.getAttribute("aria-valuenow")) > -50, null, { timeout: 6000 });
    const earlier = await canvasHash(page, "#clip-live");
    await page.waitForTimeout(500);
    assert.notEqual(await canvasHash(page, "#clip-live"), earlier, "the waveform is live");
    await shot("2-reading");
    await heardTo(page, parts[0].end);
    const filled = (/** @type {string} */ selector) => page.$eval(selector, (button) => getComputedStyle(button).backgroundColor !== "rgba(0, 0, 0, 0)");
    assert.deepEqual([await filled("#record-button"), await filled("#next")], [true, false]);
    assert.match(await stopRecording(), /^Good: \d\.\d s of speech\.$/);
    await page.mouse.move(0, 0);
    assert.deepEqual([await filled("#record-button"), await filled("#next")], [false, true], "the primary button is what comes next");

    await page.click("#next");
    await heardTo(page, parts[1].begin);
    await page.click("#record-button");
    await heardTo(page, parts[1].end);
    assert.match(await stopRecording(), /^Good/);

    // Each recording is checked at once: here the end is missing. The second attempt is good.
    await page.click("#next");
    assert.match(await text("#prompt-position"), /^Sentence 2 /);
    await heardTo(page, parts[2].begin);
    await page.click("#record-button");
    // Within 0.4 s of voiced speech; by a script, since on a busy machine Playwright's click comes later.
    await page.waitForFunction((seconds) => {
      if (!(/** @type {any} */ (globalThis).microphoneSeconds >= seconds)) return false;
      /** @type {HTMLElement} */ (document.querySelector("#record-button")).click();
      return true;
    }, parts[2].begin + 4.65, { polling: 5 });
    await page.waitForSelector("#clip-words:is([data-state=good], [data-state=bad])");
    assert.match(await text("#clip-words"), /The end is cut off.*clip-cut-off-end/s);
    await shot("3-cut-off");
    await clean(session, "a clip that is cut off");
    await heardTo(page, parts[3].begin);
    await page.click("#record-button");
    await heardTo(page, parts[3].end);
    assert.match(await stopRecording(), /^Good/);
    assert.equal(await page.locator("#prompt-list [data-state=good]").count(), 3);

    // A recording is played by button and by key, and has a waveform.
    assert.ok(await page.locator("#clip-wave canvas").count(), "a waveform");
    await page.click("#play");
    assert.equal(await text("#play"), "Pause");
    await page.click("#play");
    assert.equal(await text("#play"), "Play");
    await page.locator("body").press("p");
    assert.equal(await text("#play"), "Pause");
    await page.waitForFunction(() => document.querySelector("#play")?.textContent === "Play", null, { timeout: 15_000 });
    await shot("4-read");
    await clean(session, "three sentences read");

    // Learning is announced to screen readers and shown in pictures.
    assert.equal(await listen(page, "#train-said"), "status");
    await watchDrawn(page, ["#mel-predicted", "#alignment"]);
    assert.equal(await page.isChecked("#preview-on"), true, "it lets itself be heard");
    await page.click("#train-start");
    assert.equal(await page.isVisible("#device"), false, "what few want to know is in the details");
    await page.click("#details > summary");
    await page.waitForSelector("#pictures:not([hidden])", { timeout: MINUTE });
    await page.waitForFunction(() => /\d left$/.test(document.querySelector("#train-left")?.textContent ?? ""), null, { timeout: MINUTE });
    await page.waitForSelector("#preview:not([hidden])", { timeout: 2 * MINUTE });
    // After the one before learning they are 25 iterations apart; on a fast machine a later one may have replaced the first.
    await page.waitForFunction(() => /^At (33|67|100) %$/.test(document.querySelector("#preview-words")?.textContent ?? ""), null, { timeout: 2 * MINUTE });
    await page.click("#train-pause");
    await page.waitForFunction(() => /^Paused/.test(document.querySelector("#train-words")?.textContent ?? ""));
    await page.waitForTimeout(500);
    const paused = await text("#train-words");
    await page.waitForTimeout(1000);
    assert.equal(await text("#train-words"), paused, "the training is paused");
    for (const picture of ["#mel-predicted", "#alignment"]) assert.ok((await countDrawn(page, picture)) >= 2, `${picture} is drawn anew`);
    assert.ok(await canvasHash(page, "#loss-curve"), "a curve");
    for (const picture of ["#loss-curve", "#mel-recorded", "#mel-predicted", "#alignment"]) {
      assert.ok(((await page.getAttribute(picture, "aria-label")) ?? "").length > 20, `${picture} in words`);
    }
    await shot("5-learning");
    await clean(session, "learning, paused");
    await page.click("#train-pause");
    const hasPassed = (/** @type {number} */ from) => Number(document.querySelector("#train-iteration")?.textContent?.match(/^Iteration (\d+) /)?.[1]) > from;
    // Cancelled by a script in the same task: on a slow machine the last iterations may pass while Playwright moves a pointer, and a click on a button that
    // the end of the training has disabled does nothing.
    const passedAndCancelled = (/** @type {number} */ from) => {
      const cancel = /** @type {HTMLButtonElement} */ (document.querySelector("#train-cancel"));
      const iteration = Number(document.querySelector("#train-iteration")?.textContent?.match(/^Iteration (\d+) /)?.[1]);
      if (!(iteration > from) || !cancel.checkVisibility() || cancel.disabled) return false;
      cancel.click();
      return true;
    };
    await page.waitForFunction(passedAndCancelled, Number((await text("#train-iteration")).match(/\d+/)), { timeout: MINUTE, polling: 5 });
    await page.waitForFunction(() => /^Cancelled\. The recordings are still here/.test(document.querySelector("#train-words")?.textContent ?? ""));
    await page.click("#train-start");
    await page.waitForSelector("#train-stop:not([hidden])", { timeout: MINUTE });
    await page.waitForFunction(hasPassed, 24, { timeout: MINUTE });
    await page.click("#train-stop");
    await learned(page);
    await page.fill("#speed", "1.5");
    assert.equal(await text("#speed-value"), "1.50 ×");
    assert.ok(await page.isDisabled("#pitch"), "the tiny base has no pitch");
    const said = /** @type {string[]} */ (await page.evaluate("said"));
    for (const words of [/^Listening to your recordings/, /^It is learning how you sound: 33 % done/, /^Paused at/, /^Cancelled/, /^Your voice is ready/]) assert.ok(said.some((each) => words.test(each)), `${words} among ${said.join("; ")}`);
    assert.ok(said.length < 40, `not too many announcements: ${said.length}`);

    // Both voices speak, their similarity is shown, and the voice can be saved.
    await page.waitForSelector("#likeness-bars:not([hidden])", { timeout: MINUTE });
    assert.match(await text("#likeness-words"), /\d+ %.*\d+ %.*\d+ %/);
    const [before, after] = [heard(await speak(page, "base")), heard(await speak(page, "mine"))];
    assert.ok(before.seconds > 0.5 && after.seconds > 0.5);
    const file = await download(page, "#save");
    assert.match(after.notes.ICMT, new RegExp(`^Synthetic speech.*${createHash("sha256").update(file).digest("hex").slice(0, 16)}$`));
    await shot("6-spoken");
    await clean(session, "spoken");
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), viewport.width, "nothing is wider than the window");
    session.assertNoRequestsSince(loaded, "from the first look to the saved voice");
    session.assertNothingLeft();
    session.assertQuiet();
  });
}

test("dropped files are checked, and each has its verdict", { timeout: 4 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await page.check("input[value=files]", { force: true });
  const { samples } = spokenSamples(0);
  let state = 1;
  const noise = () => (state = (state * 16807) % 2147483647) / 2147483647 - 0.5;
  /** @param {(sample: number) => number} change */
  const changed = (change) => {
    const copy = Buffer.from(samples);
    for (let at = 0; at < copy.length; at += 2) copy.writeInt16LE(Math.max(-32768, Math.min(32767, Math.round(change(copy.readInt16LE(at))))), at);
    return wav(copy);
  };
  const dropped = {
    "a-good.wav": [wav(samples), /^Good: \d\.\d s of speech\.$/],
    "b-quiet.wav": [changed((x) => x / 1000), /^Too quiet: move closer/],
    "c-clipped.wav": [changed((x) => x * 40), /^Too loud, \d+\.\d % of it is distorted/],
    "d-noisy.wav": [changed((x) => x + 16384 * noise()), /^Too noisy: the room is nearly as loud/],
    "e-short.wav": [wav(samples.subarray(32_000, 36_000)), /^Too short: only \d\.\d s of speech/],
    "f-other.wav": [wav(samples), /^The recording does not match this text/],
    "h-more.wav": [wav(Buffer.concat([samples, spokenSamples(1).samples])), /^The recording has more than this text/],
    "i-less.wav": [wav(samples), /^The recording has less than this text/],
    "g-letter.wav": [Buffer.from("This is a letter."), /^This browser cannot read any sound/],
  };
  const texts = Object.keys(dropped).map((file) => `${file.replace(".wav", "")}|${SENTENCES[file.startsWith("f") ? 3 : 0].text}${file.startsWith("i") ? ` ${SENTENCES[1].text}` : ""}`).join("\n");
  const files = Object.entries(dropped).map(([file, [bytes]]) => ({ file, bytes: /** @type {Buffer} */ (bytes).toString("base64") }));
  await page.evaluate(
    ({ files, texts }) => {
      const data = new DataTransfer();
      for (const { file, bytes } of files) data.items.add(new File([Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0))], file, { type: "audio/wav" }));
      data.items.add(new File([texts], "metadata.csv", { type: "text/csv" }));
      const drop = document.querySelector("#drop");
      for (const type of ["dragover", "drop"]) drop?.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    },
    { files, texts },
  );
  await page.waitForFunction((count) => document.querySelectorAll("#file-list li :is([data-state=good], [data-state=bad])").length === count, files.length, { timeout: MINUTE });
  const rows = await page.$$eval("#file-list li", (all) => all.map((row) => [row.querySelector(".name")?.textContent ?? "", row.querySelector(".verdict, .failure")?.textContent ?? ""]));
  for (const [file, [, words]] of Object.entries(dropped)) {
    const [, said] = rows.find(([name]) => file.startsWith(name.replace(".wav", ""))) ?? [];
    assert.match(said ?? "", /** @type {RegExp} */ (words), file);
  }
  await page.click("#way [data-step=read]");
  await session.screenshot("files-judged");
  await clean(session, "files, judged");
  session.assertQuiet();
});
