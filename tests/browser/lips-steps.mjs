// The steps of a visitor on the page of lips, and the videos for them.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "./harness.mjs";
import { download, heard, ready, visit } from "./steps.mjs";

/** @import { Options, Session } from "./harness.mjs" */

const MINUTE = 60_000;

/** A video of a drawn face, and the speech that the command line makes from it; `lips-videos.mjs` makes both. */
export const SILENT = join(ROOT, "tests/fixtures/lips/silent.mp4");
export const HEARD = join(ROOT, "tests/fixtures/lips/heard.wav");
/** The voice of that speech. */
export const VOICE = "kokoro-af_heart";

/** Why tests that need ffmpeg to make other videos are skipped; false where they run. */
export const skip = spawnSync("ffmpeg", ["-version"]).error ? "ffmpeg is not installed" : false;
const folder = mkdtempSync(join(tmpdir(), "ownvoice-lips-"));

/** Makes a video by ffmpeg. @param {string} name @param {string[]} options Options of ffmpeg. */
export function made(name, ...options) {
  const path = join(folder, name);
  execFileSync("ffmpeg", ["-v", "error", "-y", ...options, path]);
  return path;
}

/** Opens the page and waits until it is ready. @param {Options} [options] */
export async function open(options) {
  const session = await visit({ path: "lips.html", ...options });
  await ready(session);
  await session.page.selectOption("#speaker", VOICE);
  return session;
}

/** Returns the speech of the page. @param {Session} session */
export async function spoken({ page }) {
  await page.waitForSelector("#speech:not([hidden]), #film-error:not([hidden]), #speak-error:not([hidden])", { timeout: 2 * MINUTE });
  assert.deepEqual(await page.locator("#film-error, #speak-error").allTextContents(), ["", ""]);
  return heard(await download(page, "#download"));
}
