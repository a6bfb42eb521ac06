// The steps of a visitor on the page, for the tests.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, open } from "./harness.mjs";
import { waveHeader } from "./wave.mjs";

/** @import { Options, Session } from "./harness.mjs" */
/** @import { Page } from "playwright-core" */

/** A voice on which the base is not trained reads the sentences one after the other, and the consent; `held-out.mjs` makes the files. */
const HELD_OUT = join(ROOT, "tests/fixtures/held-out.wav");
const CONSENT = join(ROOT, "tests/fixtures/consent.wav");
/** The sample rate of the shipped base's speech: its vocoder's, which says none where it is that of the spectrograms. @type {number} */
export const SPEECH_RATE = (() => {
  const file = readFileSync(join(ROOT, "models/base/vocoder.safetensors"));
  const header = JSON.parse(file.toString("utf8", 8, 8 + Number(file.readBigUInt64LE())));
  return JSON.parse(JSON.parse(header.__metadata__.ownvoice).config).sample_rate_hz ?? 16_000;
})();
/** The sentences, and when each begins and ends in the file, in seconds. @type {{ id: string, text: string, begin: number, end: number }[]} */
export const SENTENCES = JSON.parse(readFileSync(join(ROOT, "tests/fixtures/held-out.json"), "utf8"));

export const DESKTOP = { width: 1280, height: 900 };
export const PHONE = { width: 390, height: 844 };

const MINUTE = 60_000;

/** Starts a browser and loads the page; `prepare` is called before. @param {Options & { path?: string, tiny?: boolean, prepare?: (session: Session) => unknown }} [options]
 * @returns {Promise<Session>} */
export async function visit({ path = "", tiny = false, flags = [], prepare, ...options } = {}) {
  // Disables a request of the browser itself about filling in text fields.
  const session = await open({ viewport: DESKTOP, ...options, flags: ["--disable-features=AutofillServerCommunication", ...flags] });
  if (tiny) serveBase(session, "tiny");
  openSteps(session.page);
  await prepare?.(session);
  await session.goto(path);
  return session;
}

/** Longest time until the page shows the line of steps, in milliseconds: it may be restarting. */
const WAY_MS = 10_000;

/** Opens the step in which an element is, by the page's line of steps, where another one is shown. @param {Page} page @param {string} selector */
export async function openStep(page, selector) {
  const hidden = (/** @type {string} */ selector) => {
    const step = document.querySelector(selector)?.closest("#steps > .step");
    if (!step || step.checkVisibility()) return "none";
    return document.querySelector("#way")?.checkVisibility() && step.id;
  };
  // Selectors of Playwright's own name no step, and fail.
  const found = await page.waitForFunction(hidden, selector, { timeout: WAY_MS }).catch(() => null);
  const step = await found?.jsonValue();
  if (step && step !== "none") await page.click(`#way [data-step=${step}]`);
}

/** From now on, what a test does with a control is done as by a visitor, who sees one step at a time: the control's step is opened before. @param {Page} page */
export function openSteps(page) {
  for (const name of /** @type {const} */ (["click", "check", "fill", "focus", "press", "setInputFiles"])) {
    const act = /** @type {(...rest: any[]) => Promise<any>} */ (page[name].bind(page));
    /** @type {any} */ (page)[name] = async (/** @type {string} */ selector, /** @type {any[]} */ ...rest) => {
      await openStep(page, selector);
      return act(selector, ...rest);
    };
  }
}

/** The base voice of most tests, which learns in seconds. */
const TINY = join(ROOT, "tests/fixtures/tiny-base");

/** Serves the tiny base voice in place of the shipped one, or the shipped one again. Lexicon and aligner are always those of the shipped one.
 * @param {Session} session @param {"tiny" | null} which */
export function serveBase(session, which) {
  for (const file of readdirSync(TINY)) session.change(`models/base/${file}`, which && (() => readFileSync(join(TINY, file))));
}

/** Waits until the page can be used and nothing is being fetched. @param {{ page: Page }} session */
export async function ready({ page }) {
  await page.waitForFunction(() => document.body.dataset.phase !== "loading", null, { timeout: 2 * MINUTE });
  const failed = await page.textContent("#loading-error");
  assert.equal(failed, "", "the page loads");
  await page.waitForLoadState("networkidle");
}

/** Returns the sound of a sentence, or of the consent. @param {number | "consent"} which @returns {Buffer} 16-bit samples at 16 kHz. */
export function sound(which) {
  if (which === "consent") return readFileSync(CONSENT).subarray(44);
  const { begin, end } = SENTENCES[which];
  const at = (/** @type {number} */ seconds) => 44 + Math.round(seconds * 16_000) * 2;
  return readFileSync(HELD_OUT).subarray(at(begin), at(end));
}

