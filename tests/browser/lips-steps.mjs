// What a visitor does on the page of lips, step by step, and the videos for it.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "./harness.mjs";
import { download, heard, ready, visit } from "./steps.mjs";

/** @import { Options, Session } from "./harness.mjs" */

const MINUTE = 60_000;

/** A drawn face, and what the command line hears of it; `lips-videos.mjs` makes both. */
export const SILENT = join(ROOT, "tests/fixtures/lips/silent.mp4");
export const HEARD = join(ROOT, "tests/fixtures/lips/heard.wav");
/** Its voice. */
export const VOICE = "flite-slt";

/** Why tests of videos that ffmpeg makes of that one are skipped; false where they run. */
export const skip = spawnSync("ffmpeg", ["-version"]).error ? "ffmpeg is not installed" : false;
const folder = mkdtempSync(join(tmpdir(), "ownvoice-lips-"));

/** Another file. @param {string} name @param {string[]} options Of ffmpeg. */
export function made(name, ...options) {
  const path = join(folder, name);
  execFileSync("ffmpeg", ["-v", "error", "-y", ...options, path]);
  return path;
}

/** The page, ready. @param {Options} [options] */
export async function open(options) {
  const session = await visit({ path: "lips.html", ...options });
  await ready(session);
  await session.page.selectOption("#speaker", VOICE);
  return session;
}

/** What is spoken now. @param {Session} session */
export async function spoken({ page }) {
  await page.waitForSelector("#speech:not([hidden]), #film-error:not([hidden]), #speak-error:not([hidden])", { timeout: 2 * MINUTE });
  assert.deepEqual(await page.locator("#film-error, #speak-error").allTextContents(), ["", ""]);
  return heard(await download(page, "#download"));
}
