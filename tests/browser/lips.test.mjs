// The page of lips turns a silent video, from a file or from the camera, into speech. Nothing leaves the page, and the other page fetches nothing of it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { clean } from "./axe.mjs";
import { correlation, levels } from "./levels.mjs";
import { HEARD, SILENT, made, open, skip, spoken } from "./lips-steps.mjs";
import { DESKTOP, PHONE, SPEECH_RATE, heard, ready, visit } from "./steps.mjs";

/** @import { Session } from "./harness.mjs" */

const MINUTE = 60_000;

/** The speech that the command line makes. */
const WANTED = heard(readFileSync(HEARD));
/** The pause between two repetitions of the sentence in front of the camera. */
const PAUSE_SECONDS = 1.2;
/** The best correlation of a part of a sound with the speech of the command line, up to 1. @param {{ rate: number, samples: Int16Array }} sound*/
function likeness(sound) {
  const [whole, wanted] = [levels(sound), levels(WANTED)];
  const places = Array.from({ length: Math.max(1, whole.length - wanted.length + 1) }, (_, at) => correlation(whole.slice(at, at + wanted.length), wanted));
  return Math.max(...places);
}

test("a silent video is spoken as by the command line, and nothing leaves the page", { timeout: 5 * MINUTE }, async (t) => {
  const session = await open();
  t.after(() => session.close());
  const { page } = session;
  const loaded = session.mark();
  await page.setInputFiles("#file", SILENT);
  await page.waitForFunction(() => document.querySelector("#film-faces")?.textContent === "One face was found.");
  const sound = await spoken(session);
  assert.equal(sound.rate, SPEECH_RATE);
  assert.ok(Math.abs(sound.seconds - WANTED.seconds) < 0.25, `${sound.seconds} s`);
  assert.match(sound.notes.ICMT, /^Synthetic speech/);
  const like = likeness(sound);
  t.diagnostic(`correlation of levels with the command line's: ${like.toFixed(3)}`);
  assert.ok(like > 0.9, `${like}`);
  await session.screenshot("lips-file");

  // Another voice speaks it too, and playing ends.
  await page.selectOption("#speaker", { index: 1 });
  await page.click("#speak");
  const other = await spoken(session);
  assert.notDeepEqual(other.samples, sound.samples);
  await page.click("#play");
  assert.equal(await page.textContent("#play"), "Pause");
  await page.waitForFunction(() => document.querySelector("#play")?.textContent === "Play", null, { timeout: MINUTE });
  session.assertNoRequestsSince(loaded, "while a video was read and spoken");
  session.assertNothingLeft();
  session.assertQuiet();
});

test("a face in front of the camera is spoken, and nothing leaves the page", { timeout: 5 * MINUTE, skip }, async (t) => {
  // The camera shows the video in a loop. Without the wall in between, sentences would start in their middle, which no training had.
  const wall = ["-f", "lavfi", "-i", `color=c=gray:s=320x240:r=25:d=${PAUSE_SECONDS}`];
  const after = "[0]format=yuv420p[a];[1]setpts=PTS-STARTPTS,format=yuv420p[b];[a][b]concat";
  const camera = made("camera.y4m", ...wall, "-i", SILENT, "-filter_complex", after);
  const session = await open({ camera });
  t.after(() => session.close());
  const { page } = session;
  const loaded = session.mark();
  await page.click("#film-record");
  await page.waitForFunction(() => document.querySelector("#film-faces")?.textContent === "One face was found.", null, { timeout: MINUTE });
  assert.equal(await page.textContent("#record-words"), "Stop");
  await session.screenshot("lips-camera");
  // Long enough for one whole sentence, wherever the loop is.
  const seconds = 2 * WANTED.seconds + PAUSE_SECONDS + 0.5;
  await page.waitForTimeout(seconds * 1000);
  await page.click("#film-record");
  const sound = await spoken(session);
  assert.ok(sound.seconds > seconds, `${sound.seconds} s`);
  const like = likeness(sound);
  t.diagnostic(`correlation of levels with the command line's: ${like.toFixed(3)}`);
  assert.ok(like > 0.7, `${like}`);
  session.assertNoRequestsSince(loaded, "while it was filmed and spoken");
  session.assertNothingLeft();
  session.assertQuiet();
});

