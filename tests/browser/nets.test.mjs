// The page of things learns to name what a camera shows. Nothing leaves the page, and each refusal has a code.

import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { clean } from "./axe.mjs";
import { addPhotographs, filmOf, filmThing, idle, learned, look, named, open, photographs, plain, row, shows, skip, tensorsOf } from "./nets-steps.mjs";
import { DESKTOP, download } from "./steps.mjs";

/** @import { Session } from "./harness.mjs" */

const MINUTE = 60_000;
/** A small phone. */
const PHONE = { width: 390, height: 700 };

/** The percentages in a text. @param {string} words */
const percentages = (words) => [...words.matchAll(/(\d+) %/g)].map(([, figure]) => Number(figure));

/** Asserts that nothing is wider than the window. @param {Session} session @param {number} width */
const fits = async ({ page }, width) => assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width, "nothing is wider than the window");

for (const [name, viewport] of /** @type {const} */ ([["desktop", DESKTOP], ["phone", PHONE]])) {
  test(`what the camera shows is learned, named, saved and opened, and nothing leaves the page, ${name}`, { timeout: 10 * MINUTE, skip }, async (t) => {
    const session = await open({ camera: filmOf("Bars", "Fractal"), viewport });
    t.after(() => session.close());
    const { page } = session;
    const loaded = session.mark();
    await clean(session, "loaded");
    assert.equal(await page.isDisabled("#learn"), true, "there are no pictures");
    assert.equal(await page.isDisabled(`${row(0)} [data-action=film]`), true, "the camera is off");
    await page.click("#camera");
    await page.waitForSelector("#view:not([hidden])");
    await filmThing(session, 0, "Bars");
    await filmThing(session, 1, "Fractal");
    await session.screenshot(`things-shown-${name}`);
    await clean(session, "shown");

    const begun = performance.now();
    await page.click("#learn");
    await page.waitForFunction(() => /^Iteration [1-9]/.test(document.querySelector("#learn-iteration")?.textContent ?? ""), null, { timeout: 3 * MINUTE });
    await session.screenshot(`things-learning-${name}`);
    const words = await learned(session);
    t.diagnostic(`${((performance.now() - begun) / 1000).toFixed(1)} s: ${words}`);
    assert.match(words, /^It has learned Bars and Fractal from 20 pictures/);
    assert.ok(percentages(words)[0] >= 75, words);

    // The camera's picture is named at once, with how sure that is.
    for (const thing of /** @type {const} */ (["Fractal", "Bars"])) {
      await shows(session, thing, "#see-view");
      await named(session, thing);
      const [sure] = percentages((await page.textContent("#see-named")) ?? "");
      t.diagnostic(`${thing}: ${sure} %`);
      assert.ok(sure > 60, `${sure} %`);
    }
    assert.equal(await page.locator("#see-bars div").count(), 2);
    await session.screenshot(`things-named-${name}`);
    await clean(session, "named");
    await fits(session, viewport.width);
    await page.click("#languages [lang=de]");
    assert.equal(await page.textContent("#learn"), "Lernen");
    await fits(session, viewport.width);
    await session.screenshot(`things-german-${name}`);
    await clean(session, "German");
    await page.click("#languages [lang=en]");

    // The saved net names the same after everything was deleted.
    const file = await download(page, "#download");
    const { tensors } = tensorsOf(Buffer.from(file));
    t.diagnostic(`${(file.length / 1e6).toFixed(2)} MB`);
    assert.deepEqual([tensors["classifier.weight"].shape, tensors["blocks.4.1.conv_pw.weight"].shape], [[2, 1024], [1024, 1024, 1, 1]], "timm's names");
    page.once("dialog", (dialog) => dialog.accept());
    await page.click("#forget");
    await page.waitForFunction(() => document.querySelector("#keep-words")?.textContent);
    assert.equal(await page.locator("#things img").count(), 0);
    assert.equal(await page.isVisible("#download"), false);
    await page.setInputFiles("#open-file", { name: "letter.safetensors", mimeType: "", buffer: Buffer.from("This is a letter.") });
    await page.waitForSelector("#keep-error:not([hidden])");
    assert.equal(await page.textContent("#keep-error code"), "weights-mismatch");
    await page.setInputFiles("#open-file", { name: "things.safetensors", mimeType: "", buffer: Buffer.from(file) });
    await page.waitForSelector("#download:not([hidden])");
    const [photograph] = photographs("Bars", 1);
    assert.equal((await look(session, photograph)).name, "Bars");
    assert.deepEqual(Buffer.compare(Buffer.from(await download(page, "#download")), Buffer.from(file)), 0);

    session.assertNoRequestsSince(loaded, "while it learned");
    session.assertNothingLeft();
    session.assertQuiet();
  });
}