/** Returns text and sound of a sentence. @param {number} index @returns {{ text: string, samples: Buffer }} */
export const spokenSamples = (index) => ({ text: SENTENCES[index].text, samples: sound(index) });

/** Makes a WAV file of 16-bit samples at 16 kHz. @param {Buffer} samples @returns {Buffer} */
export const wav = (samples) => Buffer.concat([waveHeader(samples.length, 16_000), samples]);

/** The sound file of the fake microphone, and when each part of it should be recorded. @typedef {{ path: string, parts: { begin: number, end: number }[] }} Spoken */

/** Silence between two sentences, in seconds: a slow machine needs time to click. */
const GAP = 4;

/** @param {(number | "consent")[]} order @returns {Spoken} */
export function spoken(order) {
  const path = join(mkdtempSync(join(tmpdir(), "ownvoice-microphone-")), "microphone.wav");
  const silence = Buffer.alloc(GAP * 16_000 * 2);
  const sounds = order.map(sound);
  writeFileSync(path, wav(Buffer.concat(sounds.flatMap((samples) => [silence, samples]))));
  let at = 0;
  const parts = sounds.map(({ length }) => {
    const begin = at + GAP / 2;
    at += GAP + length / 2 / 16_000;
    return { begin, end: at + GAP / 5 };
  });
  // The microphone opens when the first recording starts.
  return { path, parts: [{ ...parts[0], begin: 0 }, ...parts.slice(1)] };
}

/** Consent and the first sentences, as the sound of the microphone. @param {number} count */
export const inOrder = (count) => spoken(["consent", ...Array(count).keys()]);

/** Waits until the microphone has reached a time of its file. @param {Page} page @param {number} seconds */
export async function heardTo(page, seconds) {
  await page.waitForFunction((seconds) => /** @type {any} */ (window).microphoneSeconds >= seconds, seconds, { polling: 20, timeout: 120_000 });
}

/** Records the cards from the fake microphone, each while its sentence is played, beginning with the first.
 * @param {Page} page @param {Spoken["parts"]} parts */
export async function record(page, parts) {
  for (const [index, { begin, end }] of parts.entries()) {
    if (index > 0) {
      await page.click("#next");
      await heardTo(page, begin);
    }
    await page.click("#record-button");
    await page.waitForSelector("#record-button[aria-pressed=true]");
    await heardTo(page, end);
    await page.click("#record-button");
    await page.waitForSelector("#clip-words:is([data-state=good], [data-state=bad])");
    assert.match((await page.textContent("#clip-words")) ?? "", /^Good/, `card ${index + 1}`);
  }
}

/** Chooses the same sentences as files, with the texts in a metadata.csv. @param {Page} page @param {number} count */
export async function chooseFiles(page, count) {
  const files = SENTENCES.slice(0, count).map(({ id }, index) => ({ name: `${id}.wav`, mimeType: "audio/wav", buffer: wav(sound(index)) }));
  const table = SENTENCES.map(({ id, text }) => `${id}|${text}`).join("\n");
  // Who has come back with a voice sees at first only that.
  if (await page.isHidden("#way")) await page.click("#another");
  await page.check("input[value=files]", { force: true });
  await page.setInputFiles("#file-input", [...files, { name: "metadata.csv", mimeType: "text/csv", buffer: Buffer.from(table) }]);
  await page.waitForFunction((count) => document.querySelectorAll("#file-list .verdict[data-state=good]").length === count, count);
  await page.check("#files-agreed");
}

/** Waits until the training has ended with a voice. @param {Page} page @param {number} [timeout] in milliseconds */
export const learned = (page, timeout = MINUTE) =>
  page.waitForFunction(() => /^Your voice is ready/.test(document.querySelector("#train-words")?.textContent ?? ""), null, { timeout });

/** Waits until the page shows an iteration. @param {Page} page @param {number} iteration @param {number} [timeout] in milliseconds */
export const trained = (page, iteration, timeout = 2 * MINUTE) =>
  page.waitForFunction((iteration) => Number(document.querySelector("#train-iteration")?.textContent?.match(/^Iteration (\d+) /)?.[1]) >= iteration, iteration, { timeout, polling: 20 });

/** Learns a voice from two files, and stops after an iteration. @param {Page} page @param {number} iteration */
export async function learnBriefly(page, iteration) {
  await chooseFiles(page, 2);
  await page.click("#train-start");
  await trained(page, iteration);
  await page.click("#train-stop");
  await learned(page);
}

