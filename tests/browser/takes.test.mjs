// Takes of a sentence: the last good one stays, a discarded one comes back, and a recording contains what the visitor said and nothing else.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { heardTo, ready, record, run, spoken, storedFiles, visit } from "./steps.mjs";

/** @import { Session } from "./harness.mjs" */
/** @import { Page } from "playwright-core" */

const MINUTE = 60_000;

/** Records the card while a part of the microphone's file is played. @param {Page} page @param {{ begin: number, end: number }} part */
async function take(page, { begin, end }) {
  await heardTo(page, begin);
  await page.click("#record-button");
  await page.waitForSelector("#record-button[aria-pressed=true]");
  await heardTo(page, end);
  await page.click("#record-button");
  await page.waitForSelector("#clip-words:is([data-state=good], [data-state=bad])");
  return (await page.textContent("#clip-words")) ?? "";
}

test("a bad take leaves the good one, here and on disk, and a discarded one comes back", { timeout: 4 * MINUTE }, async (t) => {
  const { path: microphone, parts } = spoken(["consent", 0, 1]);
  const session = await visit({ device: "cpu", tiny: true, microphone });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await record(page, parts.slice(0, 1));
  const kept = await storedFiles(session);
  // The consent again, but another sentence is read.
  assert.match(await take(page, parts[1]), /earlier recording of it is kept\. clip-/);
  assert.equal(await page.locator("#prompt-list [data-state=good]").count(), 1, "the consent still stands");
  assert.deepEqual(await storedFiles(session), kept);

  await page.click("#discard");
  assert.equal(await page.locator("#prompt-list [data-state=good]").count(), 0);
  assert.equal(await page.textContent("#discard"), "Undo");
  assert.equal(await page.evaluate(() => document.activeElement?.id), "discard");
  await page.click("#discard");
  assert.match((await page.textContent("#clip-words")) ?? "", /^Good/);
  await page.reload();
  await ready(session);
  assert.equal(await page.locator("#prompt-list [data-state=good]").count(), 1, "it is on disk again");
  session.assertQuiet();
});

test("nothing is played into a recording, and its sound that breaks off is not the reader's fault", { timeout: 4 * MINUTE }, async (t) => {
  const { path: microphone, parts } = spoken(["consent", "consent"]);
  const bytes = readFileSync(microphone);
  const gap = 44 + Math.round((parts[0].end - 4.9) * 16_000) * 2;
  bytes.fill(0, gap, gap + 0.4 * 32_000);
  writeFileSync(microphone, bytes);
  const session = await visit({ device: "cpu", tiny: true, microphone });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await page.click("#base .say");
  await page.click("#record-button");
  await page.waitForSelector("#record-button[aria-pressed=true]");
  assert.match((await page.textContent("#base .say")) ?? "", /Speak/, "speech ends when a recording begins");
  assert.equal(await page.isDisabled("#base .say"), true);
  await heardTo(page, parts[0].end);
  await page.click("#record-button");
  await page.waitForSelector("#clip-words:is([data-state=good], [data-state=bad])");
  assert.match((await page.textContent("#clip-words")) ?? "", /not your fault.*recording-interrupted/);
  assert.match(await take(page, parts[1]), /^Good/);
  assert.equal(await page.isDisabled("#base .say"), false);
  // The microphone closes before files are chosen.
  await page.check("input[value=files]", { force: true });
  assert.equal(await page.isHidden("#level"), true);
  session.assertQuiet();
});

test("a recording during which the system suspends the audio is not learned from", { timeout: 3 * MINUTE }, async (t) => {
  const { path: microphone, parts } = spoken(["consent", "consent"]);
  // Keeps the audio context of the microphone, which the test suspends as a telephone call does.
  const prepare = (/** @type {Session} */ { page }) =>
    page.addInitScript(() => {
      window.AudioWorkletNode = class extends AudioWorkletNode {
        constructor(/** @type {BaseAudioContext} */ context, /** @type {string} */ name) {
          super(context, name);
          /** @type {any} */ (window).microphoneContext = context;
        }
      };
    });
  const session = await visit({ device: "cpu", tiny: true, microphone, prepare });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await page.click("#record-button");
  await page.waitForSelector("#record-button[aria-pressed=true]");
  await heardTo(page, (parts[0].begin + parts[0].end) / 2);
  await page.evaluate(() => /** @type {any} */ (window).microphoneContext.suspend());
  await page.waitForFunction(() => /** @type {any} */ (window).microphoneContext.state === "running");
  await heardTo(page, parts[0].end);
  await page.click("#record-button");
  await page.waitForSelector("#clip-words:is([data-state=good], [data-state=bad])");
  assert.match((await page.textContent("#clip-words")) ?? "", /not your fault.*recording-interrupted/);
  assert.match(await take(page, parts[1]), /^Good/, "the next recording is whole");
  session.assertQuiet();
});