test("pictures of files are learned in place of the camera's, and those that cannot be read have a code", { timeout: 10 * MINUTE, skip }, async (t) => {
  const session = await open({ permission: "deny", viewport: PHONE });
  t.after(() => session.close());
  const { page } = session;
  await page.click("#camera");
  await page.waitForSelector("#show-error:not([hidden])");
  assert.equal(await page.textContent("#show-error code"), "camera-denied");

  for (const [file, code] of /** @type {const} */ ([
    [{ name: "letter.jpg", mimeType: "image/jpeg", buffer: Buffer.from("This is a letter.") }, "picture-unreadable"],
    [plain("1x1"), "picture-size"],
    [plain("8000x8000"), "picture-size"],
  ])) {
    await page.setInputFiles(`${row(0)} [data-action=files]`, /** @type {any} */ (file));
    await page.waitForFunction(({ row, code }) => document.querySelector(`${row} .failure code`)?.textContent === code, { row: row(0), code }, { timeout: MINUTE });
    await idle(session);
  }
  assert.equal(await page.locator("#things img").count(), 0);
  await session.screenshot("things-refused");
  await clean(session, "refused");

  await addPhotographs(session, ["Bars", "Fractal", "Cells"]);
  assert.equal(await page.locator("#things .failure").count(), 0, "the next pictures are read");
  await page.click("#learn");
  const words = await learned(session);
  t.diagnostic(words);
  assert.match(words, /^It has learned Bars, Fractal, and Cells from 24 pictures/);
  for (const thing of /** @type {const} */ (["Cells", "Bars", "Fractal"])) {
    const { name, percent } = await look(session, photographs(thing, 9)[4]);
    t.diagnostic(`${thing} is named ${name}, ${percent} %`);
    assert.equal(name, thing);
  }
  await session.screenshot("things-picture");
  await clean(session, "a picture is named");
  await fits(session, PHONE.width);

  // A picture is dropped on the place for it, and on a thing.
  const drop = async (/** @type {string} */ place) => {
    const dataTransfer = await page.evaluateHandle(async () => {
      const canvas = new OffscreenCanvas(100, 100);
      canvas.getContext("2d")?.fillRect(0, 0, 50, 100);
      const transfer = new DataTransfer();
      transfer.items.add(new File([await canvas.convertToBlob()], "dropped.png", { type: "image/png" }));
      return transfer;
    });
    await page.dispatchEvent(place, "drop", { dataTransfer });
  };
  const before = await page.textContent("#see-named");
  await drop("#see-drop");
  await page.waitForFunction((before) => document.querySelector("#see-named")?.textContent !== before, before, { timeout: MINUTE });
  await drop(row(0));
  await page.waitForFunction((row) => document.querySelectorAll(`${row} img`).length === 9, row(0), { timeout: MINUTE });

  // Names have to differ, and a net of a letter is refused.
  await page.fill(`${row(1)} [data-action=name]`, "Bars");
  await page.click("#learn");
  await page.waitForSelector("#learn-error:not([hidden])");
  assert.equal(await page.textContent("#learn-error code"), "names-equal");
  session.assertNothingLeft();
  session.assertQuiet();
});

/** The worker stops in the middle of learning, as on a machine that is much slower. @param {Session} session */
const halting = (session) => session.rewrite("nets/worker.js", (text) => text.replace("const step = await tuner.step();", "const step = await tuner.step();\n        if (step.iteration === 30) await new Promise(() => {});"));

/** Waits until the page has learned for some iterations, and then stands. @param {Session} session */
async function halted({ page }) {
  await page.waitForFunction(() => Number(document.querySelector("#learn-iteration")?.textContent?.match(/\d+/)?.[0]) >= 20, null, { timeout: 3 * MINUTE });
  // The last checkpoint is at 25, and no report of the iterations after it may come.
  await page.waitForTimeout(3000);
}

