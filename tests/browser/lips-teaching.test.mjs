// The page of lips learns the visitor's speech from videos with sound, and from camera and microphone. Nothing leaves the page, and each refusal has a code.

import assert from "node:assert/strict";
import { test } from "node:test";
import { clean } from "./axe.mjs";
import { correlation, levels } from "./levels.mjs";
import { HEARD, SILENT, made, open, skip, spoken } from "./lips-steps.mjs";
import { PHONE, download } from "./steps.mjs";

/** @import { Session } from "./harness.mjs" */

const MINUTE = 60_000;

/** Filters that make another voice: three semitones higher, at the same speed. */
const HIGHER = "asetrate=19027,aresample=16000,atempo=0.841";
const MP4 = ["-pix_fmt", "yuv420p", "-c:a", "aac", "-ar", "48000", "-shortest"];

/** Makes a video of the face in a loop, with another voice. @param {string} [name] @param {number} [more] Repetitions after the first. */
const taughtVideo = (name = "spoken.mp4", more = 5) => made(name, "-stream_loop", `${more}`, "-i", SILENT, "-stream_loop", `${more}`, "-i", HEARD, "-af", HIGHER, ...MP4);

/** Waits until the page is idle. @param {Session} session */
const idle = ({ page }) => page.waitForFunction(() => !(/** @type {HTMLButtonElement} */ (document.querySelector("#own-file")).disabled), null, { timeout: 3 * MINUTE });

/** Adds videos to be learned from, and returns what the page shows of each take. @param {Session} session @param {string[]} files */
async function teach(session, files) {
  await session.page.setInputFiles("#teach-files", files);
  await idle(session);
  return session.page.locator("#takes > li").evaluateAll((rows) => rows.map((row) => ({ name: row.querySelector(".name")?.textContent, words: row.querySelector("p")?.textContent ?? "", code: row.querySelector(".failure code")?.textContent ?? null })));
}

/** @typedef {{ rate: number, samples: Int16Array }} Sound */

/** The correlation of the levels of two sounds of the same length. @param {Sound} one @param {Sound} other */
const similarity = (one, other) => correlation(levels(one), levels(other));

/** @param {string} words */
const figure = (words) => Number(words.match(/\d+\.\d+/)?.[0]);

