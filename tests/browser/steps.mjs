// What a visitor does on the page, step by step, for the tests.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, open } from "./harness.mjs";
import { waveHeader } from "./wave.mjs";

/** @import { Options, Session } from "./harness.mjs" */
/** @import { Page } from "playwright-core" */

/** A voice that the base never heard, reading the sentences one after the other; `held-out.mjs` makes it. */
export const HELD_OUT = join(ROOT, "tests/fixtures/held-out.wav");
/** When each sentence begins and ends in it, in seconds. @type {{ id: string, text: string, begin: number, end: number }[]} */
export const SENTENCES = JSON.parse(readFileSync(join(ROOT, "tests/fixtures/held-out.json"), "utf8"));

export const DESKTOP = { width: 1280, height: 900 };
export const PHONE = { width: 390, height: 844 };

const MINUTE = 60_000;

/** A browser on the loaded page. @param {Options & { path?: string, tiny?: boolean }} [options] @returns {Promise<Session>} */
export async function visit({ path = "", tiny = false, flags = [], ...options } = {}) {
  // The browser's own question to its maker, whether it may fill text fields.
  const session = await open({ viewport: DESKTOP, ...options, flags: ["--disable-features=AutofillServerCommunication", ...flags] });
  if (tiny) await serveBase(session, join(ROOT, "tests/fixtures/tiny-base"));
  await session.goto(path);
  return session;
}

/** Puts another base voice in the place of the shipped one; what it lacks (lexicon, aligner) stays. @param {Session} session @param {string} folder */
export function serveBase(session, folder) {
  return session.context.route("**/models/base/*", (route) => {
    const path = join(folder, new URL(route.request().url()).pathname.split("/").at(-1) ?? "");
    return existsSync(path) ? route.fulfill({ path }) : route.continue();
  });
}

/** Until the page can be used, and nothing is on its way any more. @param {Session} session */
export async function ready({ page }) {
  await page.waitForFunction(() => document.body.dataset.phase !== "loading", null, { timeout: 2 * MINUTE });
  const failed = await page.textContent("#loading-error");
  assert.equal(failed, "", "the page loads");
  await page.waitForLoadState("networkidle");
}

/** Records sentences from the fake microphone, each while it is being read. @param {Page} page @param {number} count */
export async function record(page, count) {
  let opened = 0;
  for (const [index, { begin, end }] of SENTENCES.slice(0, count).entries()) {
    if (index > 0) {
      await page.click("#next");
      await page.waitForTimeout(Math.max(0, opened + begin * 1000 - Date.now()));
    }
    await page.click("#record-button");
    await page.waitForSelector("#record-button[aria-pressed=true]");
    opened ||= Date.now();
    await page.waitForTimeout(Math.max(0, opened + end * 1000 - Date.now()));
    await page.click("#record-button");
    await page.waitForSelector("#clip-words:is([data-state=good], [data-state=bad])");
    assert.match((await page.textContent("#clip-words")) ?? "", /^Good/, `sentence ${index + 1}`);
  }
}

/** The sound of one sentence. @param {{ begin: number, end: number }} sentence @returns {Buffer} 16-bit samples at 16 kHz. */
function sound({ begin, end }) {
  const at = (/** @type {number} */ seconds) => 44 + Math.round(seconds * 16_000) * 2;
  return readFileSync(HELD_OUT).subarray(at(begin), at(end));
}

/** Chooses the same sentences as files, with the texts in a metadata.csv. @param {Page} page @param {number} count */
export async function chooseFiles(page, count) {
  const files = SENTENCES.slice(0, count).map((sentence) => {
    const data = sound(sentence);
    return { name: `${sentence.id}.wav`, mimeType: "audio/wav", buffer: Buffer.concat([waveHeader(data.length, 16_000), data]) };
  });
  const table = SENTENCES.map(({ id, text }) => `${id}|${text}`).join("\n");
  await page.check("input[value=files]", { force: true });
  await page.setInputFiles("#file-input", [...files, { name: "metadata.csv", mimeType: "text/csv", buffer: Buffer.from(table) }]);
  await page.waitForFunction((count) => document.querySelectorAll("#file-list .verdict[data-state=good]").length === count, count);
}

/** Speaks the text in the box and returns what was heard. @param {Page} page @param {"base" | "mine"} which */
export async function speak(page, which) {
  await page.click(`#${which} .say`);
  await page.waitForSelector(`#${which} .play:not([hidden])`, { timeout: 3 * MINUTE });
  return download(page, `#${which} .download`);
}

/** The file that a click saves. @param {Page} page @param {string} selector */
export async function download(page, selector) {
  const [saved] = await Promise.all([page.waitForEvent("download"), page.click(selector)]);
  return readFileSync(await saved.path());
}

/** @param {Buffer} wav 16-bit mono @returns {{ rate: number, seconds: number, peak: number }} */
export function heard(wav) {
  assert.equal(wav.toString("latin1", 0, 4), "RIFF");
  const rate = wav.readUInt32LE(24);
  const samples = new Int16Array(wav.buffer.slice(wav.byteOffset + 44, wav.byteOffset + wav.length));
  return { rate, seconds: samples.length / rate, peak: samples.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0) / 32768 };
}

/** Loads the package in a document of the site that has no script of its own (`icon.svg`), with the first sentences as clips, for `run`.
 * @param {Session} session @param {number} count
 * @param {{ device?: "cpu" | "webgpu", before?: string }} [options] `before`: a script that the worker runs before its own */
export async function withPackage(session, count, { device = "cpu", before = "" } = {}) {
  const clips = SENTENCES.slice(0, count).map((sentence) => ({ text: sentence.text, samples: sound(sentence).toString("base64") }));
  const failed = await run(session, `globalThis.ownvoice = await import(new URL("js/index.js", location.href).href);
    const script = (text) => URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    const worker = new URL("js/worker.js", location.href).href;
    const workerUrl = input.before ? script(\`import "\${script(input.before)}"; import "\${worker}";\`) : undefined;
    globalThis.studio = await globalThis.ownvoice.load({ base: "models/base", device: input.device, workerUrl });
    globalThis.clips = input.clips.map(({ text, samples }) => {
      const bytes = Uint8Array.from(atob(samples), (letter) => letter.charCodeAt(0));
      return { text, samples: Float32Array.from(new Int16Array(bytes.buffer), (x) => x / 32768), sampleRate: 16000 };
    });
    globalThis.clip = globalThis.clips[0];`, { device, before, clips });
  assert.equal(failed, undefined);
}

/** Runs statements there, with `ownvoice`, `studio`, `clips`, `clip` and `input`. Returns what they return, or what names the error they throw.
 * @param {Session} session @param {string} body @param {any} [input] @returns {Promise<any>} */
export function run({ page }, body, input) {
  // A string and not a function: the page's policy forbids making functions of strings, but not the debugger.
  return page.evaluate(`(async () => {
    const input = ${JSON.stringify(input) ?? "undefined"};
    try { return await (async () => { ${body} })(); }
    catch ({ code, name, message }) { return { code, name, message }; }
  })()`);
}
