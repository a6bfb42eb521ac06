// Nothing is lost: the worker ended, crashed, or the graphics adapter taken away, in the midst of training. And adapters that compute wrongly.

import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseFiles, heard, learned, note, noted, ready, speak, trained, visit } from "./steps.mjs";

/** @import { Session } from "./harness.mjs" */

const MINUTE = 60_000;

/** Trains past a checkpoint, takes the engine away, and asserts that training goes on from there. @param {Session} session @param {() => Promise<unknown>} take */
async function goesOn(session, take) {
  const { page } = session;
  await chooseFiles(page, 4);
  await page.click("#train-start");
  await trained(page, 30, 5 * MINUTE);
  await note(page);
  await take();
  await page.waitForSelector("#engine[data-state=restarted]", { timeout: 2 * MINUTE });
  assert.match((await page.textContent("#engine-words")) ?? "", /started again/);
  await trained(page, 60, 5 * MINUTE);
  const iterations = await noted(page);
  const jump = iterations.findIndex((iteration, i) => i > 0 && iteration < iterations[i - 1]);
  // Without a step back, the engine was taken before the page had shown an iteration, or right after a checkpoint.
  const after = jump > 0 ? iterations[jump] : (iterations.find((iteration) => iteration % 25 === 1) ?? NaN);
  const before = jump > 0 ? iterations[jump - 1] : after;
  assert.equal(after % 25, 1, `it goes on after a checkpoint: ${iterations}`);
  assert.ok(after > 25 && before - after < 25, `at most 25 iterations are lost: ${before}, then ${after}`);
  await page.click("#train-stop");
  await learned(page);
  assert.ok(heard(await speak(page, "mine")).seconds > 0.5);
}

test("the browser ends the worker: it is built again and goes on from the checkpoint", { timeout: 10 * MINUTE }, async (t) => {
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
  // No event reports it to the page.
  await goesOn(session, () => page.evaluate("endWorker()"));
  await session.screenshot("restarted", "[aria-labelledby=train-title]");

  // While nothing is under way, too; and the learned voice is there again.
  await page.evaluate("endWorker()");
  await page.waitForSelector("#engine[data-state=restarting]", { state: "attached" });
  await page.waitForSelector("#engine[data-state=restarted]");
  assert.ok(heard(await speak(page, "mine")).seconds > 0.5);
  session.assertNothingLeft();
  session.assertQuiet();
});

test("the engine crashes: it is built again and goes on from the checkpoint", { timeout: 10 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true });
  t.after(() => session.close());
  await ready(session);
  await goesOn(session, async () => {
    const [worker] = session.page.workers();
    // As a panic in WebAssembly does: an error that no call receives.
    await worker.evaluate(() => void setTimeout(() => WebAssembly.instantiate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 8, 1, 0, 10, 5, 1, 3, 0, 0, 11]))));
  });
  session.assertNothingLeft();
});

/** Exposes the device that the program makes, from within the worker. @param {Buffer} body */
const seen = (body) =>
  Buffer.from(`const { requestDevice } = GPUAdapter.prototype;
GPUAdapter.prototype.requestDevice = async function (...options) { return (globalThis.device = await requestDevice.apply(this, options)); };
${body}`);

/** Trusts it unseen: the self-test is another test's subject, and SwiftShader would compile its kernels anew for each device, minutes of it where the
 * machine has other work. @param {string} text */
const untested = (text) => text.replace("await engine.selfTest(parts)", "null");

test("the graphics adapter is taken away: it is asked for again, and then the CPU goes on", { timeout: 12 * MINUTE }, async (t) => {
  const prepare = (/** @type {Session} */ session) => {
    session.change("js/worker.js", seen);
    session.rewrite("js/self-test.js", untested);
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
  assert.match((await page.textContent("#engine-words")) ?? "", /graphics card was taken away.*started again/);
  assert.match((await page.textContent("#device-kind")) ?? "", /graphics card/);
  await note(page);
  // Not one iteration is waited for: SwiftShader compiles its kernels anew.
  await page.waitForSelector("#train-cancel:not([hidden])");
  await destroy();
  await page.waitForFunction(() => /processor/.test(document.querySelector("#device-kind")?.textContent ?? ""), null, { timeout: 3 * MINUTE });
  assert.match((await page.textContent("#engine-words")) ?? "", /taken away twice.*processor/);
  await learned(page, 3 * MINUTE);
  assert.equal((await noted(page))[0], 26, "it goes on from the checkpoint, on another device");
  assert.ok(heard(await speak(page, "mine")).seconds > 0.5);
  session.assertNothingLeft();
});

/** An adapter that passes for a real one. @param {string} text */
const genuine = (text) => text.replace(/const software = .*;/, "const software = false;");

/** A driver that gets one function wrong. @param {Buffer} body */
const wrong = (body) =>
  Buffer.from(`const { createShaderModule } = GPUDevice.prototype;
GPUDevice.prototype.createShaderModule = function ({ code, ...rest }) { return createShaderModule.call(this, { ...rest, code: code.replaceAll("exp(", "exp2(") }); };
${body}`);

test("an adapter is trusted after it has computed what the CPU computes", { timeout: 5 * MINUTE }, async (t) => {
  const session = await visit({ device: "webgpu", tiny: true, prepare: (session) => session.rewrite("js/device.js", genuine) });
  t.after(() => session.close());
  await ready(session);
  const told = (await session.page.textContent("#device")) ?? "";
  assert.match(told, /graphics card.*checked against the CPU's: they differ by \de-\d at most, 1e-3 would/s);
  t.diagnostic(told.trim().replace(/\s+/g, " "));
  session.assertQuiet();
});

test("an adapter that computes wrongly is told so, and the CPU takes its place", { timeout: 5 * MINUTE }, async (t) => {
  const session = await visit({
    device: "webgpu",
    tiny: true,
    prepare(session) {
      session.rewrite("js/device.js", genuine);
      session.change("js/worker.js", wrong);
    },
  });
  t.after(() => session.close());
  await ready(session);
  assert.match((await session.page.textContent("#device")) ?? "", /processor.*computes wrongly: it failed the self-test/s);
  await session.screenshot("adapter-wrong", "[aria-labelledby=train-title]");
  assert.ok(heard(await speak(session.page, "base")).seconds > 0.5);
  session.assertQuiet();
});

/** A card whose loss the browser reports before anything that runs on it fails. @param {Buffer} body */
const vanishing = (body) =>
  Buffer.from(`const { requestDevice } = GPUAdapter.prototype;
GPUAdapter.prototype.requestDevice = async function (...options) {
  const device = await requestDevice.apply(this, options);
  const lost = new Promise((resolve) => setTimeout(() => resolve({ reason: "unknown", message: "it was unplugged" }), 300));
  return Object.defineProperty(device, "lost", { value: lost });
};
${body}`);

test("an adapter that is lost while it is tested leaves the CPU to work, and the page says so", { timeout: 5 * MINUTE }, async (t) => {
  const session = await visit({
    device: "webgpu",
    tiny: true,
    prepare(session) {
      session.rewrite("js/device.js", genuine);
      session.change("js/worker.js", vanishing);
    },
  });
  t.after(() => session.close());
  await ready(session);
  assert.match((await session.page.textContent("#device")) ?? "", /processor.*did not work. The CPU is used/s);
  assert.ok(heard(await speak(session.page, "base")).seconds > 0.5);
});
