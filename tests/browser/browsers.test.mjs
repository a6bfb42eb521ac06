// The page in Firefox and in WebKit, on the CPU: read from files, learned, spoken, saved, opened, and there again after a reload where the browser keeps anything.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { serve } from "../package/consumer.mjs";
import { Firefox, findFirefox } from "./firefox.mjs";
import { ROOT, SCREENSHOTS } from "./harness.mjs";
import { SENTENCES, spokenSamples, wav } from "./steps.mjs";
import { WebKit, findWebKit } from "./webkit.mjs";

const MINUTE = 60_000;
const [firefox, webkit] = [findFirefox(), findWebKit()];
const BROWSERS = [
  { name: "Firefox", open: firefox ? () => Firefox.open(firefox) : undefined },
  { name: "WebKit", open: webkit ? () => WebKit.open(webkit) : undefined },
];

for (const { name, open } of BROWSERS) {
  const skip = !open && `no ${name} is installed: NOTHING is known of it here`;
  test(`${name}: load, speak, learn, save, open`, { timeout: 8 * MINUTE, skip }, (t) => walk(t, name, /** @type {() => Promise<Firefox | WebKit>} */ (open)));
}

/** @param {import("node:test").TestContext} t @param {string} name @param {() => Promise<Firefox | WebKit>} open */
async function walk(t, name, open) {
  const site = await serve(join(ROOT, "www"));
  t.after(site.stop);
  const browser = await open();
  t.after(() => browser.close());
  /** Waits until an expression is true in the page. @param {string} expression @param {number} [seconds] */
  const until = async (expression, seconds = 60) => {
    for (const end = Date.now() + 1000 * seconds; Date.now() < end; await sleep(200)) {
      if (await browser.run(`return Boolean(${expression})`)) return;
    }
    throw new Error(`${expression} within ${seconds} s; ${(await browser.problems()).join("; ")}`);
  };
  await browser.goto(site.url);
  await until("document.body.dataset.phase !== 'loading'", 120);
  assert.equal(await browser.run("return document.querySelector('#loading-error').textContent"), "");
  const words = (/** @type {string} */ selector) => browser.run("return document.querySelector(input).textContent", selector);
  const click = (/** @type {string} */ selector) => browser.run("document.querySelector(input).click()", selector);
  const speak = async (/** @type {"base" | "mine"} */ which) => {
    await click(`#${which} .say`);
    await until(`!document.querySelector("#${which} .play").hidden`, 120);
    assert.match(await browser.run("return document.querySelector(input).href", `#${which} .download`), /^blob:/);
    return parseFloat(await words(`#${which} .words`));
  };
  t.diagnostic(`${name} ${browser.version}: ${await words("#device-kind")}; ${await words("#device-reason")}`);
  assert.ok((await speak("base")) > 0.5, "the base speaks");

  const files = [0, 1].map((index) => ({ name: `${SENTENCES[index].id}.wav`, bytes: wav(spokenSamples(index).samples).toString("base64") }));
  await click("input[value=files]");
  await browser.run(
    `const data = new DataTransfer();
    for (const { name, bytes } of input) data.items.add(new File([Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0))], name, { type: "audio/wav" }));
    document.querySelector("#drop").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }))`,
    files,
  );
  await until("document.querySelectorAll('#file-list .verdict[data-state=good]').length === 2");
  await click("#files-agreed");
  await click("#train-start");
  await until("/^Iteration ([3-9]|\\d\\d)/.test(document.querySelector('#train-words').textContent)", 120);
  await click("#train-stop");
  await until("/^Your voice is ready/.test(document.querySelector('#train-words').textContent)");
  assert.ok((await speak("mine")) > 0.5, "the voice speaks");

  const keeps = await browser.run("return navigator.storage?.getDirectory ? navigator.storage.getDirectory().then(() => true, () => false) : false");
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

  const sound = async () => assert.deepEqual((await browser.problems()).filter((text) => !/Content-Security-Policy|wakeLock|WebGPU|Feature Policy/i.test(text)), []);
  if (!keeps) {
    assert.match(await words("#kept-words"), /keeps nothing/, "and the page says so");
    return sound();
  }
  await browser.goto(site.url);
  await until("document.body.dataset.phase === 'ready'", 120);
  assert.match(await words("#train-words"), /^A saved voice is open/, "it is there again");
  await browser.run("globalThis.confirm = () => true; document.querySelector('#delete-all').click()");
  await until("/All of it is deleted/.test(document.querySelector('#deletion-words').textContent)");
  assert.deepEqual(await browser.run("const names = []; for await (const name of (await navigator.storage.getDirectory()).keys()) names.push(name); return names"), []);
  await sound();
}
