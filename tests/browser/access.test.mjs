// Accessibility: axe finds nothing in any stage, light and dark, on desktop and phone; nothing moves by itself; and the page in German.

import assert from "node:assert/strict";
import { test } from "node:test";
import { clean } from "./axe.mjs";
import { DESKTOP, PHONE, chooseFiles, learned, ready, speak, visit } from "./steps.mjs";

const MINUTE = 60_000;

for (const [name, viewport] of /** @type {const} */ ([["desktop", DESKTOP], ["phone", PHONE]])) {
  test(`axe finds nothing, ${name}`, { timeout: 10 * MINUTE }, async (t) => {
    const session = await visit({ device: "cpu", tiny: true, viewport, permission: "deny" });
    t.after(() => session.close());
    const { page } = session;
    await ready(session);
    await clean(session, "loaded");
    await page.click("#record-button");
    await page.waitForSelector("#clip-words code", { state: "attached" });
    await clean(session, "microphone denied");
    await chooseFiles(page, 5);
    await page.setInputFiles("#file-input", { name: "letter.wav", mimeType: "audio/wav", buffer: Buffer.from("This is a letter.") });
    await page.waitForSelector("#file-list .failure");
    await clean(session, "files, one of them without sound");
    await page.click("#train-start");
    await page.waitForSelector("#preview:not([hidden])", { timeout: 2 * MINUTE });
    await page.click("#train-pause");
    await page.waitForFunction(() => /^Paused/.test(document.querySelector("#train-words")?.textContent ?? ""));
    await session.screenshot(`${name}-paused`);
    await clean(session, "learning, paused");
    await page.click("#train-pause");
    await page.click("#train-stop");
    await learned(page, 2 * MINUTE);
    await speak(page, "base");
    await speak(page, "mine");
    await clean(session, "spoken");
    await page.emulateMedia({ colorScheme: "dark" });
    await session.screenshot(`${name}-dark`);
    await page.emulateMedia({ colorScheme: "light" });
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), viewport.width, "nothing is wider than the window");
    session.assertQuiet();
  });
}

test("axe finds nothing where the page could not start", { timeout: 2 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", path: "?device=webgpu" });
  t.after(() => session.close());
  await session.page.waitForSelector("#loading-failed:not([hidden])");
  assert.equal(await session.page.isVisible("#use-cpu"), true, "the visitor can use the CPU");
  await clean(session, "no adapter");
});

test("without JavaScript the page says in both languages what it needs", { timeout: MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", path: "icon.svg" });
  t.after(() => session.close());
  const devtools = await session.context.newCDPSession(session.page);
  await devtools.send("Emulation.setScriptExecutionDisabled", { value: true });
  await session.goto();
  const words = await session.page.locator("noscript p").allInnerTexts();
  assert.match(words.join(" "), /needs JavaScript.*braucht JavaScript/);
  await session.screenshot("no-script");
});

test("nothing moves by itself where reduced motion is preferred", { timeout: 2 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  // Looks at the rules, because a computed style does not include the inner parts of a bar.
  const moving = await page.evaluate(() => {
    const moves = (/** @type {CSSRule} */ rule) => rule instanceof CSSStyleRule && Boolean(rule.style.transition || rule.style.animation || rule.style.scrollBehavior);
    const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
    const allowed = rules.flatMap((rule) => (rule instanceof CSSMediaRule && rule.conditionText === "(prefers-reduced-motion: no-preference)" ? [...rule.cssRules] : []));
    return { always: rules.filter(moves).map(({ cssText }) => cssText), allowed: allowed.filter(moves).length };
  });
  assert.deepEqual(moving, { always: [], allowed: 1 });
});

test("German, by the browser's language or the visitor's choice", { timeout: 2 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true, locale: "de-CH", viewport: PHONE });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  assert.equal(await page.getAttribute("html", "lang"), "de");
  assert.equal(await page.textContent("#train-title"), "Die Stimme lernen");
  assert.match((await page.textContent("#device")) ?? "", /Prozessor.*Stattdessen rechnet der Prozessor/s);
  assert.equal(await page.getAttribute("#prompt-text", "lang"), "en", "the sentences stay English");
  await session.screenshot("phone-german");
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), PHONE.width, "nothing is wider than the phone");
  await clean(session, "German");
  await page.click("#languages [lang=en]");
  assert.equal(await page.textContent("#train-title"), "Learn the voice");
  await page.reload();
  await ready(session);
  assert.equal(await page.getAttribute("html", "lang"), "en", "the choice is stored");
  session.assertQuiet();
});
