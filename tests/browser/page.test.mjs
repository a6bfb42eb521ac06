// The whole path as a visitor meets it: record from a microphone, let it learn, speak before and after, save and open the voice; and not one
// request meanwhile.
// One long file: its tests go on from one visit.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { PHONE, SENTENCES, chooseFiles, download, heard, heardTo, inOrder, learned, note, noted, ready, record, speak, spoken, visit } from "./steps.mjs";

const MINUTE = 60_000;

test("CPU, full size, 200 iterations: the whole path on a recorded minute", { timeout: 40 * MINUTE }, async (t) => {
  const { path: microphone, parts } = inOrder(SENTENCES.length);
  const session = await visit({ device: "cpu", microphone });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  const loaded = session.mark();
  await session.screenshot("cpu-loaded");
  assert.match((await page.textContent("#device")) ?? "", /processor.*CPU is used/s);

  assert.equal(await page.isDisabled("#train-start"), true, "not without consent");
  await record(page, parts);
  await session.screenshot("cpu-recorded");

  await page.click("#train-start");
  await page.waitForFunction(() => /^Iteration [2-9]\d /.test(document.querySelector("#train-words")?.textContent ?? ""), null, { timeout: 20 * MINUTE });
  await session.screenshot("cpu-learning");
  await learned(page, 30 * MINUTE);
  const loss = ((await page.textContent("#train-loss")) ?? "").match(/Loss ([\d.]+), from ([\d.]+)/);
  assert.ok(loss && Number(loss[1]) < Number(loss[2]), `the loss falls: ${loss?.[0]}`);
  t.diagnostic(`${await page.textContent("#train-words")} ${loss?.[0]}`);

  // What the training looked like, in words as well as in pictures.
  const [now, first] = ((await page.textContent("#mel-words")) ?? "").match(/[\d.]+/g)?.map(Number) ?? [];
  assert.ok(now < first, `the spectrograms grow alike: ${await page.textContent("#mel-words")}`);
  const [sounds, all] = ((await page.textContent("#alignment-words")) ?? "").match(/\d+/g)?.map(Number) ?? [];
  assert.ok(all > 20 && sounds > all / 4, `${await page.textContent("#alignment-words")}`);
  assert.ok(await page.getAttribute("#alignment", "aria-label"));
  await page.waitForSelector("#likeness-bars:not([hidden])", { timeout: 2 * MINUTE });
  const likeness = await page.$$eval("#likeness-bars dd", (all) => all.map((each) => parseInt(each.textContent ?? "")));
  // A clone may come nearer than the speaker's other sentences do.
  assert.ok(likeness[0] + 20 < Math.min(likeness[1], likeness[2]), `base, clone, own recordings: ${likeness}`);
  t.diagnostic(`${await page.textContent("#likeness-words")} ${await page.textContent("#mel-words")} ${await page.textContent("#alignment-words")}`);

  const before = heard(await speak(page, "base"));
  const after = heard(await speak(page, "mine"));
  await session.screenshot("cpu-spoken");
  for (const { seconds, peak, rate } of [before, after]) {
    assert.equal(rate, 16_000);
    assert.ok(seconds > 1 && seconds < 8, `${seconds} s for two short sentences`);
    assert.ok(peak > 0.05 && peak <= 1, `peak ${peak}`);
  }

  // The voice as a file, and the file as a voice. Its speech names it, and it holds the speaker's consent.
  const file = await download(page, "#save");
  assert.deepEqual(after.notes, { ISFT: "ownvoice", ICMT: `Synthetic speech, made by ownvoice with voice ${createHash("sha256").update(file).digest("hex").slice(0, 16)}` });
  assert.match(before.notes.ICMT, /^Synthetic speech, made by ownvoice with voice [0-9a-f]{16}$/);
  const metadata = JSON.parse(JSON.parse(file.toString("utf8", 8, 8 + Number(file.readBigUInt64LE(0)))).__metadata__.ownvoice);
  assert.match(metadata.consent, /^This is my own voice, and I agree/);
  assert.match(metadata.consent_recording_sha256, /^[0-9a-f]{64}$/);
  await page.setInputFiles("#open", { name: "me.ownvoice", mimeType: "application/octet-stream", buffer: file });
  await page.waitForFunction(() => /saved voice is open/.test(document.querySelector("#train-words")?.textContent ?? ""));
  const opened = heard(await speak(page, "mine"));
  assert.ok(Math.abs(opened.seconds - after.seconds) < 0.1, `an opened voice takes ${opened.seconds} s, the saved one took ${after.seconds} s`);

  session.assertNoRequestsSince(loaded, "from load through recording, training, speaking, saving and opening");
  session.assertNothingLeft();
  session.assertQuiet();
});