test("another microphone is chosen, also for later visits", { timeout: 3 * MINUTE }, async (t) => {
  const prepare = (/** @type {import("./harness.mjs").Session} */ { page }) =>
    page.addInitScript(() => {
      const { mediaDevices } = navigator;
      const open = mediaDevices.getUserMedia.bind(mediaDevices);
      mediaDevices.getUserMedia = async (constraints) => {
        const stream = await open(constraints);
        /** @type {any} */ (globalThis).opened = stream.getAudioTracks()[0].label;
        return stream;
      };
    });
  const session = await visit({ device: "cpu", tiny: true, prepare });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  assert.equal(await page.isHidden("#microphones"), true, "the browser names none before one is allowed");
  const opened = async () => {
    await page.click("#record-button");
    await page.waitForSelector("#record-button[aria-pressed=true]");
    const label = await page.evaluate("opened");
    assert.equal(await page.isDisabled("#microphone"), true, "not while it records");
    for (const control of ["#train-start", "input[value=files]"]) assert.equal(await page.isDisabled(control), true, `${control}: the microphone is not left open behind it`);
    await page.waitForTimeout(500);
    await page.click("#record-button");
    await page.waitForSelector("#clip-words:is([data-state=good], [data-state=bad])");
    return label;
  };
  const first = await opened();
  const names = await page.$$eval("#microphone option", (all) => all.map(({ textContent }) => textContent ?? ""));
  assert.ok(names.length > 2, names.join());
  const other = /** @type {string} */ (names.findLast((name) => name !== first));
  await page.selectOption("#microphone", { label: other });
  assert.equal(await page.isHidden("#level"), true, "the one before is closed");
  assert.equal(await opened(), other);
  await page.reload();
  await ready(session);
  assert.equal(await opened(), other);
  session.assertQuiet();
});

test("a quiet recording looks as quiet as it is, and one from a loud room says so", { timeout: 3 * MINUTE }, async (t) => {
  // The last one is for a slow machine, which records for longer.
  const { path: microphone, parts } = spoken(["consent", "consent", "consent"]);
  const bytes = readFileSync(microphone);
  const middle = 44 + Math.round((parts[0].end + 0.2) * 16_000) * 2;
  let state = 1;
  const noise = () => (state = (state * 16807) % 2147483647) / 2147483647 - 0.5;
  for (let at = 44; at < bytes.length; at += 2) {
    const sample = bytes.readInt16LE(at);
    bytes.writeInt16LE(Math.round(at < middle ? sample / 300 : Math.max(-32768, Math.min(32767, sample + 2500 * noise()))), at);
  }
  writeFileSync(microphone, bytes);
  const session = await visit({ device: "cpu", tiny: true, microphone });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  /** The part of the waveform's height that its highest bar takes. */
  const height = () =>
    page.locator("#clip-wave canvas").first().evaluate((element) => {
      const canvas = /** @type {HTMLCanvasElement} */ (element);
      const { data } = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")).getImageData(0, 0, canvas.width, canvas.height);
      const rows = Array.from({ length: canvas.height }, (_, row) => data.subarray(row * canvas.width * 4, (row + 1) * canvas.width * 4).some((value, at) => at % 4 === 3 && value > 0));
      return rows.filter(Boolean).length / canvas.height;
    });
  assert.match(await take(page, parts[0]), /^Too quiet/);
  const quiet = await height();
  assert.match(await take(page, parts[1]), /^Good: .* The room can be heard in it/);
  const loud = await height();
  t.diagnostic(`${quiet.toFixed(2)} of the height where it is too quiet, ${loud.toFixed(2)} otherwise`);
  assert.ok(quiet < 0.2 && loud > 0.4, `${quiet}, ${loud}`);
  session.assertQuiet();
});

test("further sentences follow after the last card", { timeout: 2 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await page.click('[data-prompt="12"]');
  assert.match((await page.textContent("#prompt-position")) ?? "", /Sentence 12 of 12/);
  await page.click("#next");
  assert.match((await page.textContent("#prompt-position")) ?? "", /Sentence 13 of 13/);
  for (let i = 13; i < 40; i++) await page.keyboard.press("ArrowRight");
  assert.match((await page.textContent("#prompt-position")) ?? "", /Sentence 40 of 40/);
  assert.equal(await page.isDisabled("#next"), true);
  await page.click("#back");
  await page.keyboard.press("Enter");
  await page.click('[data-prompt="1"]');
  await page.focus("#back");
  await page.keyboard.press("Enter");
  assert.equal(await page.isDisabled("#back"), true, "this is the first card");
  assert.equal(await page.evaluate(() => document.activeElement?.id), "record-button", "the focus is on a control that can be used");
  session.assertQuiet();
});

test("a recording contains all sound from start to stop", { timeout: 2 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true, path: "icon.svg" });
  t.after(() => session.close());
  const found = await run(
    session,
    `const { AudioContext } = globalThis;
    let context;
    globalThis.AudioContext = class extends AudioContext { constructor(...rest) { super(...rest); context = this; } };
    const { load } = await import(new URL("js/index.js", location.href).href);
    const studio = await load({ base: "models/base", device: "cpu", microphone: true });
    await studio.microphone.open(() => {}, () => {});
    const missing = [];
    for (let take = 0; take < 8; take++) {
      await new Promise((resolve) => setTimeout(resolve, 300));
      studio.microphone.record();
      const begun = context.currentTime;
      await new Promise((resolve) => setTimeout(resolve, 300 + 13 * take));
      const ended = context.currentTime;
      const { samples, sampleRate } = await studio.microphone.stop();
      missing.push(ended - begun - samples.length / sampleRate);
    }
    studio.close();
    return missing;`,
  );
  t.diagnostic(found.map((/** @type {number} */ seconds) => `${(1000 * seconds).toFixed(0)} ms`).join(", "));
  assert.ok(Math.max(...found) <= 0, `missing: ${found}`);
});