describe("a video that cannot be spoken is refused with a code", () => {
  /** @type {Session} */
  let session;
  before(async () => {
    session = await open();
  });
  after(() => session.close());

  /** @param {string | { name: string, mimeType: string, buffer: Buffer }} file @param {string} code @param {"film" | "speak"} [where] */
  async function refused(file, code, where = "speak") {
    const { page } = session;
    await page.setInputFiles("#file", file);
    await page.waitForSelector(`#${where}-error:not([hidden])`, { timeout: MINUTE });
    assert.equal(await page.textContent(`#${where}-error code`), code);
    assert.equal(await page.isVisible("#speech"), false);
  }

  test("a file that is not a video, and one with sound only", { timeout: MINUTE }, async () => {
    await refused({ name: "letter.mp4", mimeType: "video/mp4", buffer: Buffer.from("This is a letter.") }, "video-unreadable", "film");
    await refused(HEARD, "video-unreadable", "film");
  });
  test("no face, two faces, a cut, too short, too long", { timeout: 3 * MINUTE, skip }, async () => {
    await refused(made("wall.mp4", "-f", "lavfi", "-i", "color=c=gray:s=240x240:r=25:d=1.6", "-pix_fmt", "yuv420p"), "no-face");
    assert.equal(await session.page.textContent("#film-faces"), "There is no face in the picture.");
    const two = "crop=200:240,split[a][b];[a][b]hstack";
    await refused(made("two.mp4", "-t", "1.6", "-i", SILENT, "-filter_complex", two, "-pix_fmt", "yuv420p"), "several-faces");
    assert.equal(await session.page.textContent("#film-faces"), "There is more than one face in the picture.");
    await session.screenshot("lips-two-faces");
    const cut = "[0]trim=end=0.8,setpts=PTS-STARTPTS[a];[1]trim=end=0.8,setpts=PTS-STARTPTS,lutyuv=y=val*0.6[b];[a][b]concat";
    await refused(made("cut.mp4", "-i", SILENT, "-i", SILENT, "-filter_complex", cut, "-pix_fmt", "yuv420p"), "video-cut");
    await refused(made("short.mp4", "-t", "0.6", "-i", SILENT, "-pix_fmt", "yuv420p"), "clip-too-short");
    await refused(made("long.mp4", "-f", "lavfi", "-i", "color=c=gray:s=64x64:r=5:d=40", "-pix_fmt", "yuv420p"), "clip-too-long", "film");
  });
  test("the next video is spoken", { timeout: 2 * MINUTE }, async () => {
    await session.page.setInputFiles("#file", SILENT);
    assert.ok(likeness(await spoken(session)) > 0.9);
    session.assertNothingLeft();
    session.assertQuiet();
  });
});

test("a stretch without a face is silent, and is listed", { timeout: 2 * MINUTE, skip }, async (t) => {
  const session = await open();
  t.after(() => session.close());
  const after = "[0]setpts=PTS-STARTPTS,format=yuv420p[a];[1]format=yuv420p[b];[a][b]concat";
  const wall = ["-f", "lavfi", "-i", "color=c=gray:s=320x240:r=25:d=1"];
  await session.page.setInputFiles("#file", made("after.mp4", "-i", SILENT, ...wall, "-filter_complex", after));
  const sound = await spoken(session);
  assert.ok(sound.samples.subarray(-0.6 * sound.rate).every((sample) => sample === 0), "the end is silent");
  assert.match((await session.page.textContent("#left-out")) ?? "", /^Silent from 2\.\d to 3\.\d s: .* no-face$/);
});

test("denied access to the camera is reported, and reading can be cancelled", { timeout: 2 * MINUTE }, async (t) => {
  const session = await open({ permission: "deny" });
  t.after(() => session.close());
  const { page } = session;
  await page.click("#film-record");
  await page.waitForSelector("#film-error:not([hidden])");
  assert.equal(await page.textContent("#film-error code"), "camera-denied");
  await page.setInputFiles("#file", SILENT);
  await page.click("#film-cancel");
  await page.waitForSelector("#film-choose:not([hidden])");
  assert.equal(await page.textContent("#film-words"), "No video yet.");
  assert.equal(await page.isVisible("#film-error"), false);
  assert.equal(await page.isDisabled("#speak"), true);
});

for (const [name, viewport] of /** @type {const} */ ([["desktop", DESKTOP], ["phone", PHONE]])) {
  test(`axe finds nothing, and the page works by keyboard, ${name}`, { timeout: 3 * MINUTE }, async (t) => {
    const session = await open({ viewport });
    t.after(() => session.close());
    const { page } = session;
    await clean(session, "loaded");
    await page.setInputFiles("#file", SILENT);
    await spoken(session);
    await clean(session, "spoken");
    await session.screenshot(`lips-${name}`);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), viewport.width, "nothing is wider than the window");
    /** @param {string} selector */
    const tabTo = async (selector) => {
      for (let i = 0; i < 30; i++) {
        if (await page.evaluate((selector) => document.activeElement?.matches(selector), selector)) return;
        await page.keyboard.press("Tab");
      }
      assert.fail(`${selector} cannot be reached by Tab`);
    };
    for (const selector of ["#film-record", "#file", "#speaker", "#speak", "#play", "#download"]) await tabTo(selector);
    await page.click("#languages [lang=de]");
    assert.equal(await page.textContent("#film-title"), "Ein Gesicht zeigen");
    assert.equal(await page.getAttribute("html", "lang"), "de");
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), viewport.width, "German is as narrow");
    await session.screenshot(`lips-${name}-german`);
    session.assertQuiet();
  });
}

test("the page of voices fetches nothing of lips", { timeout: 3 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true, serviceWorker: true });
  t.after(() => session.close());
  await ready(session);
  // Until everything is cached that the page needs without the internet.
  await session.page.waitForSelector("#offline-words:not([hidden])", { timeout: MINUTE });
  const asked = session.requests.map(({ url }) => new URL(url).pathname);
  assert.ok(asked.length > 20);
  assert.deepEqual(asked.filter((path) => path.includes("lips")), []);
  // The page of lips works beside the cached files.
  await session.goto("lips.html");
  await ready(session);
  assert.equal(await session.page.textContent("#film-title"), "Show a face");
  session.assertQuiet();
});