test("a voice is learned from videos with sound and spoken with, and nothing leaves the page", { timeout: 10 * MINUTE, skip }, async (t) => {
  const session = await open();
  t.after(() => session.close());
  const { page } = session;
  const loaded = session.mark();
  assert.equal(await page.isDisabled("#learn"), true, "there are no takes");
  await page.setInputFiles("#file", SILENT);
  const before = await spoken(session);

  // A video of more than one part, cancelled after the first part.
  await page.setInputFiles("#teach-files", taughtVideo("long.mp4", 8));
  await page.waitForFunction(() => /** @type {HTMLProgressElement} */ (document.querySelector("#teach-bar")).value > 0.6, null, { timeout: 2 * MINUTE });
  await page.click("#teach-cancel");
  await idle(session);
  assert.equal(await page.locator("#takes > li").count(), 0);

  const wall = made("wall.mp4", "-f", "lavfi", "-i", "color=c=gray:s=240x240:r=25:d=3", "-i", HEARD, ...MP4);
  const short = made("short.mp4", "-t", "0.6", "-i", SILENT, "-i", HEARD, ...MP4);
  const unequal = (/** @type {string} */ name, /** @type {string[]} */ pictures, /** @type {string[]} */ sound) => made(name, ...pictures, "-i", SILENT, ...sound, "-i", HEARD, "-pix_fmt", "yuv420p", "-c:a", "aac", "-ar", "48000");
  const quiet = made("quiet.mp4", "-i", SILENT, "-i", HEARD, "-af", "volume=-60dB", ...MP4);
  const takes = await teach(session, [taughtVideo(), SILENT, wall, short, unequal("pictures.mp4", ["-t", "1.4"], []), unequal("sound.mp4", [], ["-t", "1.4"]), quiet]);
  assert.deepEqual(takes.map(({ code }) => code), [null, "audio-unreadable", "no-face", "clip-too-short", "lengths-differ", "lengths-differ", "clip-too-quiet"], JSON.stringify(takes));
  t.diagnostic(takes[0].words);
  assert.ok(figure(takes[0].words) > 14, takes[0].words);
  await session.screenshot("teaching-takes");
  // Refused takes can be removed.
  for (let left = 6; left > 0; left--) await page.click(`#takes [data-take="${left}"]`);
  await page.waitForFunction(() => document.querySelectorAll("#takes > li").length === 1);

  await page.click("#learn");
  await page.waitForFunction(() => /Iteration 1 of/.test(document.querySelector("#learn-iteration")?.textContent ?? ""), null, { timeout: 2 * MINUTE });
  const first = figure((await page.textContent("#learn-loss")) ?? "");
  const begun = performance.now();
  await page.waitForFunction(() => Number(document.querySelector("#learn-iteration")?.textContent?.match(/\d+/)?.[0]) >= 30, null, { timeout: 4 * MINUTE });
  t.diagnostic(`${((performance.now() - begun) / 29_000).toFixed(2)} s an iteration`);
  const later = figure((await page.textContent("#learn-loss")) ?? "");
  t.diagnostic(`loss ${first} to ${later}; ${await page.textContent("#learn-held-out")}`);
  assert.ok(later < first, `${first} ${later}`);
  await session.screenshot("teaching-learning");
  // The page responds meanwhile.
  await page.click("#languages [lang=de]");
  assert.equal(await page.textContent("#learn-stop"), "Anhalten und den besten Stand behalten");
  await page.click("#languages [lang=en]");
  await page.click("#learn-stop");
  await page.waitForSelector("#own:not([hidden])", { timeout: MINUTE });
  const words = (await page.textContent("#own-words")) ?? "";
  assert.equal(figure(words), figure(takes[0].words), "no other take was used");
  const [from, to] = words.match(/\d\.\d{3}/g)?.map(Number) ?? [];
  assert.ok(to < from, `held out: ${from} ${to}`);

  // The video from before is spoken again, in the learned voice.
  await idle(session);
  assert.equal(await page.inputValue("#speaker"), "");
  const after = await spoken(session);
  assert.equal(after.samples.length, before.samples.length);
  assert.notDeepEqual(after.samples, before.samples);
  // Both have the same words.
  t.diagnostic(`correlation of levels with the base's voice: ${similarity(after, before).toFixed(3)}`);
  assert.ok(similarity(after, before) > 0.8);
  await session.screenshot("teaching-learned");

  // The saved voice speaks the same after everything was deleted.
  const file = await download(page, "#own-download");
  t.diagnostic(`${(file.length / 1e6).toFixed(2)} MB`);
  await page.click("#own-forget");
  await page.waitForSelector("#own", { state: "hidden" });
  assert.equal(await page.locator("#takes > li").count(), 0);
  assert.equal(await page.locator("#speaker option").count(), 2);
  await page.setInputFiles("#own-file", { name: "letter.ownvoice-lips", mimeType: "", buffer: Buffer.from("This is a letter.") });
  await page.waitForSelector("#teach-error:not([hidden])");
  assert.equal(await page.textContent("#teach-error code"), "voice-corrupt");
  await page.setInputFiles("#own-file", { name: "me.ownvoice-lips", mimeType: "", buffer: Buffer.from(file) });
  await page.waitForSelector("#own:not([hidden])");
  await idle(session);
  const again = await spoken(session);
  t.diagnostic(`and of the file's with it: ${similarity(again, after).toFixed(4)}`);
  assert.ok(similarity(again, after) > 0.99);

  session.assertNoRequestsSince(loaded, "while it was taught");
  session.assertNothingLeft();
  session.assertQuiet();
});

test("a take is recorded by camera and microphone", { timeout: 5 * MINUTE, skip }, async (t) => {
  const camera = made("camera.y4m", "-i", SILENT, "-pix_fmt", "yuv420p");
  const session = await open({ camera, microphone: HEARD, viewport: PHONE });
  t.after(() => session.close());
  const { page } = session;
  const loaded = session.mark();
  await page.click("#teach-record");
  await page.waitForFunction(() => document.querySelector("#teach-record-words")?.textContent === "Stop", null, { timeout: MINUTE });
  await page.waitForTimeout(5000);
  await session.screenshot("teaching-recording-phone");
  await page.click("#teach-record");
  await idle(session);
  const take = (await page.textContent("#takes > li p")) ?? "";
  assert.match(take, /s to learn from/);
  t.diagnostic(take);
  assert.ok(figure(take) > 3, take);
  assert.equal(await page.textContent("#takes .name"), "Take 1");
  // It is too short to learn from.
  assert.equal(await page.isDisabled("#learn"), true);
  await clean(session, "a take");
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), PHONE.width, "nothing is wider than the window");
  await session.screenshot("teaching-take-phone");
  await page.click("#languages [lang=de]");
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), PHONE.width, "German is as narrow");
  session.assertNoRequestsSince(loaded, "while it was recorded");
  session.assertNothingLeft();
  session.assertQuiet();
});

test("denied access to camera and microphone is reported, and reading a video can be cancelled", { timeout: 2 * MINUTE, skip }, async (t) => {
  const session = await open({ permission: "deny" });
  t.after(() => session.close());
  const { page } = session;
  await page.click("#teach-record");
  await page.waitForSelector("#teach-error:not([hidden])");
  assert.equal(await page.textContent("#teach-error code"), "capture-denied");
  await page.setInputFiles("#teach-files", taughtVideo());
  await page.click("#teach-cancel");
  await page.waitForSelector("#teach-choose:not([hidden])");
  assert.equal(await page.locator("#takes > li").count(), 0);
  assert.equal(await page.isVisible("#teach-error"), false);
});
