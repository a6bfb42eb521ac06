// The page in Firefox and in WebKit, on the CPU: recordings in the formats that each decodes, learning, speaking, saving and opening. Where the browser stores
// data, a training continues after a reload, and the voice is restored. README's table names the versions that passed.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { serve } from "../package/consumer.mjs";
import { Firefox, findFirefox } from "./firefox.mjs";
import { ROOT, SCREENSHOTS, open as openChromium } from "./harness.mjs";
import { SENTENCES, sound, spokenSamples, wav } from "./steps.mjs";
import { WebKit, findWebKit } from "./webkit.mjs";

const MINUTE = 60_000;
const [firefox, webkit] = [findFirefox(), findWebKit()];
const BROWSERS = [
  { name: "Firefox", open: firefox ? () => Firefox.open(firefox) : undefined },
  { name: "WebKit", open: webkit ? () => WebKit.open(webkit) : undefined },
];

/** The versions in which these tests passed last, as in README's table. */
const PASSED = { Chromium: "156", Firefox: "153", WebKitGTK: "2.50" };

test("README names the versions that these tests passed in", () => {
  const table = readFileSync(join(ROOT, "README.md"), "utf8").matchAll(/^\| (\w+) ([\d.]+)/gm);
  assert.deepEqual(Object.fromEntries([...table].map(([, name, version]) => [name, version])), PASSED);
});

/** Reports where another version is installed, of which README says nothing. @param {import("node:test").TestContext} t @param {keyof typeof PASSED} name @param {string} version */
function compared(t, name, version) {
  assert.match(version, /^\d+\.\d/, name);
  const passed = `${version}.`.startsWith(`${PASSED[name]}.`);
  t.diagnostic(passed ? `${name} ${version}` : `${name} ${version} runs here, and README's table says ${PASSED[name]}: where all passes, change both`);
}

test("a Chromium runs", async (t) => {
  const session = await openChromium();
  t.after(() => session.close());
  compared(t, "Chromium", session.context.browser()?.version() ?? "");
});

for (const { name, open } of BROWSERS) {
  const skip = !open && `no ${name} is installed: it was NOT tested`;
  test(`${name}: load, speak, learn, save, open`, { timeout: 8 * MINUTE, skip }, (t) => walk(t, name, /** @type {() => Promise<Firefox | WebKit>} */ (open)));
}

test("Firefox: the microphone", { timeout: 4 * MINUTE, skip: !firefox && "no Firefox is installed: it was NOT tested" }, async (t) => {
  const site = await serve(join(ROOT, "www"));
  t.after(site.stop);
  const browser = await Firefox.open(/** @type {string} */ (firefox));
  t.after(() => browser.close());
  const until = waiting(browser);
  await browser.goto(site.url);
  await until("document.body.dataset.phase === 'ready'", 120);
  // Firefox's fake microphone gives a tone, which is replaced by the consent, all at once.
  await browser.run(
    `globalThis.AudioWorkletNode = class extends AudioWorkletNode {
      constructor(context, ...rest) {
        super(context, ...rest);
        this.port.addEventListener("message", (event) => {
          globalThis.chunks = (globalThis.chunks ?? 0) + 1;
          if (globalThis.spoken === undefined || !event.isTrusted) return;
          event.stopImmediatePropagation();
          if (!globalThis.spoken) return;
          const ratio = 16000 / context.sampleRate;
          const data = new Float32Array(context.sampleRate + spoken.length / ratio);
          for (let i = 0; i < spoken.length / ratio; i++) data[context.sampleRate / 2 + i] = spoken[Math.floor(i * ratio)] / 32768;
          globalThis.spoken = null;
          this.port.dispatchEvent(new MessageEvent("message", { data }));
        });
      }
    };
    globalThis.consent = new Int16Array(Uint8Array.from(atob(input), (letter) => letter.charCodeAt(0)).buffer);`,
    sound("consent").toString("base64"),
  );
  const press = () => browser.run("document.querySelector('#record-button').click()");
  await press();
  await until("document.querySelector('#record-button').ariaPressed === 'true' || document.querySelector('#clip-words code')");
  if (await browser.run("return document.querySelector('#record-button').ariaPressed !== 'true'")) {
    // Firefox starts no audio on a machine without a sound device.
    assert.match(await browser.run("return document.querySelector('#clip-words').textContent"), /could not be opened.*microphone-failed/);
    return t.skip("no sound device (Debian: pulseaudio --start): recording was NOT tested, only that the page reports the error");
  }
  await until("globalThis.chunks > 20");
  assert.ok(await browser.run("return Number(document.querySelector('#level').ariaValueNow) > -60"), "the level shows that it is heard");
  await press();
  await until("document.querySelector('#clip-words').dataset.state === 'bad'");
  assert.match(await browser.run("return document.querySelector('#clip-words').textContent"), /clip-/, "a tone is not the sentence");
  await until("!document.querySelector('#record-button').disabled");
  await press();
  await until("document.querySelector('#record-button').ariaPressed === 'true'");
  await browser.run("globalThis.spoken = consent");
  await until("globalThis.spoken === null");
  await press();
  await until("/^Good/.test(document.querySelector('#clip-words').textContent)");
});

