// Recordings from files: the formats of phones and recorders, videos, a folder, the clipboard, a whole minute in one file. recordings.mjs makes the files.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { clean } from "./axe.mjs";
import { ROOT } from "./harness.mjs";
import { PHONE, SENTENCES, heard, learned, openStep, ready, sound, speak, storedFiles, visit, wav } from "./steps.mjs";

/** @import { Page } from "playwright-core" */

const MINUTE = 60_000;
const FOLDER = join(ROOT, "tests/fixtures/recordings");
const read = (/** @type {string} */ name) => ({ name, mimeType: "", buffer: readFileSync(join(FOLDER, name)) });

/** Opens the page and chooses files as the source. @param {import("node:test").TestContext} t @param {Parameters<typeof visit>[0]} [options] */
async function withFiles(t, options) {
  const session = await visit({ device: "cpu", tiny: true, ...options });
  t.after(() => session.close());
  await ready(session);
  await session.page.check("input[value=files]", { force: true });
  return session;
}

/** Returns name and verdict of each row. @param {Page} page @param {number} count */
async function rows(page, count) {
  await page.waitForFunction((count) => {
    const all = [...document.querySelectorAll("#file-list li")];
    return all.length === count && all.every((row) => row.querySelector("[data-state=good], [data-state=bad], .failure"));
  }, count, { timeout: MINUTE });
  return page.$$eval("#file-list li", (all) => all.map((row) => [row.querySelector(".name")?.textContent ?? "", row.querySelector(".verdict, .failure")?.textContent ?? ""]));
}

test("each format is decoded, and matches its text", { timeout: 3 * MINUTE }, async (t) => {
  const { page } = await withFiles(t);
  const formats = readdirSync(FOLDER).filter((name) => name.startsWith("p01"));
  assert.deepEqual(formats.map((name) => name.split(".")[1]).sort(), ["flac", "m4a", "mp3", "mp4", "ogg", "opus", "wav", "webm", "webm"]);
  // With equal names, each file would replace the one before.
  const files = formats.map((name, index) => ({ ...read(name), name: `${index}-${name}` }));
  const table = files.map(({ name }) => `${name.replace(/\.[^.]*$/, "")}|${SENTENCES[0].text}`).join("\n");
  await page.setInputFiles("#file-input", [...files, { name: "metadata.csv", mimeType: "text/csv", buffer: Buffer.from(table) }]);
  for (const [name, verdict] of await rows(page, files.length)) assert.match(verdict, /^Good: [56]\.\d s of speech/, name);
});

test("files without sound, too long or too large are refused by name before they are decoded", { timeout: 2 * MINUTE }, async (t) => {
  const session = await withFiles(t);
  const { page } = session;
  await page.evaluate(() => {
    const { decodeAudioData } = OfflineAudioContext.prototype;
    /** @type {any} */ (globalThis).decoded = 0;
    OfflineAudioContext.prototype.decodeAudioData = function (...args) {
      /** @type {any} */ (globalThis).decoded++;
      return decodeAudioData.apply(this, args);
    };
    Object.defineProperty(File.prototype, "size", { get() { return this.name === "large.mov" ? 3e8 : 1e5; } });
  });
  const letter = { name: "letter.mp3", mimeType: "audio/mpeg", buffer: Buffer.from("This is a letter, and no sound at all.") };
  await page.setInputFiles("#file-input", [read("damaged.mp3"), letter, read("long.ogg"), { ...letter, name: "large.mov" }]);
  const found = await rows(page, 4);
  assert.deepEqual(found.map(([name]) => name).sort(), ["damaged.mp3", "large.mov", "letter.mp3", "long.ogg"]);
  const said = Object.fromEntries(found);
  for (const name of ["damaged.mp3", "letter.mp3"]) assert.match(said[name], /cannot read any sound.*audio-unreadable/, name);
  assert.match(said["long.ogg"], /^Too long: 130\.\d s.*clip-too-long/);
  assert.match(said["large.mov"], /^Too large: 300\.0 MB.*file-too-large/);
  assert.equal(await page.evaluate("decoded"), 0);
  await clean(session, "files that are refused");
  // A corrected file replaces its error.
  await page.setInputFiles("#file-input", [{ ...read("p01.mp3"), name: "letter.mp3" }]);
  await page.waitForSelector("#file-list [data-state=good]");
  assert.match((await rows(page, 4)).find(([name]) => name === "letter.mp3")?.[1] ?? "", /^Good/);
  session.assertQuiet();
});