/** A first visit: nothing is kept from before. @returns {Promise<number>} Seconds from the request for the page to the first sound. */
async function firstSound() {
  const session = await visit({ device: "cpu", path: "icon.svg" });
  try {
    const started = performance.now();
    await session.goto();
    await session.page.click("#base .say", { timeout: MINUTE });
    await session.page.waitForSelector("#base[data-first-audio-ms]", { timeout: MINUTE });
    const seconds = (performance.now() - started) / 1000;
    const order = session.requests.map(({ url }) => new URL(url).pathname).filter((path) => /weights\.safetensors|module|uplot\.js|\.wasm/.test(path));
    assert.match(order.at(-1) ?? "", /weights/, `nothing is fetched after the base: ${order.join(" ")}`);
    return seconds;
  } finally {
    await session.close();
  }
}

test("from the first visit to the first sound it takes less than ten seconds", { timeout: 5 * MINUTE }, async (t) => {
  // What else the machine does can only add to it: the least of three counts.
  const seconds = [];
  while (seconds.length < 3 && !(Math.min(...seconds) < 10)) seconds.push(await firstSound());
  t.diagnostic(`${seconds.map((each) => each.toFixed(1)).join(", ")} s`);
  assert.ok(Math.min(...seconds) < 10, `${seconds} s`);
});

/** The median pitch by autocorrelation, of the louder half of the frames. @param {{ samples: Int16Array, rate: number }} speech */
function pitchHz({ samples, rate }) {
  const [length, least, most] = [1024, Math.floor(rate / 400), Math.ceil(rate / 70)];
  const frames = [];
  for (let start = 0; start + length + most < samples.length; start += length) {
    const product = (/** @type {number} */ lag) => samples.subarray(start, start + length).reduce((sum, sample, i) => sum + sample * samples[start + i + lag], 0);
    let best = least;
    const products = Array.from({ length: most + 1 }, (_, lag) => (lag < least ? 0 : product(lag)));
    for (let lag = least; lag <= most; lag++) if (products[lag] > products[best]) best = lag;
    frames.push({ energy: product(0), hz: rate / best });
  }
  const loud = frames.sort((a, b) => b.energy - a.energy).slice(0, Math.ceil(frames.length / 2)).map(({ hz }) => hz);
  return loud.sort((a, b) => a - b)[Math.floor(loud.length / 2)];
}

test("a text is spoken higher and slower by the sliders", { timeout: 3 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu" });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await page.fill("#text", "Good morning, everyone.");
  const spoken = async () => {
    await page.click("#base .say");
    await page.waitForSelector("#base .download:not([hidden])", { timeout: MINUTE });
    return heard(await download(page, "#base .download"));
  };
  const usual = await spoken();
  await page.fill("#pitch", "6");
  await page.fill("#speed", "0.5");
  assert.equal(await page.textContent("#pitch-value"), "+6.0 semitones");
  const other = await spoken();
  t.diagnostic(`${Math.round(pitchHz(usual))} Hz, six semitones higher ${Math.round(pitchHz(other))} Hz`);
  assert.ok(other.seconds > 1.6 * usual.seconds, `${other.seconds} and ${usual.seconds} s`);
  const semitones = 12 * Math.log2(pitchHz(other) / pitchHz(usual));
  assert.ok(semitones > 4 && semitones < 8, `${semitones}`);
});

