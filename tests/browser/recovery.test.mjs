// Nothing is lost where the worker ends or crashes, or the GPU is lost, during a training. And adapters that compute incorrectly are not used.

import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseFiles, heard, learned, note, noted, openStep, ready, speak, trained, visit } from "./steps.mjs";

/** @import { Session } from "./harness.mjs" */

const MINUTE = 60_000;

/** Trains past a checkpoint, ends the engine, and asserts that training continues from there. @param {Session} session @param {() => Promise<unknown>} endEngine */
async function continuesAfter(session, endEngine) {
  const { page } = session;
  await chooseFiles(page, 4);
  await page.click("#train-start");
  await trained(page, 30, 5 * MINUTE);
  await note(page);
  await endEngine();
  await page.waitForSelector("#engine[data-state=restarted]", { timeout: 2 * MINUTE });
  assert.match((await page.textContent("#engine-words")) ?? "", /started again/);
  await trained(page, 60, 5 * MINUTE);
  const iterations = await noted(page);
  const jump = iterations.findIndex((iteration, i) => i > 0 && iteration < iterations[i - 1]);
  // Without a step back, the engine ended before the page had shown an iteration, or right after a checkpoint.
  const after = jump > 0 ? iterations[jump] : (iterations.find((iteration) => iteration % 25 === 1) ?? NaN);
  const before = jump > 0 ? iterations[jump - 1] : after;
  assert.equal(after % 25, 1, `it continues after a checkpoint: ${iterations}`);
  assert.ok(after > 25 && before - after < 25, `at most 25 iterations are lost: ${before}, then ${after}`);
  await page.click("#train-stop");
  await learned(page);
  assert.ok(heard(await speak(page, "mine")).seconds > 0.5);
}

test("the browser ends the worker: it is restarted and continues from the checkpoint", { timeout: 10 * MINUTE }, async (t) => {
  const prepare = (/** @type {Session} */ { page }) => page.addInitScript(() => {
    const { Worker } = globalThis;
    /** @type {Worker[]} */
    const made = [];
    globalThis.Worker = class extends Worker {
      /** @param {string | URL} url @param {WorkerOptions} [options] */
      constructor(url, options) {
        super(url, options);
        made.push(this);
      }
    };
    /** @type {any} */ (globalThis).endWorker = () => made.at(-1)?.terminate();
  });
  const session = await visit({ device: "cpu", tiny: true, prepare });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  // No event reports this to the page.
  await continuesAfter(session, () => page.evaluate("endWorker()"));
  await openStep(session.page, "[aria-labelledby=train-title]");
  await session.screenshot("restarted", "[aria-labelledby=train-title]");

  // The same while the page is idle; and the learned voice is opened again.
  await page.evaluate("endWorker()");
  await page.waitForSelector("#engine[data-state=restarting]", { state: "attached" });
  await page.waitForSelector("#engine[data-state=restarted]");
  assert.ok(heard(await speak(page, "mine")).seconds > 0.5);
  session.assertNothingLeft();
  session.assertQuiet();
});

test("the engine crashes: it is restarted and continues from the checkpoint", { timeout: 10 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true });
  t.after(() => session.close());
  await ready(session);
  await continuesAfter(session, async () => {
    const [worker] = session.page.workers();
    // Like a panic in WebAssembly: an error that no call receives.
    await worker.evaluate(() => void setTimeout(() => WebAssembly.instantiate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 8, 1, 0, 10, 5, 1, 3, 0, 0, 11]))));
  });
  session.assertNothingLeft();
});

/** Makes the device of the program a global of the worker. @param {Buffer} body */
const exposeDevice = (body) =>
  Buffer.from(`const { requestDevice } = GPUAdapter.prototype;
GPUAdapter.prototype.requestDevice = async function (...options) { return (globalThis.device = await requestDevice.apply(this, options)); };
${body}`);

/** Skips the self-test, which another test covers: SwiftShader would compile its kernels again for each device, which takes minutes on a busy machine.
 * @param {string} text */
const skipSelfTest = (text) => text.replace("await engine.selfTest(parts)", "null");