test("a minute in one file, with its text in one field, makes a voice", { timeout: 5 * MINUTE }, async (t) => {
  const session = await withFiles(t, { viewport: PHONE });
  const { page } = session;
  await page.setInputFiles("#file-input", [read("minute.ogg")]);
  assert.match((await rows(page, 1))[0][1], /^This sounds good\. Now type/, "it is not good without its text");
  assert.equal(await page.locator("#file-list [data-state=good]").count(), 0);
  assert.equal(await page.inputValue("#file-list textarea"), "", "the file is not taken for one of the sentences");
  await page.check("#files-agreed");
  assert.equal(await page.isDisabled("#train-start"), true, "not without its text");
  await page.fill("#file-list textarea", readFileSync(join(FOLDER, "minute.txt"), "utf8").trim());
  await page.locator("#file-list textarea").blur();
  await page.waitForFunction(() => !(/** @type {HTMLButtonElement} */ (document.querySelector("#train-start")).disabled), null, { timeout: MINUTE });
  assert.match((await rows(page, 1))[0][1], /^Good/, "its words are those of the text");
  await openStep(session.page, "#files");
  await session.screenshot("minute-in-one-file", "#files");
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), PHONE.width, "nothing is wider than the window");
  await page.click("#train-start");
  await page.click("#train-stop", { timeout: 2 * MINUTE });
  await learned(page, 2 * MINUTE);
  assert.ok(heard(await speak(page, "mine")).seconds > 0.5);
  session.assertNothingLeft();
  session.assertQuiet();
});

test("of a dropped folder, only sounds and the texts beside them are read", { timeout: 2 * MINUTE }, async (t) => {
  const { page } = await withFiles(t);
  const files = [read("p01.m4a"), { name: "p01.txt", buffer: Buffer.from(`\uFEFF${SENTENCES[0].text}\r\n`) }, { name: ".DS_Store", buffer: Buffer.from("x") }, { name: "cover.jpg", buffer: Buffer.from("x") }];
  await page.evaluate((files) => {
    // Imitates a folder from the browser, since a script cannot make one.
    const file = (/** @type {{ name: string, bytes: string }} */ { name, bytes }) => ({ isFile: true, name, file: (/** @type {(file: File) => void} */ done) => done(new File([Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0))], name)) });
    const folder = (/** @type {unknown[][]} */ parts) => ({ isDirectory: true, name: "folder", createReader: () => ({ readEntries: (/** @type {(some: unknown[]) => void} */ done) => done(parts.shift() ?? []) }) });
    const [sound, text, ...rest] = files.map(file);
    const top = folder([[text, folder([[sound]])], rest]);
    const event = new DragEvent("drop", { bubbles: true, cancelable: true });
    Object.defineProperty(event, "dataTransfer", { value: { files: [], items: [{ webkitGetAsEntry: () => top }] } });
    document.querySelector("#drop")?.dispatchEvent(event);
  }, files.map(({ name, buffer }) => ({ name, bytes: buffer.toString("base64") })));
  assert.match((await rows(page, 1))[0].join(" "), /^p01\.m4a Good/);
  assert.equal(await page.inputValue("#file-list textarea"), SENTENCES[0].text);
});

test("a recording is pasted while the cards for the microphone are shown", { timeout: 2 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true });
  t.after(() => session.close());
  await ready(session);
  const { page } = session;
  await page.evaluate((bytes) => {
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File([Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0))], "p01.m4a", { type: "audio/mp4" }));
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, read("p01.m4a").buffer.toString("base64"));
  assert.match((await rows(page, 1))[0].join(" "), /^p01\.m4a Good/);
  assert.equal(await page.isChecked("input[value=files]"), true);
});

const COUNT = SENTENCES.length;

/** The files of sentences. @param {number} from @param {number} to */
const sentences = (from, to) => SENTENCES.slice(from, to).map((_, index) => ({ name: `take-${from + index + 1}.wav`, mimeType: "audio/wav", buffer: wav(sound(from + index)) }));

