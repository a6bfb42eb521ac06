// The Web Speech API with voices of this package, driven by a library that was written for browsers' own: easy-speech, unchanged.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "./harness.mjs";
import { run, visit, withPackage } from "./steps.mjs";

const EASY_SPEECH = readFileSync(join(ROOT, "tests/node_modules/easy-speech/dist/EasySpeech.iife.js"), "utf8");

/** Opens the package with its voices in the place of the browser's. @param {import("node:test").TestContext} t */
async function installed(t) {
  const session = await visit({ device: "cpu", path: "icon.svg", tiny: true });
  t.after(() => session.close());
  await withPackage(session, 2);
  await run(session, `const { installSpeechSynthesis } = await import(new URL("js/speech-synthesis.js", location.href).href);
    const other = await studio.clone(clips, { iterations: 2, seed: 1 });
    installSpeechSynthesis({ "The base": studio.base, Mine: other });
    globalThis.listened = (utterance) => {
      const events = [];
      for (const type of ["start", "boundary", "pause", "resume", "end", "error"])
        utterance.addEventListener(type, ({ charIndex, charLength, elapsedTime, error }) => events.push({ type, charIndex, elapsedTime, error, word: utterance.text.slice(charIndex, charIndex + charLength) }));
      return events;
    };
    globalThis.ended = (utterance) => new Promise((done) => { utterance.onend = done; utterance.onerror = done; });`);
  return session;
}

test("a library for browsers' voices speaks with these", { timeout: 120_000 }, async (t) => {
  const session = await installed(t);
  await session.page.evaluate(EASY_SPEECH.replace(/^["']use strict["'];?/, "").replace(/\bvar EasySpeech\b/, "globalThis.EasySpeech"));
  const { voices, events, status } = await run(session, `
    await EasySpeech.init({ maxTimeout: 5000, interval: 250, quiet: true });
    const voices = EasySpeech.voices().map(({ name, lang, localService, default: isDefault }) => ({ name, lang, localService, isDefault }));
    const events = [];
    const on = ({ type, charIndex }) => events.push([type, charIndex]);
    await EasySpeech.speak({ text: "Good morning, everyone.", voice: EasySpeech.voices()[1], rate: 1.5, volume: 0.5, start: on, boundary: on, end: on });
    return { voices, events, status: EasySpeech.status().status };`);
  assert.deepEqual(voices, [
    { name: "The base", lang: "en-US", localService: true, isDefault: true },
    { name: "Mine", lang: "en-US", localService: true, isDefault: false },
  ]);
  assert.deepEqual(events, [["start", 0], ["boundary", 0], ["boundary", 5], ["boundary", 14], ["end", 14]]);
  assert.match(status, /^(speak|init)/);
});

test("utterances wait, words are announced in their places, and rate and pause count", { timeout: 120_000 }, async (t) => {
  const session = await installed(t);
  const found = await run(session, `
    const text = "It costs $5.20 at 5:30.  And the the rest?\\n\\nDr. No knows.";
    const [first, second] = [new SpeechSynthesisUtterance(text), new SpeechSynthesisUtterance("Good morning.")];
    const [heard, after] = [listened(first), listened(second)];
    const states = [];
    const note = () => states.push([speechSynthesis.speaking, speechSynthesis.pending, speechSynthesis.paused]);
    note();
    speechSynthesis.speak(first);
    speechSynthesis.speak(second);
    note();
    await ended(first);
    note();
    await ended(second);
    note();
    // Twice as fast, with a pause of a second within.
    const fast = new SpeechSynthesisUtterance("Good morning.");
    fast.rate = 2;
    const paused = listened(fast);
    const begun = performance.now();
    fast.addEventListener("boundary", ({ charIndex }) => {
      if (charIndex !== 5) return;
      speechSynthesis.pause();
      note();
      setTimeout(() => speechSynthesis.resume(), 1000);
    });
    speechSynthesis.speak(fast);
    await ended(fast);
    return { heard, after, states, paused, seconds: (performance.now() - begun) / 1000 };`);
  const words = (/** @type {any[]} */ events) => events.filter(({ type }) => type === "boundary").map(({ word }) => word);
  assert.deepEqual(words(found.heard), ["It", "costs", "$5.20", "at", "5:30.", "And", "the", "the", "rest?", "Dr.", "No", "knows."]);
  const at = found.heard.map((/** @type {any} */ { charIndex }) => charIndex);
  assert.deepEqual(at, [...at].sort((a, b) => a - b), "each later in the text");
  const times = found.heard.map((/** @type {any} */ { elapsedTime }) => elapsedTime);
  assert.deepEqual(times, [...times].sort((a, b) => a - b), "and later in the sound");
  assert.deepEqual(found.after.map((/** @type {any} */ { type }) => type), ["start", "boundary", "boundary", "end"]);
  assert.deepEqual(found.states, [[false, false, false], [true, true, false], [true, false, false], [false, false, false], [true, false, true]]);
  assert.deepEqual(found.paused.map((/** @type {any} */ { type }) => type), ["start", "boundary", "boundary", "pause", "resume", "end"]);
  const [usual, twice] = [found.after.at(-1).elapsedTime, found.paused.at(-1).elapsedTime];
  assert.ok(twice > 0.4 * usual && twice < 0.7 * usual, `${usual} s, at twice the rate ${twice} s, in which a pause does not count`);
  assert.ok(found.seconds > 1 + twice, `${found.seconds}`);
});

test("cancelling ends what is spoken and what waits; what cannot be spoken says so, and the next is spoken", { timeout: 120_000 }, async (t) => {
  const session = await installed(t);
  const found = await run(session, `
    const utterances = ["This is a long sentence that is not spoken to its end.", "Never begun."].map((text) => new SpeechSynthesisUtterance(text));
    const [first, second] = utterances.map(listened);
    const begun = new Promise((done) => (utterances[0].onboundary = done));
    utterances.forEach((utterance) => speechSynthesis.speak(utterance));
    await begun;
    speechSynthesis.cancel();
    const idle = !speechSynthesis.speaking && !speechSynthesis.pending;
    const [unspeakable, empty, next] = ["☃", " ", "Good morning."].map((text) => new SpeechSynthesisUtterance(text));
    const [third, fourth, fifth] = [unspeakable, empty, next].map(listened);
    [unspeakable, empty, next].forEach((utterance) => speechSynthesis.speak(utterance));
    await ended(next);
    let refused;
    try { speechSynthesis.speak("text"); } catch ({ name }) { refused = name; }
    return { first, second, idle, third, fourth, fifth, refused };`);
  const last = (/** @type {any[]} */ events) => [events.at(-1).type, events.at(-1).error];
  assert.deepEqual(last(found.first), ["error", "interrupted"]);
  assert.deepEqual(found.second.map((/** @type {any} */ { type, error }) => [type, error]), [["error", "canceled"]]);
  assert.equal(found.idle, true);
  assert.deepEqual(found.third.map((/** @type {any} */ { type, error }) => [type, error]), [["error", "synthesis-failed"]]);
  assert.deepEqual(found.fourth.map((/** @type {any} */ { type }) => type), ["start", "end"]);
  assert.deepEqual(found.fifth.map((/** @type {any} */ { type }) => type), ["start", "boundary", "boundary", "end"]);
  assert.equal(found.refused, "TypeError");
});