test("a text is heard while it is made, and can be stopped", { timeout: 3 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu" });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  const sentences = ["Good morning, everyone.", ...SENTENCES.slice(0, 5).map(({ text }) => text)];
  await page.fill("#text", sentences.join(" "));
  await page.click("#base .say");
  await page.waitForSelector("#base[data-first-audio-ms]");
  assert.equal(await page.textContent("#base .say"), "Stop", "it is still being made");
  assert.equal(await page.isHidden("#base .download"), true);
  t.diagnostic(`first sound ${await page.getAttribute("#base", "data-first-audio-ms")} ms after the click`);
  await page.waitForSelector("#base .play:not([hidden])", { timeout: 2 * MINUTE });
  assert.equal(await page.textContent("#base .play"), "Stop", "it is made before it has been heard");
  const { seconds } = heard(await download(page, "#base .download"));
  assert.ok(seconds > 15 && seconds < 60, `${seconds} s`);
  await page.click("#base .play");
  assert.equal(await page.textContent("#base .play"), "Play");

  await page.click("#base .say");
  await page.waitForSelector("#base[data-first-audio-ms]");
  await page.click("#base .say");
  await page.waitForFunction(() => document.querySelector("#base .say")?.textContent === "Speak");
  assert.equal(await page.isHidden("#base .download"), true, "half of it is not kept");
  assert.equal(await page.isHidden("#speak-error"), true, "to stop is no error");
  session.assertQuiet();
});

test("WebGPU (SwiftShader), tiny: the loss falls", { timeout: 20 * MINUTE }, async (t) => {
  const session = await visit({ device: "webgpu", tiny: true, path: "?device=webgpu" });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  assert.ok(await session.adapter());
  assert.match((await page.textContent("#device")) ?? "", /graphics card.*WebGPU was asked for/s);
  const loaded = session.mark();
  await chooseFiles(page, 4);
  await page.click("#train-start");
  // One batch is no measure: the loss moves by a tenth from one to the next.
  const losses = [];
  let first = NaN;
  for (const iteration of [40, 45, 50, 55, 60]) {
    const reached = (/** @type {number} */ least) => Number(/^Iteration (\d+) /.exec(document.querySelector("#train-words")?.textContent ?? "")?.[1]) >= least;
    await page.waitForFunction(reached, iteration, { timeout: 15 * MINUTE });
    const [now, from] = ((await page.textContent("#train-loss")) ?? "").match(/Loss ([\d.]+), from ([\d.]+)/)?.slice(1).map(Number) ?? [];
    losses.push(now);
    first = from;
  }
  await session.screenshot("webgpu-learning");
  const mean = losses.reduce((sum, loss) => sum + loss) / losses.length;
  assert.ok(mean < first, `the loss falls: ${losses}, from ${first}`);
  t.diagnostic(`losses ${losses}, from ${first}`);
  await page.click("#train-stop");
  await learned(page, 5 * MINUTE);
  assert.ok(heard(await speak(page, "mine")).seconds > 0.5);
  session.assertNoRequestsSince(loaded, "on WebGPU");
  session.assertQuiet();
});

test("a software adapter is passed over, and the page says so", async (t) => {
  const session = await visit({ device: "webgpu", tiny: true });
  t.after(() => session.close());
  await ready(session);
  assert.match((await session.page.textContent("#device")) ?? "", /processor.*software/s);
  session.assertQuiet();
});