test("two batches at once, a file removed and a text typed while it is checked", { timeout: 3 * MINUTE }, async (t) => {
  const session = await withFiles(t);
  const { page } = session;
  const table = { name: "metadata.csv", mimeType: "text/csv", buffer: Buffer.from(SENTENCES.map(({ text }, index) => `take-${index + 1}|${text}`).join("\n")) };
  await page.setInputFiles("#file-input", [...sentences(0, 5), table]);
  await page.waitForTimeout(250);
  await page.setInputFiles("#file-input", [...sentences(5, COUNT), table]);
  // Each file has its row before it is read.
  await page.waitForFunction((count) => document.querySelectorAll("#file-list li").length === count, COUNT);
  // The last one still waits.
  await page.click("#file-list li:last-child [data-remove]");
  assert.deepEqual((await rows(page, COUNT - 1)).map(([name]) => name), Array.from({ length: COUNT - 1 }, (_, index) => `take-${index + 1}.wav`));
  assert.equal(await page.locator("#file-list [data-state=good]").count(), COUNT - 1);

  // Typed while the check of another text runs, which takes half a second at least.
  const field = page.locator("[data-file=take-3]");
  await page.evaluate(() => {
    const field = /** @type {HTMLTextAreaElement} */ (document.querySelector("[data-file=take-3]"));
    field.focus();
    field.value += " And more.";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.dispatchEvent(new Event("change", { bubbles: true }));
    field.value += " And yet more.";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    /** @type {HTMLElement} */ (document.querySelector("[data-remove=take-2]")).click();
  });
  assert.equal((await rows(page, COUNT - 2))[1][0], "take-3.wav");
  assert.equal(await field.inputValue(), `${SENTENCES[2].text} And more. And yet more.`);
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("data-file")), "take-3", "the field keeps the focus");
  session.assertQuiet();
});

test("files of one name in several formats are several files, and survive a reload", { timeout: 3 * MINUTE }, async (t) => {
  const session = await withFiles(t);
  const { page } = session;
  await page.setInputFiles("#file-input", ["p01.m4a", "p01.mp3", "p01.flac"].map(read));
  const found = await rows(page, 3);
  assert.deepEqual(found.map(([name]) => name).sort(), ["p01.flac", "p01.m4a", "p01.mp3"]);
  await page.locator("#file-list textarea").first().fill(SENTENCES[0].text);
  await page.check("#files-agreed");
  await page.waitForFunction(() => /3 files/.test(document.querySelector("#kept-words")?.textContent ?? ""));
  const stored = async () => Object.keys(await storedFiles(session)).filter((path) => path.startsWith("ownvoice/recordings/")).length;
  while ((await stored()) < 3) await page.waitForTimeout(100);
  await page.reload();
  await ready(session);
  assert.equal(await page.isChecked("input[value=files]"), true);
  assert.deepEqual((await rows(page, 3)).map(([name, words]) => [name, words.slice(0, 4)]).sort(), [["p01.flac", "Good"], ["p01.m4a", "Good"], ["p01.mp3", "Good"]]);
  assert.equal(await page.isChecked("#files-agreed"), false, "a tick holds for one visit");
  session.assertQuiet();
});

test("a recording with sound on one of its channels is as loud as that channel", { timeout: 2 * MINUTE }, async (t) => {
  const { page } = await withFiles(t);
  const level = await page.evaluate(async () => {
    const { decodeAudio } = await import(new URL("shared/decode-audio.js", location.href).href);
    const view = new DataView(new ArrayBuffer(44 + 16_000 * 4));
    const text = (/** @type {number} */ at, /** @type {string} */ words) => [...words].forEach((letter, i) => view.setUint8(at + i, letter.charCodeAt(0)));
    text(0, "RIFF");
    view.setUint32(4, 36 + 64_000, true);
    text(8, "WAVEfmt ");
    view.setUint32(16, 16, true);
    [1, 2].forEach((value, i) => view.setUint16(20 + 2 * i, value, true));
    view.setUint32(24, 16_000, true);
    view.setUint32(28, 64_000, true);
    [4, 16].forEach((value, i) => view.setUint16(32 + 2 * i, value, true));
    text(36, "data");
    view.setUint32(40, 64_000, true);
    for (let i = 0; i < 16_000; i++) view.setInt16(46 + 4 * i, 16_384 * Math.sin(i / 5), true); // on the right one
    const { samples } = await decodeAudio(new Blob([view.buffer]));
    return samples.reduce((/** @type {number} */ peak, /** @type {number} */ x) => Math.max(peak, Math.abs(x)), 0);
  });
  assert.ok(level > 0.45, `${level}: the mean of both channels is half as loud`);
});