/** Waits until an expression is true in the page. @param {Firefox | WebKit} browser */
const waiting = (browser) => async (/** @type {string} */ expression, seconds = 60) => {
  for (const end = Date.now() + 1000 * seconds; Date.now() < end; await sleep(200)) {
    if (await browser.run(`return Boolean(${expression})`)) return;
  }
  throw new Error(`${expression} within ${seconds} s; ${(await browser.problems()).join("; ")}`);
};

/** @param {import("node:test").TestContext} t @param {string} name @param {() => Promise<Firefox | WebKit>} open */
async function walk(t, name, open) {
  const site = await serve(join(ROOT, "www"));
  t.after(site.stop);
  const browser = await open();
  t.after(() => browser.close());
  const until = waiting(browser);
  await browser.goto(site.url);
  await until("document.body.dataset.phase !== 'loading'", 120);
  assert.equal(await browser.run("return document.querySelector('#loading-error').textContent"), "");
  const words = (/** @type {string} */ selector) => browser.run("return document.querySelector(input).textContent", selector);
  const click = (/** @type {string} */ selector) => browser.run("document.querySelector(input).click()", selector);
  const speak = async (/** @type {"base" | "mine"} */ which) => {
    await click(`#${which} .say`);
    await until(`!document.querySelector("#${which} .download").hidden`, 120);
    assert.match(await browser.run("return document.querySelector(input).href", `#${which} .download`), /^blob:/);
    return parseFloat(await words(`#${which} .words`));
  };
  compared(t, name === "WebKit" ? "WebKitGTK" : "Firefox", browser.version);
  t.diagnostic(`${name}: ${await words("#device-kind")}; ${await words("#device-reason")}`);
  assert.ok((await speak("base")) > 0.5, "the base speaks");

  // Compressed files; each browser decodes other formats.
  const encoded = ["m4a", "mp3", "ogg", "webm"].map((format) => ({ name: `${format}.${format}`, bytes: readFileSync(join(ROOT, `tests/fixtures/recordings/p01.${format}`)).toString("base64") }));
  const table = { name: "metadata.csv", bytes: Buffer.from(encoded.map(({ name }) => `${name.split(".")[0]}|${SENTENCES[0].text}`).join("\n")).toString("base64") };
  const drop = (/** @type {{ name: string, bytes: string }[]} */ files) =>
    browser.run(
      `const data = new DataTransfer();
      for (const { name, bytes } of input) data.items.add(new File([Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0))], name));
      document.querySelector("#drop").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }))`,
      files,
    );
  await click("input[value=files]");
  await drop([...encoded, table]);
  await until(`document.querySelectorAll("#file-list li :is([data-state=good], [data-state=bad], .failure)").length === ${encoded.length}`);
  /** @type {string[][]} */
  const verdicts = await browser.run("return [...document.querySelectorAll('#file-list li')].map((row) => [row.querySelector('.name').textContent, row.querySelector('.verdict, .failure').textContent])");
  const decoded = verdicts.filter(([, verdict]) => /^Good/.test(verdict)).map(([format]) => format);
  for (const [format, verdict] of verdicts) if (!decoded.includes(format)) assert.match(verdict, /cannot read any sound.*audio-unreadable/, format);
  t.diagnostic(`it decodes ${decoded.join(", ")}`);
  assert.ok(decoded.length > 0, JSON.stringify(verdicts));

  const files = [0, 1].map((index) => ({ name: `${SENTENCES[index].id}.wav`, bytes: wav(spokenSamples(index).samples).toString("base64") }));
  await drop(files);
  await until(`document.querySelectorAll('#file-list .verdict[data-state=good]').length === ${decoded.length + 2}`);
  await click("#files-agreed");
  await click("#train-start");

  const keeps = await browser.run("return navigator.storage?.getDirectory ? navigator.storage.getDirectory().then(() => true, () => false) : false");
  if (keeps) {
    await until("/^Iteration (2[89]|[3-9]\\d|\\d{3})/.test(document.querySelector('#train-iteration').textContent)", 120);
    await browser.goto(site.url);
    await until("document.body.dataset.phase === 'ready'", 120);
    assert.match(await words("#train-resume"), /^Continue learning from \d+ %$/);
    const iteration = await browser.run("return document.querySelector('#train-resume').dataset.iteration");
    await click("#train-resume");
    await until(`Number(document.querySelector("#train-iteration").textContent.match(/^Iteration (\\d+)/)?.[1]) > ${iteration}`, 120);
  } else {
    await until("/^Iteration ([3-9]|\\d\\d)/.test(document.querySelector('#train-iteration').textContent)", 120);
  }
  await click("#train-stop");
  await until("/^Your voice is ready/.test(document.querySelector('#train-words').textContent)");
  assert.ok((await speak("mine")) > 0.5, "the voice speaks");

  const heard = files.map(({ bytes }, index) => ({ bytes, text: SENTENCES[index].text }));
  const saved = await browser.run(
    `const studio = await (await import(new URL("js/index.js", location.href).href)).load({ base: "models/base", device: "cpu", storage: "ownvoice" });
    const read = async ({ bytes, text }) => ({ ...await studio.readWav(new Blob([Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0))])), text });
    const learn = async () => (await studio.clone(await Promise.all(input.map(read)), { iterations: 3 })).save();
    const voice = studio.storage ? (await studio.storage.training()).voice : await learn();
    const again = await studio.open(voice);
    const speech = await again.say("Good morning.");
    studio.close();
    return { bytes: voice.size, iterations: again.info.iterations, seconds: speech.samples.length / speech.sampleRate }`,
    heard,
  );
  assert.ok(saved.bytes > 1000 && saved.iterations >= 3 && saved.seconds > 0.3, JSON.stringify(saved));
  mkdirSync(SCREENSHOTS, { recursive: true });
  await browser.screenshot(join(SCREENSHOTS, `${name.toLowerCase()}-01.png`));

  const quiet = async () => assert.deepEqual((await browser.problems()).filter((text) => !/Content-Security-Policy|wakeLock|WebGPU|Feature Policy/i.test(text)), []);
  if (!keeps) {
    assert.match(await words("#kept-words"), /keeps nothing/, "and the page says so");
    return quiet();
  }
  await browser.goto(site.url);
  await until("document.body.dataset.phase === 'ready'", 120);
  assert.match(await words("#train-words"), /^A saved voice is open/, "the voice is restored");
  await browser.run("globalThis.confirm = () => true; document.querySelector('#delete-all').click()");
  await until("/Everything has been deleted/.test(document.querySelector('#deletion-words').textContent)");
  assert.deepEqual(await browser.run("const names = []; for await (const name of (await navigator.storage.getDirectory()).keys()) names.push(name); return names"), []);
  await quiet();
}
