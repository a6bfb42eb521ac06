// Speaking: the sliders, speech that plays while it is made, and a voice that is replaced while it speaks.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { SENTENCES, chooseFiles, download, heard, learnBriefly, learned, ready, speak, visit } from "./steps.mjs";

const MINUTE = 60_000;

/** The median pitch by autocorrelation, of the louder half of the frames. @param {{ samples: Int16Array, rate: number }} speech */
function pitchHz({ samples, rate }) {
  const [length, least, most] = [Math.round(0.064 * rate), Math.floor(rate / 500), Math.ceil(rate / 70)];
  const frames = [];
  for (let start = 0; start + length + most < samples.length; start += length) {
    const product = (/** @type {number} */ lag) => samples.subarray(start, start + length).reduce((sum, sample, i) => sum + sample * samples[start + i + lag], 0);
    let best = least;
    const products = Array.from({ length: most + 1 }, (_, lag) => (lag < least ? 0 : product(lag)));
    for (let lag = least; lag <= most; lag++) if (products[lag] > products[best]) best = lag;
    // A multiple of the period is nearly as like: the first peak counts that is.
    const first = products.findIndex((value, lag) => lag > least && value > 0.8 * products[best] && value >= products[lag - 1] && value >= (products[lag + 1] ?? value));
    frames.push({ energy: product(0), hz: rate / (first > 0 ? first : best) });
  }
  const loud = frames.sort((a, b) => b.energy - a.energy).slice(0, Math.ceil(frames.length / 2)).map(({ hz }) => hz);
  return loud.sort((a, b) => a - b)[Math.floor(loud.length / 2)];
}

test("a text is spoken higher and slower by the sliders", { timeout: 3 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu" });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await page.fill("#text", "We all know many men who were living near the river.");
  const spoken = async () => {
    await page.click("#base .say");
    await page.waitForSelector("#base .download:not([hidden])", { timeout: MINUTE });
    return heard(await download(page, "#base .download"));
  };
  const usual = await spoken();
  await page.fill("#pitch", "6");
  assert.equal(await page.textContent("#pitch-value"), "+6.0 semitones");
  const higher = await spoken();
  t.diagnostic(`${Math.round(pitchHz(usual))} Hz, six semitones higher ${Math.round(pitchHz(higher))} Hz`);
  await page.fill("#speed", "0.5");
  const slower = await spoken();
  assert.ok(slower.seconds > 1.6 * usual.seconds, `${slower.seconds} and ${usual.seconds} s`);
  const semitones = 12 * Math.log2(pitchHz(higher) / pitchHz(usual));
  assert.ok(semitones > 4 && semitones < 8, `${semitones}`);
});

test("speech plays while it is made, and can be stopped", { timeout: 3 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu" });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  const sentences = ["Good morning, everyone.", ...SENTENCES.slice(0, 5).map(({ text }) => text)];
  await page.fill("#text", sentences.join(" "));
  await page.click("#base .say");
  await page.waitForSelector("#base[data-first-audio-ms]");
  assert.equal(await page.textContent("#base .say"), "Stop", "the speech is still being made");
  assert.equal(await page.isHidden("#base .download"), true);
  t.diagnostic(`first sound ${await page.getAttribute("#base", "data-first-audio-ms")} ms after the click`);
  await page.waitForSelector("#base .download:not([hidden])", { timeout: 2 * MINUTE });
  assert.equal(await page.textContent("#base .play"), "Pause", "the speech is complete before it has been played");
  const { seconds } = heard(await download(page, "#base .download"));
  assert.ok(seconds > 15 && seconds < 60, `${seconds} s`);
  await page.click("#base .play");
  assert.equal(await page.textContent("#base .play"), "Play");

  await page.click("#base .say");
  await page.waitForSelector("#base[data-first-audio-ms]");
  await page.click("#base .say");
  await page.waitForFunction(() => document.querySelector("#base .say")?.textContent === "Speak");
  assert.equal(await page.isHidden("#base .download"), true, "incomplete speech is not kept");
  assert.equal(await page.isHidden("#speak-error"), true, "stopping is not an error");
  session.assertQuiet();
});

