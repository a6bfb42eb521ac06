// The steps of a visitor on the page of things, and what the camera shows there.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ready, visit } from "./steps.mjs";

/** @import { Options, Session } from "./harness.mjs" */

const MINUTE = 60_000;

/** Why tests of the page are skipped: ffmpeg draws the things. False where they run. */
export const skip = spawnSync("ffmpeg", ["-version"]).error ? "ffmpeg is not installed" : false;
const folder = mkdtempSync(join(tmpdir(), "ownvoice-things-"));

/** Things that the camera sees turning: sources and filters of ffmpeg. */
const THINGS = {
  Bars: "smptebars=s=480x480:r=15",
  Fractal: "mandelbrot=s=480x480:r=15:start_scale=1.2:end_pts=400",
  Cells: "cellauto=s=480x480:r=15:rule=110",
};
/** @typedef {keyof typeof THINGS} Thing */
/** Colours beside the square that the net sees, by which a test knows what the camera shows. @type {{ [thing in Thing]: string }} */
const MARKS = { Bars: "red", Fractal: "green", Cells: "blue" };
const TURNING = "rotate=a=0.3*sin(1.3*t):c=gray,crop=300:300:90+40*sin(t):90+40*cos(1.7*t),scale=240:240,setsar=1";
const SECONDS = 5;

/** Makes a file by ffmpeg. @param {string} name @param {string[]} options */
function made(name, ...options) {
  const path = join(folder, name);
  execFileSync("ffmpeg", ["-v", "error", "-y", ...options, path]);
  return path;
}

/** Makes the film of a camera that shows some things in turn. @param {Thing[]} things */
export function filmOf(...things) {
  const inputs = things.flatMap((thing) => ["-f", "lavfi", "-t", `${SECONDS}`, "-i", THINGS[thing]]);
  const turned = things.map((thing, index) => `[${index}]${TURNING},pad=320:240:40:0:${MARKS[thing]}[v${index}]`);
  const filter = `${turned.join(";")};${things.map((_, index) => `[v${index}]`).join("")}concat=n=${things.length},format=yuv420p`;
  return made(`${things.join("-")}.y4m`, ...inputs, "-filter_complex", filter);
}

/** Makes photographs of a thing, from several sides. @param {Thing} thing @param {number} count */
export function photographs(thing, count) {
  made(`${thing}-%02d.jpg`, "-f", "lavfi", "-t", "4", "-i", THINGS[thing], "-vf", `${TURNING},fps=${count / 4}`, "-frames:v", `${count}`);
  return Array.from({ length: count }, (_, index) => join(folder, `${thing}-${`${index + 1}`.padStart(2, "0")}.jpg`));
}

/** Makes a picture of one colour. @param {string} size */
export const plain = (size) => made(`${size}.png`, "-f", "lavfi", "-i", "color=c=orange:s=64x64", "-vf", `scale=${size.replace("x", ":")}`, "-frames:v", "1");

/** Opens the page and waits until it is ready. @param {Options & { prepare?: (session: Session) => unknown }} [options] */
export async function open(options) {
  const session = await visit({ path: "nets.html", ...options });
  await ready(session);
  return session;
}

/** Waits until the page is idle. @param {Session} session */
export const idle = ({ page }) => page.waitForFunction(() => !(/** @type {HTMLButtonElement} */ (document.querySelector("#open-file")).disabled), null, { timeout: 3 * MINUTE });

/** Waits until the camera shows a thing, and has for a moment. @param {Session} session @param {Thing} thing @param {"#view" | "#see-view"} [view] */
export async function shows({ page }, thing, view = "#view") {
  await page.waitForFunction(
    ({ view, mark }) => {
      const video = /** @type {HTMLVideoElement} */ (document.querySelector(view));
      const canvas = new OffscreenCanvas(1, 1);
      const context = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext("2d"));
      if (!video.videoWidth) return false;
      context.drawImage(video, 5, 100, 20, 20, 0, 0, 1, 1);
      const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
      const now = red > 150 ? "red" : blue > 150 ? "blue" : green > 80 ? "green" : "";
      const self = /** @type {any} */ (globalThis);
      // The mark may only just have come, or be about to go.
      if (now !== self.marked) Object.assign(self, { marked: now, markedMs: performance.now() });
      const sinceMs = performance.now() - self.markedMs;
      return now === mark && sinceMs > 300 && sinceMs < 1500;
    },
    { view, mark: MARKS[thing] },
    { timeout: MINUTE, polling: 50 },
  );
}