test("the GPU is lost: it is requested again, and after a second loss the CPU continues", { timeout: 12 * MINUTE }, async (t) => {
  const prepare = (/** @type {Session} */ session) => {
    session.change("js/worker.js", exposeDevice);
    session.rewrite("js/device.js", skipSelfTest);
  };
  const session = await visit({ device: "webgpu", tiny: true, path: "?device=webgpu", prepare });
  t.after(() => session.close());
  const { page } = session;
  const destroy = () => page.workers()[0].evaluate("device.destroy()");
  await ready(session);
  await chooseFiles(page, 2);
  await page.click("#train-start");
  await trained(page, 27, 4 * MINUTE);
  await destroy();
  await page.waitForSelector("#engine[data-state=restarted]", { timeout: 3 * MINUTE });
  assert.match((await page.textContent("#engine-words")) ?? "", /connection to the graphics card was lost.*started again/);
  assert.match((await page.textContent("#device-kind")) ?? "", /graphics card/);
  await note(page);
  // Does not wait for an iteration, because SwiftShader compiles its kernels again.
  await page.waitForSelector("#train-cancel:not([hidden])");
  await destroy();
  await page.waitForFunction(() => /processor/.test(document.querySelector("#device-kind")?.textContent ?? ""), null, { timeout: 3 * MINUTE });
  assert.match((await page.textContent("#engine-words")) ?? "", /lost twice.*processor/);
  await learned(page, 3 * MINUTE);
  assert.equal((await noted(page))[0], 26, "it continues from the checkpoint on another device");
  assert.ok(heard(await speak(page, "mine")).seconds > 0.5);
  session.assertNothingLeft();
});

/** Makes a software adapter pass for hardware. @param {string} text */
const passForHardware = (text) => text.replace(/const software = .*;/, "const software = false;");

/** Imitates a driver with an error in one function. @param {Buffer} body */
const breakDriver = (body) =>
  Buffer.from(`const { createShaderModule } = GPUDevice.prototype;
GPUDevice.prototype.createShaderModule = function ({ code, ...rest }) { return createShaderModule.call(this, { ...rest, code: code.replaceAll("exp(", "exp2(") }); };
${body}`);

test("an adapter is used after it has computed what the CPU computes", { timeout: 5 * MINUTE }, async (t) => {
  const session = await visit({ device: "webgpu", tiny: true, prepare: (session) => session.rewrite("js/device.js", passForHardware) });
  t.after(() => session.close());
  await ready(session);
  const words = (await session.page.textContent("#device")) ?? "";
  assert.match(words, /graphics card.*checked against the CPU's: they differ by at most \de-\d; 1e-3 is the tolerance/s);
  t.diagnostic(words.trim().replace(/\s+/g, " "));
  session.assertQuiet();
});

test("an adapter that computes incorrectly is reported, and the CPU is used", { timeout: 5 * MINUTE }, async (t) => {
  const session = await visit({
    device: "webgpu",
    tiny: true,
    prepare(session) {
      session.rewrite("js/device.js", passForHardware);
      session.change("js/worker.js", breakDriver);
    },
  });
  t.after(() => session.close());
  await ready(session);
  assert.match((await session.page.textContent("#device")) ?? "", /processor.*computes incorrectly: it failed the self-test/s);
  await openStep(session.page, "[aria-labelledby=train-title]");
  await session.screenshot("adapter-wrong", "[aria-labelledby=train-title]");
  assert.ok(heard(await speak(session.page, "base")).seconds > 0.5);
  session.assertQuiet();
});

/** Imitates a GPU that is lost, as the browser reports before any call fails. @param {Buffer} body */
const loseDevice = (body) =>
  Buffer.from(`const { requestDevice } = GPUAdapter.prototype;
GPUAdapter.prototype.requestDevice = async function (...options) {
  const device = await requestDevice.apply(this, options);
  const lost = new Promise((resolve) => setTimeout(() => resolve({ reason: "unknown", message: "it was unplugged" }), 300));
  return Object.defineProperty(device, "lost", { value: lost });
};
${body}`);

test("where an adapter is lost during its self-test, the CPU is used, and the page reports it", { timeout: 5 * MINUTE }, async (t) => {
  const session = await visit({
    device: "webgpu",
    tiny: true,
    prepare(session) {
      session.rewrite("js/device.js", passForHardware);
      session.change("js/worker.js", loseDevice);
    },
  });
  t.after(() => session.close());
  await ready(session);
  assert.match((await session.page.textContent("#device")) ?? "", /processor.*did not work. The CPU is used/s);
  assert.ok(heard(await speak(session.page, "base")).seconds > 0.5);
});
