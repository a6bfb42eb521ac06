// The voices that the browser keeps: several side by side, voices of older bases, and recordings as a zip file and back.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { PHONE, SENTENCES, chooseFiles, download, heard, inOrder, learned, openStep, ready, record, run, serveBase, speak, storedFiles, visit } from "./steps.mjs";

/** @import { Session } from "./harness.mjs" */
/** @import { Page } from "playwright-core" */

const MINUTE = 60_000;

/** Learns a voice, which is kept beside the others. @param {Page} page @param {() => Promise<unknown>} [start] */
async function learn(page, start = () => page.click("#train-start")) {
  const before = await page.locator("#voices li").count();
  await start();
  await page.waitForFunction((before) => {
    // A few iterations are enough. Clicked by a script: the training of the tiny base may end before Playwright has moved a pointer.
    const stop = /** @type {HTMLElement | null} */ (document.querySelector("#train-stop:not([hidden])"));
    if (/^Iteration [2-9]/.test(document.querySelector("#train-iteration")?.textContent ?? "")) stop?.click();
    return document.querySelectorAll("#voices li").length > before;
  }, before, { timeout: 2 * MINUTE, polling: 20 });
  await learned(page);
  await page.waitForSelector("#likeness-bars:not([hidden])", { timeout: MINUTE });
}

/** Clicks a button of a kept voice; answers the dialog that it opens. @param {Page} page @param {string} name @param {string} act @param {string} [answer] */
async function act(page, name, act, answer) {
  if (answer !== undefined) page.once("dialog", (dialog) => dialog.accept(answer));
  await openStep(page, "#voices");
  await page.locator("#voices li", { has: page.locator(".name", { hasText: new RegExp(`^${name}$`) }) }).locator(`[data-act=${act}]`).click();
}

/** @param {Page} page */
const names = (page) => page.locator("#voices .name").allTextContents();
/** Waits until a voice is in use. @param {Page} page @param {string} name */
const inUse = (page, name) => page.waitForFunction((name) => document.querySelector("#voices li[data-current] .name")?.textContent === name, name);

test("several voices side by side: they are compared, renamed, switched and deleted, and the last one opens at the next visit", { timeout: 5 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  assert.equal(await page.isVisible("#voices"), false, "nothing to show before there is a voice");
  await chooseFiles(page, 3);
  await learn(page);
  const first = await download(page, "#save");
  // The same recordings, stopped at the same iteration, would be the same voice.
  await page.click("#file-list li:last-child [data-remove]");
  await learn(page);
  const second = await download(page, "#save");
  assert.notDeepEqual(second, first);
  assert.deepEqual(await names(page), ["My voice 2", "My voice"]);
  assert.match((await page.textContent("#voices")) ?? "", /\d{4}.*\d+ % like the speaker.*recordings: 2/);

  await act(page, "My voice", "rename", "  Grandma ");
  await page.waitForFunction(() => document.querySelector("#voices")?.textContent?.includes("Grandma"));
  await act(page, "Grandma", "compare");
  await page.waitForFunction(() => document.querySelector("#base .what")?.textContent === "Grandma");
  assert.equal(await page.textContent("#mine .what"), "My voice 2");
  const [old, now] = [heard(await speak(page, "base")), heard(await speak(page, "mine"))];
  assert.ok(old.seconds > 0.5 && now.seconds > 0.5);
  assert.notEqual(old.notes.ICMT, now.notes.ICMT, "two voices speak");
  await act(page, "Grandma", "compare");
  await page.waitForFunction(() => document.querySelector("#base .what")?.textContent === "the base voice");

  await act(page, "Grandma", "use");
  await inUse(page, "Grandma");
  assert.deepEqual(await download(page, "#save"), first);
  assert.match((await page.textContent("#likeness-words")) ?? "", /%/, "with its likeness");
  await page.reload();
  await ready(session);
  await inUse(page, "Grandma");
  assert.deepEqual(await download(page, "#save"), first, "the voice that was used last");
  const saved = page.waitForEvent("download");
  await act(page, "My voice 2", "save");
  assert.deepEqual(readFileSync(await (await saved).path()), second);
  assert.equal((await saved).suggestedFilename(), "My voice 2.ownvoice");

  await act(page, "My voice 2", "remove", "");
  await page.waitForFunction(() => document.querySelectorAll("#voices li").length === 1);
  await act(page, "Grandma", "remove", "");
  await page.waitForFunction(() => document.querySelectorAll("#voices li").length === 0);
  assert.equal(await page.isDisabled("#mine .say"), true);
  const left = Object.keys(await storedFiles(session)).filter((path) => !/recordings|kept\/(last|said)/.test(path));
  assert.deepEqual(left, [], "nothing is left of them");
  await page.reload();
  await ready(session);
  assert.deepEqual(await names(page), [], "and none comes back");
  session.assertQuiet();
});