test("learning goes on after the tab was closed, and all is there at the next visit", { timeout: 10 * MINUTE, skip }, async (t) => {
  const profile = mkdtempSync(join(tmpdir(), "ownvoice-profile-"));
  const first = await open({ profile, prepare: halting });
  try {
    await addPhotographs(first, ["Bars", "Fractal"]);
    await first.page.click("#learn");
    await halted(first);
  } finally {
    await first.close();
  }

  const second = await open({ profile });
  try {
    const { page } = second;
    // The pictures and the names are there, and it goes on by itself from the checkpoint.
    assert.equal(await page.locator("#things img").count(), 16);
    assert.deepEqual(await page.locator("#things [data-action=name]").evaluateAll((fields) => fields.map((field) => /** @type {HTMLInputElement} */ (field).value)), ["Bars", "Fractal"]);
    await page.evaluate(() => {
      const noted = (/** @type {any} */ (globalThis).noted = /** @type {string[]} */ ([]));
      const watched = /** @type {Element} */ (document.querySelector("#learn-iteration"));
      new MutationObserver(() => noted.push(watched.textContent ?? "")).observe(watched, { childList: true, characterData: true, subtree: true });
    });
    assert.match((await page.textContent("#learn-words")) ?? "", /^(Learning goes on where the tab was closed|It has learned)/);
    const words = await learned(second);
    assert.match(words, /^It has learned Bars and Fractal from 16 pictures/);
    const iterations = /** @type {string[]} */ (await page.evaluate("noted")).map((text) => Number(text.match(/\d+/)?.[0])).filter(Boolean);
    t.diagnostic(`went on at iteration ${iterations[0]}`);
    assert.ok(iterations[0] > 25, iterations.join(" "));
    second.assertQuiet();
  } finally {
    await second.close();
  }

  const third = await open({ profile });
  t.after(() => third.close());
  assert.match((await third.page.textContent("#learn-words")) ?? "", /^It has learned Bars and Fractal/);
  assert.equal((await look(third, photographs("Fractal", 1)[0])).name, "Fractal");
  third.assertQuiet();
});

test("one tab learns at a time, and deleting in another tab deletes everything", { timeout: 5 * MINUTE, skip }, async (t) => {
  const session = await open({ prepare: halting });
  t.after(() => session.close());
  await addPhotographs(session, ["Bars", "Fractal"], 4);
  await session.page.click("#learn");
  await halted(session);

  const page = await session.context.newPage();
  await page.goto(new URL("nets.html", session.url).href);
  // It finds the interrupted learning, which another tab is doing.
  await page.waitForSelector("#learn-error:not([hidden])", { timeout: MINUTE });
  assert.equal(await page.textContent("#learn-error code"), "training-elsewhere");
  assert.equal(await page.locator("#things img").count(), 8);
  page.once("dialog", (dialog) => dialog.accept());
  await page.click("#forget");
  await page.waitForFunction(() => document.querySelector("#keep-words")?.textContent === "Everything has been deleted.", null, { timeout: MINUTE });
  await session.page.waitForFunction(() => document.querySelectorAll("#things img").length === 0 && document.body.dataset.phase === "ready", null, { timeout: MINUTE });
  const left = await page.evaluate(async () => {
    const names = [];
    for await (const name of (await navigator.storage.getDirectory()).keys()) names.push(name);
    return names;
  });
  assert.deepEqual(left, []);
});

test("the page is used by keyboard alone", { timeout: 5 * MINUTE, skip }, async (t) => {
  const session = await open({ viewport: PHONE });
  t.after(() => session.close());
  const { page } = session;
  await addPhotographs(session, ["Bars", "Fractal"], 4);
  await page.focus("#more");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => /** @type {HTMLElement} */ (document.activeElement).ariaLabel), "Name of thing 3", "the new thing is named next");
  await page.keyboard.type("Lamp");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "Remove: Lamp");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelectorAll("#things > li").length === 2);
  assert.equal(await page.evaluate(() => document.activeElement?.id), "more", "the focus is not lost");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement?.id), "learn");
  await page.keyboard.press("Enter");
  await learned(session);
  for (const id of ["see-camera", "see-file", "download", "open-file", "forget"]) {
    await page.focus(`#${id}`);
    assert.equal(await page.evaluate(() => document.activeElement?.id), id);
  }
  session.assertQuiet();
});