test("phone: every stage fits, and the microphone can be refused", { timeout: 10 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true, viewport: PHONE, permission: "deny" });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await session.screenshot("phone-loaded");
  await page.click("#record-button");
  await page.waitForSelector("#clip-words code");
  assert.equal(await page.textContent("#clip-words code"), "microphone-denied");
  await chooseFiles(page, 6);
  await session.screenshot("phone-files");
  await page.click("#train-start");
  await page.waitForSelector("#train-stop:not([hidden])");
  await session.screenshot("phone-learning");
  await learned(page, 8 * MINUTE);
  await speak(page, "base");
  await speak(page, "mine");
  await session.screenshot("phone-spoken");
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), PHONE.width, "nothing is wider than the phone");
});

test("a closed tab loses no recording, and training goes on from its checkpoint", { timeout: 10 * MINUTE }, async (t) => {
  const profile = mkdtempSync(join(tmpdir(), "ownvoice-profile-"));
  const { path: microphone, parts } = inOrder(3);
  const first = await visit({ device: "cpu", tiny: true, microphone, profile });
  t.after(() => first.close());
  await ready(first);
  await record(first.page, parts);
  await first.page.click("#train-start");
  await first.page.waitForFunction(() => /^Iteration (2[6-9]|[3-9]\d) /.test(document.querySelector("#train-words")?.textContent ?? ""), null, { timeout: 5 * MINUTE });
  await first.close();

  const second = await visit({ device: "cpu", tiny: true, profile });
  t.after(() => second.close());
  const { page } = second;
  await ready(second);
  assert.equal(await page.locator("#prompt-list [data-state=good]").count(), 4, "consent and three sentences are back");
  assert.match((await page.textContent("#kept-words")) ?? "", /recordings of 4 sentences/);
  const from = Number(((await page.textContent("#train-resume")) ?? "").match(/iteration (\d+)/)?.[1]);
  assert.ok(from >= 25 && from % 25 === 0, `from ${from}`);
  await note(page);
  await page.click("#train-resume");
  await page.waitForSelector("#train-stop:not([hidden])", { timeout: MINUTE });
  await page.click("#train-stop");
  await learned(page);
  assert.equal((await noted(page))[0], from + 1, "it goes on with the next iteration");

  // The finished voice outlives the tab as well; and everything can be deleted.
  await page.reload();
  await ready(second);
  assert.equal(await page.isDisabled("#mine .say"), false, "the voice is back");
  page.once("dialog", (dialog) => dialog.accept());
  await page.click("#delete-all");
  await page.waitForFunction(() => /until you delete them/.test(document.querySelector("#kept-words")?.textContent ?? ""));
  await page.reload();
  await ready(second);
  assert.equal(await page.locator("#prompt-list [data-state=good]").count(), 0);
  assert.equal(await page.isDisabled("#mine .say"), true);
});

test("sentences: back, skip, discard, again, and keys that sleep in text fields", { timeout: 5 * MINUTE }, async (t) => {
  const { path: microphone, parts } = inOrder(1);
  const session = await visit({ device: "cpu", tiny: true, microphone });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  const position = () => page.textContent("#prompt-position");
  const step = () => page.locator("#card").evaluate((card) => card.closest("section")?.querySelector("h2")?.textContent);
  assert.deepEqual(await page.locator(".step > h2").allTextContents(), ["Agree, and be heard", "Read a minute", "Let it learn", "Speak"]);
  assert.deepEqual([await position(), await step()], ["Your consent", "Agree, and be heard"]);
  await record(page, parts);
  assert.match((await position()) ?? "", /Sentence 1 /);
  assert.equal(await step(), "Read a minute", "the card goes where its sentence belongs");
  assert.equal(await page.textContent("#agree-words"), "You agreed, and the microphone works.");
  await page.click("#agree-open");
  assert.deepEqual([await position(), await step()], ["Your consent", "Agree, and be heard"]);
  await page.click("#next");
  assert.equal(await page.evaluate(() => document.activeElement?.id), "next", "what was pressed stays in focus");
  await page.keyboard.press("ArrowRight");
  assert.match((await position()) ?? "", /Sentence 2 /);
  await page.click("#next");
  assert.match((await position()) ?? "", /Sentence 3 /);
  await page.click("#back");
  await page.click("#back");
  assert.match((await position()) ?? "", /Sentence 1 /);
  assert.equal(await page.textContent("#record-words"), "Record again");

  await page.focus("#text");
  await page.keyboard.type("r");
  assert.equal(await page.getAttribute("#record-button", "aria-pressed"), "false", "a letter in the text is a letter");
  await page.locator("#prompt-position").click();
  await page.locator("body").press("r");
  await page.waitForSelector("#record-button[aria-pressed=true]");
  await page.waitForTimeout(2500);
  await page.locator("body").press("r");
  await page.waitForSelector("#record-button[aria-pressed=false]");
  await page.click("#discard");
  assert.equal(await page.textContent("#clip-words"), "Not recorded yet.");
  await page.click("#close-microphone");
  await page.waitForSelector("#level", { state: "hidden" });
  session.assertQuiet();
});