test("another voice begins with empty cards, and what the first one was learned from stays with it", { timeout: 3 * MINUTE }, async (t) => {
  const { path: microphone, parts } = inOrder(1);
  const session = await visit({ device: "cpu", tiny: true, viewport: { width: 390, height: 700 }, microphone });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  const isOnScreen = (/** @type {string} */ selector) => page.$eval(selector, (element) => { const { top, bottom } = element.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight; });
  for (const part of ["#prompt-text", "#record-button"]) assert.ok(await isOnScreen(part), `${part} is on the first screen of a phone`);
  await record(page, parts);
  for (const part of ["#prompt-text", "#clip-words", "#next"]) assert.ok(await isOnScreen(part), `${part} is on the screen beside the sentence`);
  await learn(page);
  await page.reload();
  await ready(session);
  const shown = () => page.$$eval(".step", (steps) => steps.filter((step) => step.checkVisibility()).map(({ id }) => id));
  assert.deepEqual(await shown(), ["talk"], "who comes back sees the one thing to do");
  await session.screenshot("home");
  await page.click("#another");
  await page.waitForFunction(() => document.querySelectorAll("#prompt-list [data-state=good]").length === 0);
  await page.waitForSelector("#card");
  assert.deepEqual(await shown(), ["agree"]);
  assert.equal(await page.textContent("#prompt-position"), "Your consent");
  assert.equal(await page.isDisabled("#train-start"), true);
  await page.reload();
  await ready(session);
  await page.click("#another");
  await page.waitForFunction(() => document.body.dataset.step === "agree");
  assert.equal(await page.locator("#prompt-list [data-state=good]").count(), 0, "at the next visit too");
  await act(page, "My voice", "learn");
  await page.waitForFunction(() => document.querySelectorAll("#voices li").length === 2, null, { timeout: MINUTE });
  session.assertQuiet();
});

test("the one voice that earlier versions of the page have stored is found", { timeout: 3 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await chooseFiles(page, 2);
  await learn(page);
  const voice = await download(page, "#save");
  await page.goto(new URL("icon.svg", session.url).href);
  await run(session, `const top = await (await navigator.storage.getDirectory()).getDirectoryHandle("ownvoice");
    for (const folder of ["kept", "bases"]) await top.removeEntry(folder, { recursive: true });`);
  await session.goto();
  await ready(session);
  assert.deepEqual(await names(page), ["My voice"]);
  await inUse(page, "My voice");
  assert.deepEqual(await download(page, "#save"), voice);
  session.assertQuiet([/404/]); // a picture asks for a favicon
});

test("a voice of an older base still speaks, is learned again from its recordings, and both are compared", { timeout: 6 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await chooseFiles(page, 2);
  await learn(page);
  const file = await download(page, "#save");

  serveBase(session, null); // as if the shipped base were newer
  await session.goto();
  await ready(session);
  await inUse(page, "My voice");
  assert.match((await page.textContent("#voices")) ?? "", /older version of the base voice, which is kept here too/);
  assert.ok(heard(await speak(page, "mine")).seconds > 0.5, "with its own base");
  await learn(page, () => act(page, "My voice", "learn"));
  await page.waitForFunction(() => document.querySelector("#base .what")?.textContent === "My voice");
  assert.equal(await page.textContent("#mine .what"), "My voice 2");
  const [old, now] = [heard(await speak(page, "base")), heard(await speak(page, "mine"))];
  assert.notEqual(old.notes.ICMT, now.notes.ICMT, "old and new speak");
  await openStep(session.page, "[aria-labelledby=speak-title]");
  await session.screenshot("voice-of-an-older-base", "[aria-labelledby=speak-title]");
  // A third base does not remove the first: its voice file opens as well.
  await page.setInputFiles("#open", { name: "me.ownvoice", mimeType: "application/octet-stream", buffer: file });
  await inUse(page, "My voice");
  assert.equal(await page.isHidden("#speak-error"), true);
  session.assertQuiet();
});