test("speech is paused and goes on, keys move in it, and the word that is spoken is marked", { timeout: 3 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu" });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await page.fill("#text", "Good morning. The train leaves at 5:30 from platform two, as it has always done, and nobody knows why.");
  const position = async () => Number(await page.getAttribute("#base .wave", "aria-valuenow"));
  await page.evaluate(() => {
    const line = /** @type {Element} */ (document.querySelector("#base .reading"));
    const marked = (/** @type {any} */ (globalThis).marked = /** @type {string[]} */ ([]));
    new MutationObserver(() => {
      const word = line.querySelector("mark")?.textContent ?? "";
      if (marked.at(-1) !== word) marked.push(word);
    }).observe(line, { childList: true });
  });
  await page.click("#base .say");
  await page.waitForFunction(() => document.querySelector("#base mark")?.textContent === "train", null, { timeout: MINUTE });
  await session.screenshot("word-marked", "#base");
  await page.click("#base .play");
  assert.equal(await page.textContent("#base .play"), "Play");
  const paused = await page.innerHTML("#base .reading");
  await page.waitForTimeout(1500);
  assert.equal(await page.innerHTML("#base .reading"), paused, "the word stays");
  await page.click("#base .play");
  await page.waitForFunction(() => document.querySelector("#base .play")?.textContent === "Play", null, { timeout: MINUTE });
  const marked = /** @type {string[]} */ (await page.evaluate("marked"));
  const text = "Good morning. The train leaves at 5:30 from platform two, as it has always done, and nobody knows why.".split(" ");
  assert.deepEqual(marked.filter(Boolean), text, "each word once, in order");

  // Keys move as a click in the waveform does.
  await page.waitForSelector("#base .download:not([hidden])", { timeout: MINUTE });
  await page.focus("#base .wave");
  await page.keyboard.press("ArrowRight");
  await page.click("#base .play");
  assert.equal(await position(), 5);
  await page.focus("#base .wave");
  await page.keyboard.press("ArrowLeft");
  await page.click("#base .play");
  assert.equal(await position(), 0);
  session.assertQuiet();
});

test("a sound is saved as Opus too, with the same marks and as long", { timeout: 3 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu" });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await page.fill("#text", "Good morning. I am glad that you can hear me. The train leaves at half past five.");
  const wav = heard(await speak(page, "base"));
  const [saved] = await Promise.all([page.waitForEvent("download"), page.click("#base .opus")]);
  assert.match(saved.suggestedFilename(), /^Good morning.*\.opus$/);
  const bytes = readFileSync(await saved.path());
  assert.ok(bytes.includes("OggS") && bytes.includes("OpusHead") && bytes.includes(`COMMENT=${wav.notes.ICMT}`), "its origin is in it");
  assert.ok(bytes.length < 6000 * wav.seconds, `${bytes.length} bytes for ${wav.seconds} s`);
  /** The lengths, and the loudness of each tenth of a second. */
  const { seconds, levels } = await page.evaluate(async (base64) => {
    const decoded = await new OfflineAudioContext(1, 1, 16_000).decodeAudioData(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)).buffer);
    const samples = decoded.getChannelData(0);
    const levels = Array.from({ length: Math.floor(samples.length / 1600) }, (_, at) => Math.hypot(...samples.subarray(at * 1600, (at + 1) * 1600)));
    return { seconds: decoded.duration, levels };
  }, bytes.toString("base64"));
  assert.ok(Math.abs(seconds - wav.seconds) < 0.03, `${seconds} and ${wav.seconds} s`);
  const step = wav.rate / 10;
  const expected = levels.map((_, at) => Math.hypot(...wav.samples.subarray(at * step, (at + 1) * step)));
  const mean = (/** @type {number[]} */ all) => all.reduce((sum, x) => sum + x, 0) / all.length;
  const spread = (/** @type {number[]} */ all) => all.map((x) => x - mean(all));
  const [a, b] = [spread(levels), spread(expected)];
  const alike = a.reduce((sum, x, i) => sum + x * b[i], 0) / Math.hypot(...a) / Math.hypot(...b);
  assert.ok(alike > 0.98, `${alike}`);
  session.assertQuiet();
});