/** The row of a thing. @param {number} index */
export const row = (index) => `#things > li:nth-child(${index + 1})`;

/** Writes the name of a thing. @param {Session} session @param {number} index @param {string} name */
export async function call({ page }, index, name) {
  await page.fill(`${row(index)} [data-action=name]`, name);
  await page.press(`${row(index)} [data-action=name]`, "Tab");
}

/** Films a thing when the camera shows it. @param {Session} session @param {number} index @param {Thing} thing */
export async function filmThing(session, index, thing) {
  await call(session, index, thing);
  await shows(session, thing);
  await session.page.click(`${row(index)} [data-action=film]`);
  await session.page.waitForFunction((row) => /10 pictures/.test(document.querySelector(`${row} .small`)?.textContent ?? ""), row(index), { timeout: MINUTE });
  await idle(session);
}

/** Adds photographs of things. @param {Session} session @param {Thing[]} things @param {number} [count] */
export async function addPhotographs(session, things, count = 8) {
  for (const [index, thing] of things.entries()) {
    if ((await session.page.locator("#things > li").count()) <= index) await session.page.click("#more");
    await call(session, index, thing);
    await session.page.setInputFiles(`${row(index)} [data-action=files]`, photographs(thing, count));
    await session.page.waitForFunction(({ row, count }) => document.querySelectorAll(`${row} img`).length === count, { row: row(index), count }, { timeout: MINUTE });
    await idle(session);
  }
}

/** Waits until the page has learned, and returns what it says of that. @param {Session} session */
export async function learned(session) {
  await session.page.waitForFunction(() => /^It has learned/.test(document.querySelector("#learn-words")?.textContent ?? "") || Boolean(document.querySelector("#learn-error:not([hidden])")), null, { timeout: 3 * MINUTE });
  assert.equal(await session.page.textContent("#learn-error"), "");
  await idle(session);
  return (await session.page.textContent("#learn-words")) ?? "";
}

/** Waits until the page names something. @param {Session} session @param {string} name */
export const named = ({ page }, name) => page.waitForFunction((name) => document.querySelector("#see-named")?.textContent?.startsWith(`${name}, `), name, { timeout: MINUTE, polling: 50 });

/** Names a picture of a file, and returns name and percentage. @param {Session} session @param {string} path */
export async function look({ page }, path) {
  // The name of the picture before stands until this one is read: it is cleared before the new one is shown.
  const named = await page.locator("#see-named").evaluateHandle((element) => {
    /** @type {{ isCleared: boolean }} */
    const watched = { isCleared: element.textContent === "" };
    new MutationObserver(() => (watched.isCleared ||= element.textContent === "")).observe(element, { childList: true, characterData: true, subtree: true });
    return watched;
  });
  await page.setInputFiles("#see-file", path);
  await page.waitForFunction((watched) => (watched.isCleared && /%/.test(document.querySelector("#see-named")?.textContent ?? "")) || document.querySelector("#see-error:not([hidden])"), named, { timeout: MINUTE });
  const [, name, percent] = ((await page.textContent("#see-named")) ?? "").match(/^(.*), (\d+) %$/) ?? [];
  return { name, percent: Number(percent) };
}

/** Reads a safetensors file: names, shapes and metadata. @param {Buffer} file */
export function tensorsOf(file) {
  const { __metadata__: metadata, ...tensors } = JSON.parse(file.toString("utf8", 8, 8 + Number(file.readBigUInt64LE())));
  return { metadata, tensors };
}