test("a voice whose base is not here says what it needs, and nothing is lost", { timeout: 3 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await chooseFiles(page, 2);
  await learn(page);
  const file = await download(page, "#save");
  await page.goto(new URL("icon.svg", session.url).href);
  await run(session, `const top = await (await navigator.storage.getDirectory()).getDirectoryHandle("ownvoice");
    await top.removeEntry("bases", { recursive: true });`);
  serveBase(session, null);
  await session.goto();
  await ready(session);
  assert.match((await page.textContent("#voices")) ?? "", /needs the version of the base voice.*learn it again/);
  assert.equal(await page.isDisabled("#mine .say"), true);
  const saved = page.waitForEvent("download");
  await act(page, "My voice", "save");
  assert.deepEqual(readFileSync(await (await saved).path()), file);
  await page.setInputFiles("#open", { name: "me.ownvoice", mimeType: "application/octet-stream", buffer: file });
  await page.waitForSelector("#speak-error:not([hidden])");
  assert.match((await page.textContent("#speak-error")) ?? "", /needs the version of the base voice.*base-missing/);
  session.assertQuiet([/404/]); // a picture asks for a favicon
});

/** Lists and reads a zip file by another program. @param {Buffer} zip @returns {{ [name: string]: Buffer }} */
function unzipped(zip) {
  const path = join(mkdtempSync(join(tmpdir(), "ownvoice-zip-")), "recordings.zip");
  writeFileSync(path, zip);
  const script = "import json,sys,zipfile\nz=zipfile.ZipFile(sys.argv[1])\nassert z.testzip() is None\nprint(json.dumps({n:z.read(n).hex() for n in z.namelist()}))";
  const found = JSON.parse(execFileSync("python3", ["-c", script, path], { encoding: "utf8", maxBuffer: 1e9 }));
  return Object.fromEntries(Object.entries(found).map(([name, hex]) => [name, Buffer.from(hex, "hex")]));
}

/** A zip file as other programs write it: compressed, in a folder. @param {{ [name: string]: Buffer }} files */
function zipped(files) {
  const path = join(mkdtempSync(join(tmpdir(), "ownvoice-zip-")), "recordings.zip");
  const script = "import json,sys,zipfile\nz=zipfile.ZipFile(sys.argv[1],'w',zipfile.ZIP_DEFLATED)\nfor n,h in json.load(sys.stdin).items(): z.writestr('my recordings/'+n, bytes.fromhex(h))\nz.close()";
  execFileSync("python3", ["-c", script, path], { input: JSON.stringify(Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, bytes.toString("hex")]))) });
  return readFileSync(path);
}

test("recordings move to another browser as a zip file", { timeout: 5 * MINUTE }, async (t) => {
  const { path: microphone, parts } = inOrder(1);
  const session = await visit({ device: "cpu", tiny: true, microphone });
  t.after(() => session.close());
  await ready(session);
  await record(session.page, parts);
  const zip = await download(session.page, "#recordings-save");
  const files = unzipped(zip);
  assert.deepEqual(Object.keys(files), ["metadata.csv", "consent.json", "wavs/consent.wav", "wavs/p01.wav"]);
  assert.match(files["metadata.csv"].toString(), new RegExp(`^consent\\|This is my own voice.*\\np01\\|${SENTENCES[0].text}\\n$`));
  assert.deepEqual(JSON.parse(files["consent.json"].toString()), { statement: "This is my own voice, and I agree that this page learns to speak with it.", recording: "wavs/consent.wav" });
  assert.ok(heard(files["wavs/p01.wav"]).seconds > 3);

  for (const [what, buffer] of /** @type {const} */ ([["as it was saved", zip], ["compressed, in a folder", zipped(files)]])) {
    const other = await visit({ device: "cpu", tiny: true, viewport: PHONE });
    t.after(() => other.close());
    const { page } = other;
    await ready(other);
    await page.setInputFiles("#recordings-open", { name: "recordings.zip", mimeType: "application/zip", buffer });
    await page.waitForFunction(() => document.querySelector("#bank-words")?.textContent === "Recordings brought back: 2.", null, { timeout: MINUTE });
    assert.equal(await page.locator("#prompt-list [data-state=good]").count(), 2, what);
    await page.reload();
    await ready(other);
    assert.equal(await page.locator("#prompt-list [data-state=good]").count(), 2, "and stay");
    assert.equal(await page.isDisabled("#train-start"), false);
    other.assertQuiet();
  }

  // A good recording that is there already is not replaced.
  await session.page.setInputFiles("#recordings-open", { name: "recordings.zip", mimeType: "application/zip", buffer: zip });
  await session.page.waitForFunction(() => document.querySelector("#bank-words")?.textContent === "Recordings brought back: 0.");
});