test("a clip that says something else is told at once, and recorded again", { timeout: 5 * MINUTE }, async (t) => {
  // The second card records the third sentence first, and its own after that.
  const { path: microphone, parts } = spoken(["consent", 1, 0]);
  const session = await visit({ device: "cpu", tiny: true, microphone, viewport: PHONE });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await record(page, parts.slice(0, 1));
  await page.click("#next");
  const take = async (/** @type {{ begin: number, end: number }} */ { begin, end }) => {
    await heardTo(page, begin);
    await page.click("#record-button");
    await heardTo(page, end);
    await page.click("#record-button");
    await page.waitForSelector("#clip-words:is([data-state=good], [data-state=bad])");
    return page.textContent("#clip-words");
  };
  assert.match((await take(parts[1])) ?? "", /does not sound like the sentence.*clip-mismatch/);
  assert.equal(await page.textContent("#record-words"), "Record again");
  assert.equal(await page.locator("#prompt-list [data-state=bad]").count(), 1);
  await session.screenshot("phone-mismatch");
  assert.match((await take(parts[2])) ?? "", /^Good/);
  assert.equal(await page.locator("#prompt-list [data-state=bad]").count(), 0);
  session.assertQuiet();
});

test("a file whose text is wrong leads training back to it, and is left out until it is mended", { timeout: 5 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await chooseFiles(page, 4);
  const right = await page.inputValue("[data-file=p02]");
  // Training starts before the change is judged: the field still has the focus.
  await page.locator("[data-file=p02]").fill("Something that nobody has ever said into this microphone, nor will.");
  await page.evaluate(() => document.getElementById("train-start")?.click());
  await page.waitForSelector("#train-error:not([hidden])");
  assert.match((await page.textContent("#train-error")) ?? "", /stands in the way.*p02.*clip-mismatch/);
  assert.match((await page.textContent("#file-list li:nth-child(2) .verdict")) ?? "", /does not fit this text/);
  await page.click("#train-clip");
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("data-file")), "p02");
  assert.match((await page.textContent("#train-words")) ?? "", /^3 clips/);
  await session.screenshot("bad-file");
  await page.fill("[data-file=p02]", right);
  await page.locator("[data-file=p02]").blur();
  await page.waitForFunction(() => /^4 clips/.test(document.querySelector("#train-words")?.textContent ?? ""));
  await page.click("#train-start");
  await page.waitForSelector("#train-stop:not([hidden])");
  assert.equal(await page.isHidden("#train-clip"), true);
  session.assertQuiet();
});