test("one control plays the text before and after", { timeout: 3 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  assert.equal(await page.isHidden("#both"), true, "there is no after yet");
  await learnBriefly(page, 2);
  await page.fill("#text", "Good morning.");
  await page.evaluate(() => {
    const played = (/** @type {any} */ (globalThis).played = /** @type {string[]} */ ([]));
    for (const which of ["base", "mine"]) {
      const button = /** @type {Element} */ (document.querySelector(`#${which} .play`));
      new MutationObserver(() => played.push(`${which} ${button.textContent}`)).observe(button, { childList: true, characterData: true, subtree: true });
    }
  });
  const both = async () => {
    await page.click("#both");
    await page.waitForFunction(() => /** @type {any} */ (globalThis).played.filter((/** @type {string} */ each) => / Play$/.test(each)).length === 2, null, { timeout: MINUTE });
    return /** @type {string[]} */ (await page.evaluate("played.splice(0)")).filter((each, at, all) => each !== all[at - 1]);
  };
  const order = ["base Pause", "base Play", "mine Pause", "mine Play"];
  assert.deepEqual(await both(), order);
  assert.deepEqual(await both(), order, "again");
  session.assertQuiet();
});

test("a voice is replaced while it speaks", { timeout: 3 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await chooseFiles(page, 2);
  await page.click("#train-start");
  await page.click("#train-stop", { timeout: MINUTE });
  await learned(page);
  const buffer = await download(page, "#save");
  const before = await page.inputValue("#text");
  await page.fill("#text", SENTENCES.map(({ text }) => text).join(" "));
  await page.click("#mine .say");
  await page.waitForSelector("#mine[data-first-audio-ms]");
  await page.setInputFiles("#open", { name: "me.ownvoice", mimeType: "application/octet-stream", buffer });
  await page.waitForFunction(() => document.querySelector("#mine .say")?.textContent === "Speak");
  await page.waitForTimeout(2000);
  assert.equal(await page.isHidden("#speak-error"), true, (await page.textContent("#speak-error")) ?? "");
  await page.fill("#text", before);
  assert.ok(heard(await speak(page, "mine")).seconds > 0.5, "and the new one speaks");
  assert.equal(await page.isHidden("#engine"), true, "the engine did not end");
  session.assertQuiet();
});

test("a long text leaves the page's thread free, and takes no memory of it", { timeout: 15 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  const devtools = await session.context.newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const busySeconds = async () => (await devtools.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0;
  const heapMb = async () => {
    await devtools.send("HeapProfiler.collectGarbage");
    const { usedSize, backingStorageSize = 0 } = /** @type {any} */ (await devtools.send("Runtime.getHeapUsage"));
    return (usedSize + backingStorageSize) / 1e6;
  };
  const text = SENTENCES.map(({ text }) => text).join(" ");
  const speakAll = async (/** @type {number} */ characters) => {
    await page.fill("#text", text.repeat(Math.ceil(characters / text.length)).slice(0, characters));
    const busy = await busySeconds();
    await page.click("#base .say");
    await page.waitForSelector("#base .download:not([hidden])", { timeout: 10 * MINUTE });
    return (await busySeconds()) - busy;
  };
  const short = await speakAll(600);
  const before = await heapMb();
  const long = await speakAll(50_000);
  const after = await heapMb();
  t.diagnostic(`${short.toFixed(2)} s of the page's thread for 600 characters, ${long.toFixed(2)} s for 50,000; ${before.toFixed(0)} MB before, ${after.toFixed(0)} MB after`);
  assert.ok(long < 100 * short, `${long} s, ${short} s for an 83rd of it`);
  assert.ok(after < before + 15, `${before} MB before, ${after} MB after`);
  // It is played from any place.
  assert.equal(await page.textContent("#base .play"), "Pause");
  await page.click("#base .play");
  const wave = await page.locator("#base .wave").boundingBox();
  await page.mouse.click((wave?.x ?? 0) + (wave?.width ?? 0) * 0.9, (wave?.y ?? 0) + 20);
  await page.waitForFunction(() => document.querySelector("#base .play")?.textContent === "Pause");
  assert.ok(heard(await download(page, "#base .download")).seconds > 1250);
  session.assertQuiet();
});