test("recordings of a voice that was learned from files come back as files; what is no zip file is refused", { timeout: 4 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await chooseFiles(page, 2);
  await learn(page);
  const saved = page.waitForEvent("download");
  await act(page, "My voice", "recordings");
  const zip = readFileSync(await (await saved).path());
  assert.deepEqual(Object.keys(unzipped(zip)), ["metadata.csv", "consent.json", "wavs/p01.wav", "wavs/p02.wav"]);
  const damaged = Buffer.from(zip);
  damaged[zip.length >> 1] ^= 1;
  for (const buffer of [Buffer.from("This is a letter."), zip.subarray(0, zip.length / 2), damaged]) {
    await page.setInputFiles("#recordings-open", { name: "recordings.zip", mimeType: "application/zip", buffer });
    await page.waitForSelector("#bank-error:not([hidden])");
    assert.match((await page.textContent("#bank-error")) ?? "", /not a zip file, or it is damaged.*zip-unreadable/);
    assert.equal(await page.locator("#file-list li").count(), 2, "nothing is lost");
  }
  const renamed = unzipped(zip);
  renamed["metadata.csv"] = Buffer.from(renamed["metadata.csv"].toString().replace(/p0/g, "my0"));
  for (const name of ["p01", "p02"]) {
    renamed[`wavs/my${name.slice(1)}.wav`] = renamed[`wavs/${name}.wav`];
    delete renamed[`wavs/${name}.wav`];
  }
  await page.setInputFiles("#recordings-open", { name: "recordings.zip", mimeType: "application/zip", buffer: zipped(renamed) });
  await page.waitForFunction(() => document.querySelectorAll("#file-list .verdict[data-state=good]").length === 4, null, { timeout: MINUTE });
  assert.match(await page.inputValue("[data-file=my01]"), new RegExp(SENTENCES[0].text.slice(0, 20)));
  session.assertQuiet();
});

test("while it learns no voice can be opened, and what is no voice is refused", { timeout: 4 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await chooseFiles(page, 2);
  await learn(page);
  const voice = await download(page, "#save");
  await page.evaluate(() => {
    // At the first iteration the training pauses, however fast it is.
    const words = /** @type {Element} */ (document.querySelector("#train-iteration"));
    const observer = new MutationObserver(() => {
      if (!/^Iteration/.test(words.textContent ?? "")) return;
      observer.disconnect();
      /** @type {HTMLElement} */ (document.querySelector("#train-pause")).click();
    });
    observer.observe(words, { childList: true, characterData: true, subtree: true });
  });
  await page.click("#train-start");
  await page.waitForFunction(() => /^Paused/.test(document.querySelector("#train-words")?.textContent ?? ""), null, { timeout: MINUTE });
  for (const control of ["#open", "#recordings-open", "#voices [data-act=use]", "#voices [data-act=remove]"]) assert.equal(await page.locator(control).first().isDisabled(), true, control);
  // A file that is dropped or pasted is refused as well.
  await page.evaluate(
    (bytes) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0))], "me.ownvoice"));
      document.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    },
    voice.toString("base64"),
  );
  await page.waitForTimeout(500);
  assert.match((await page.textContent("#train-words")) ?? "", /^Paused/, "the training is shown as before");
  assert.equal(await page.isVisible("#train-pause"), true);
  await page.click("#train-pause");
  await page.waitForFunction(() => document.querySelectorAll("#voices li").length === 2, null, { timeout: MINUTE });
  await learned(page);

  // Neither a letter nor a file that is far too large is read as a voice.
  await page.setInputFiles("#open", { name: "letter.ownvoice", mimeType: "application/octet-stream", buffer: Buffer.from("This is a letter.") });
  await page.waitForSelector("#speak-error:not([hidden])");
  assert.match((await page.textContent("#speak-error")) ?? "", /not a voice file.*voice-corrupt/);
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(120e6)], "large.ownvoice"));
    document.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  });
  await page.waitForTimeout(1000);
  assert.match((await page.textContent("#speak-error")) ?? "", /voice-corrupt/);
  assert.equal(await page.locator("#voices li").count(), 2);
  assert.equal(await page.isDisabled("#mine .say"), false, "the voice stays");
  session.assertQuiet();
});

test("a text that is pasted with its picture stays a text", { timeout: 2 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await page.fill("#text", "");
  await page.focus("#text");
  /** @param {string} type @param {string} name */
  const paste = (type, name) =>
    page.evaluate(
      ({ type, name }) => {
        const data = new DataTransfer();
        data.setData("text/plain", "Copied with its picture.");
        data.items.add(new File([new Uint8Array(100)], name, { type }));
        return !document.activeElement?.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
      },
      { type, name },
    );
  assert.equal(await paste("image/png", "image.png"), false, "the browser pastes the text");
  assert.equal(await page.isChecked("input[value=record]"), true);
  assert.equal(await page.locator("#file-list li").count(), 0);
  assert.equal(await paste("audio/wav", "sound.wav"), true, "a sound is taken in");
  await page.waitForSelector("#file-list li");
});
