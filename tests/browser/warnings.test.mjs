// Warnings about a spoken text: another language, letters that are left out, and speech that was cut short.

import assert from "node:assert/strict";
import { test } from "node:test";
import { clean } from "./axe.mjs";
import { PHONE, ready, run, speak, visit, withPackage } from "./steps.mjs";

const MINUTE = 60_000;
const GERMAN = "Guten Abend, ich bin heute nicht sehr weit mit dem Zug gefahren. Привет!";

test("the page warns below the text, in its own language, until another text is spoken", { timeout: 2 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true, viewport: PHONE });
  t.after(() => session.close());
  const { page } = session;
  const warning = async () => ((await page.isVisible("#text-warning")) ? page.textContent("#text-warning") : null);
  await ready(session);
  assert.equal(await warning(), null);
  await page.fill("#text", GERMAN);
  await speak(page, "base");
  assert.equal(await warning(), "This seems to be German, but is read as English. Not spoken: Привет");
  assert.match((await page.textContent("#base .words")) ?? "", /^\d+\.\d s$/);
  await page.click("#languages [lang=de]");
  assert.equal(await warning(), "Das scheint Deutsch zu sein, wird aber als Englisch gelesen. Nicht gesprochen wird: Привет");
  await clean(session, "a text that is warned of");
  await session.screenshot("warning", "[aria-labelledby=speak-title]");
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), PHONE.width);
  await page.fill("#text", "Good evening.");
  await speak(page, "base");
  assert.equal(await warning(), null);
  session.assertQuiet();
});

test("the page reports speech that was cut short", { timeout: MINUTE }, async (t) => {
  const cut = (/** @type {string} */ text) => text.replace("{ ...speech, warnings", '{ ...speech, stop: text.startsWith("Long") ? "max-frames" : speech.stop, warnings');
  const session = await visit({ device: "cpu", tiny: true, prepare: (session) => session.rewrite("js/leader.js", cut) });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await page.fill("#text", "Long is the first sentence. The second is not.");
  await speak(page, "base");
  assert.match((await page.textContent("#base .words")) ?? "", /^\d+\.\d s\. It was cut short: one word takes longer than half a minute\.$/);
});

test("the package returns the same warnings", { timeout: MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", path: "icon.svg", tiny: true });
  t.after(() => session.close());
  await withPackage(session, 1);
  const { said, streamed, joined, english } = await run(
    session,
    `const said = await studio.base.say(input);
    const streamed = [];
    for await (const speech of studio.base.stream(input)) streamed.push(speech);
    const english = await studio.base.say("Good evening, it is not very far with the train.");
    return { said: [said.stop, said.warnings], streamed: streamed.map(({ warnings }) => warnings), joined: ownvoice.Speech.join(streamed).warnings, english: english.warnings }`,
    GERMAN,
  );
  const warnings = [
    { code: "text-language", message: "the text seems to be German; it is read as English", detail: "German" },
    { code: "text-unspoken", message: "these are not spoken: Привет", detail: "Привет" },
  ];
  assert.deepEqual(said, ["durations", warnings]);
  for (const each of [...streamed, joined]) assert.deepEqual(each, warnings, "those of the whole text");
  assert.deepEqual(english, []);
});