test("the policy forbids what the page never does", async (t) => {
  const session = await visit({ device: "cpu", tiny: true });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  const blocked = await page.evaluate(async () => {
    // Page and server both send the policy, so each refusal raises two events: all within half a second count.
    const asked = async (/** @type {() => unknown} */ act) => {
      const told = new Set();
      const note = (/** @type {SecurityPolicyViolationEvent} */ event) => told.add(event.effectiveDirective);
      document.addEventListener("securitypolicyviolation", note);
      try {
        await act();
      } catch {
        // refused, as it should be; the event names the directive
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
      document.removeEventListener("securitypolicyviolation", note);
      return [...told].join(" ") || "allowed";
    };
    return [
      await asked(() => fetch("https://example.com/")),
      await asked(() => navigator.sendBeacon("https://example.com/", "x")),
      await asked(() => new Image().setAttribute("src", "https://example.com/x.png")),
      await asked(() => document.head.append(Object.assign(document.createElement("script"), { src: "https://example.com/x.js" }))),
      await asked(() => document.head.append(Object.assign(document.createElement("script"), { textContent: "1" }))),
    ];
  });
  assert.deepEqual(blocked, ["connect-src", "connect-src", "img-src", "script-src-elem", "script-src-elem"]);
  session.assertNothingLeft();
});

test("the policy holds in the worker, on a host that sends none", { timeout: 2 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true, prepare: (session) => session.servePlainly() });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  const [worker] = page.workers();
  // What a worker could send with: an answer of any kind would be one too many.
  const answers = await worker.evaluate(async () => {
    const elsewhere = "https://example.com/";
    const outcome = (/** @type {Promise<unknown>} */ promise) => promise.then(() => "sent", () => "refused");
    const socket = new Promise((resolve, reject) => {
      try {
        const opened = new WebSocket("wss://example.com/");
        opened.onopen = resolve;
        opened.onerror = reject;
      } catch (error) {
        reject(error);
      }
    });
    const nested = new Promise((resolve, reject) => {
      const blob = URL.createObjectURL(new Blob(["fetch('https://example.com/nested').then(() => postMessage('sent'), () => postMessage('refused'))"], { type: "text/javascript" }));
      const helper = new Worker(blob);
      helper.onmessage = ({ data }) => (data === "sent" ? resolve(data) : reject(data));
      helper.onerror = reject;
    });
    return Promise.all([outcome(fetch(elsewhere)), outcome(import(`${elsewhere}x.js`)), outcome(socket), outcome(nested)]);
  });
  assert.deepEqual(answers, ["refused", "refused", "refused", "refused"]);
  assert.ok(heard(await speak(page, "base")).seconds > 0.5, "and it works there");
  session.assertNothingLeft();
});

test("a base voice of another host is refused before anything is asked of it", { timeout: MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", path: `?base=${encodeURIComponent("https://example.com/base/")}`, prepare: (session) => session.servePlainly() });
  t.after(() => session.close());
  const { page } = session;
  await page.waitForSelector("body[data-phase=failed]");
  assert.match((await page.textContent("#loading-error")) ?? "", /another host.*base-elsewhere/);
  session.assertNothingLeft();
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

test("the screen stays on while a voice is learned, and no longer", { timeout: 2 * MINUTE }, async (t) => {
  const prepare = (/** @type {import("./harness.mjs").Session} */ { page }) =>
    page.addInitScript(() => {
      const log = (/** @type {any} */ (globalThis).awake = /** @type {string[]} */ ([]));
      class Sentinel extends EventTarget {
        async release() {
          log.push("release");
          this.dispatchEvent(new Event("release"));
        }
      }
      const request = async (/** @type {string} */ type) => (log.push(type), new Sentinel());
      Object.defineProperty(Navigator.prototype, "wakeLock", { value: { request } });
    });
  const session = await visit({ device: "cpu", tiny: true, prepare });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await chooseFiles(page, 2);
  assert.deepEqual(await page.evaluate("awake"), []);
  await page.click("#train-start");
  await page.waitForSelector("#train-stop:not([hidden])");
  assert.deepEqual(await page.evaluate("awake"), ["screen"]);
  await page.click("#train-cancel");
  await page.waitForFunction(() => /^Cancelled/.test(document.querySelector("#train-words")?.textContent ?? ""));
  assert.deepEqual(await page.evaluate("awake"), ["screen", "release"]);
  session.assertQuiet();
});