/** From now on, records each iteration that the page shows, however short. @param {Page} page */
export const note = (page) =>
  page.evaluate(() => {
    const noted = (/** @type {any} */ (globalThis).noted = /** @type {string[]} */ ([]));
    const words = /** @type {Element} */ (document.querySelector("#train-iteration"));
    new MutationObserver(() => noted.push(words.textContent ?? "")).observe(words, { childList: true, characterData: true, subtree: true });
  });

/** Returns the recorded iterations. @param {Page} page @returns {Promise<number[]>} */
export async function noted(page) {
  const words = /** @type {string[]} */ (await page.evaluate("noted"));
  return words.flatMap((said) => said.match(/^Iteration (\d+) /)?.[1] ?? []).map(Number);
}

/** Speaks the text and returns the sound. @param {Page} page @param {"base" | "mine"} which */
export async function speak(page, which) {
  await page.click(`#${which} .say`);
  await page.waitForSelector(`#${which} .download:not([hidden])`, { timeout: 3 * MINUTE });
  return download(page, `#${which} .download`);
}

/** Clicks and returns the downloaded file. @param {Page} page @param {string} selector */
export async function download(page, selector) {
  const [saved] = await Promise.all([page.waitForEvent("download"), page.click(selector)]);
  return readFileSync(await saved.path());
}

/** @param {Buffer} wav 16-bit mono @returns {{ rate: number, samples: Int16Array, seconds: number, peak: number, notes: { [name: string]: string } }} */
export function heard(wav) {
  const found = chunks(wav, 12, wav.length);
  assert.equal(wav.toString("latin1", 0, 4) + wav.toString("latin1", 8, 12), "RIFFWAVE");
  assert.equal(wav.readUInt32LE(4), wav.length - 8);
  const rate = found["fmt "].readUInt32LE(4);
  const data = found["data"];
  const samples = new Int16Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.length));
  const notes = found["LIST"] ? chunks(found["LIST"], 4, found["LIST"].length) : {};
  const words = Object.entries(notes).map(([name, bytes]) => [name, bytes.toString("utf8").replace(/\0$/, "")]);
  return { rate, samples, seconds: samples.length / rate, peak: samples.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0) / 32768, notes: Object.fromEntries(words) };
}

/** @param {Buffer} bytes @param {number} from @param {number} to @returns {{ [name: string]: Buffer }} */
function chunks(bytes, from, to) {
  /** @type {{ [name: string]: Buffer }} */
  const found = {};
  for (let at = from; at < to; ) {
    const length = bytes.readUInt32LE(at + 4);
    found[bytes.toString("latin1", at, at + 4)] = bytes.subarray(at + 8, at + 8 + length);
    at += 8 + length + (length % 2);
  }
  return found;
}

/** Loads the package in a document without scripts (`icon.svg`), with the first sentences as clips, for `run`.
 * @param {Session} session @param {number} count @param {"cpu" | "webgpu"} [device] @param {number} [cores] */
export async function withPackage(session, count, device = "cpu", cores) {
  const clips = Array.from({ length: count }, (_, index) => spokenSamples(index)).map(({ text, samples }) => ({ text, samples: samples.toString("base64") }));
  const failed = await run(session, `globalThis.ownvoice = await import(new URL("js/index.js", location.href).href);
    globalThis.studio = await globalThis.ownvoice.load({ base: "models/base", device: input.device, cores: input.cores });
    globalThis.clips = input.clips.map(({ text, samples }) => {
      const bytes = Uint8Array.from(atob(samples), (letter) => letter.charCodeAt(0));
      return { text, samples: Float32Array.from(new Int16Array(bytes.buffer), (x) => x / 32768), sampleRate: 16000 };
    });
    globalThis.clip = globalThis.clips[0];`, { device, clips, cores });
  assert.equal(failed, undefined);
}

/** Runs statements there, with `ownvoice`, `studio`, `clips`, `clip` and `input`. Returns their result, or code, name and message of an error.
 * @param {{ page: Page }} session @param {string} body @param {any} [input] @returns {Promise<any>} */
export function run({ page }, body, input) {
  // A string, because the page's policy forbids functions made of strings, but not to the debugger.
  return page.evaluate(`(async () => {
    const input = ${JSON.stringify(input) ?? "undefined"};
    try { return await (async () => { ${body} })(); }
    catch ({ code, name, message }) { return { code, name, message }; }
  })()`);
}

/** Returns the files in the private file system of the page, with their sizes. @param {{ page: Page }} session @returns {Promise<{ [path: string]: number }>} */
export const storedFiles = (session) =>
  run(
    session,
    `const found = {};
    const walk = async (folder, path) => {
      for await (const [name, entry] of folder.entries()) {
        if (entry.kind === "directory") await walk(entry, path + name + "/");
        else found[path + name] = (await entry.getFile()).size;
      }
    };
    await walk(await navigator.storage.getDirectory(), "");
    return found;`,
  );
