// The comparison of a training step with the CPU, operation by operation, in the page and in the package, with and without injected faults.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openStep, ready, run, visit, withPackage } from "./steps.mjs";

/** @import { Session } from "./harness.mjs" */

const MINUTE = 60_000;

/** Injects a fault into the operations of the device. The package itself cannot do that. @param {Session} session @param {string} fault */
const injectFault = (session, fault) =>
  session.rewrite("js/leader.js", (text) => text.replace("faults: []", `faults: [${JSON.stringify(fault)}]`));

const SIGN = "sign:decoder.second:lstm:w_hh";
const OVERFLOW = "overflow:postnet.convolutions.1:convolution";

describe("on the CPU", () => {
  /** @type {Session} */
  let session;
  before(async () => {
    session = await visit({ device: "cpu", path: "icon.svg", tiny: true });
    await withPackage(session, 1);
  });
  after(() => session.close());

  for (const precision of ["f32", "mixed"]) {
    test(`without a fault nothing differs, in ${precision}`, { timeout: 2 * MINUTE }, async () => {
      const { passes, verdict, fault, tensors, rows, text, progress } = await run(
        session,
        "const progress = []; return { ...(await studio.precision({ precision: input, onProgress: (at) => progress.push(at) })), progress }",
        precision,
      );
      assert.deepEqual([passes, fault, rows], [true, null, []], text);
      assert.ok(tensors > 50 && verdict === `nothing below cosine 0.98 in ${tensors} tensors`, verdict);
      assert.match(text, new RegExp(`^ownvoice [\\d.]+, precision\nA: cpu, f32, unfused; before .*\nB: CPU .*, ${precision}, fused; before .*\nnothing below`));
      assert.ok(progress.length > 20 && progress.every((/** @type {any} */ { done, of }) => done < of), JSON.stringify(progress.at(-1)));
    });
  }
  test("small differences are reported at a cosine of one", { timeout: 2 * MINUTE }, async () => {
    const { passes, rows } = await run(session, "return studio.precision({ precision: 'mixed', cosine: 1 })");
    assert.ok(!passes && rows.length > 5);
    for (const { module, whole, alone } of rows) {
      for (const metrics of [whole, alone]) if (metrics) assert.ok(metrics.cosine > 0.98 && metrics.relativeError < 0.2 && metrics.sqnrDb > 15 && metrics.largestDifference >= 0, `${module}: ${JSON.stringify(metrics)}`);
    }
  });
  test("it can be cancelled, and refuses invalid options", { timeout: 2 * MINUTE }, async () => {
    const code = async (/** @type {string} */ body) => (await run(session, body)).code;
    assert.equal(await code("const end = new AbortController(); return studio.precision({ signal: end.signal, onProgress: () => end.abort() })"), "cancelled");
    assert.equal(await code("return studio.precision({ precision: 'double' })"), "option-invalid");
    assert.equal(await code("return studio.precision({ cosine: 2 })"), "option-invalid");
    assert.equal(await run(session, "return (await studio.precision()).passes"), true, "and works after that");
  });
});

test("an overflow in half precision is found with its layer", { timeout: 3 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", path: "icon.svg", tiny: true, prepare: (session) => injectFault(session, OVERFLOW) });
  t.after(() => session.close());
  await withPackage(session, 1);
  const half = await run(session, "return studio.precision({ precision: 'mixed' })");
  assert.deepEqual([half.passes, half.fault], [false, { module: "postnet.convolutions.1", operation: "convolution" }], half.text);
  assert.match(half.verdict, /^postnet\.convolutions\.1: convolution overflows in half precision, and not in single/);
  assert.ok(half.text.endsWith(half.verdict), half.text);
  const alone = half.rows.filter((/** @type {any} */ { alone }) => alone && !(alone.cosine >= 0.98));
  assert.deepEqual([...new Set(alone.map((/** @type {any} */ { module }) => module))], ["postnet.convolutions.1"], half.text);
  const single = await run(session, "return studio.precision({ precision: 'f32' })");
  assert.deepEqual([single.passes, single.fault], [true, null], single.text);
});

test("a training whose gradients overflow reports where that begins, and a sound one reports nothing", { timeout: 3 * MINUTE }, async (t) => {
  const learn = async (/** @type {(session: Session) => void} */ prepare) => {
    const session = await visit({ device: "cpu", path: "icon.svg", tiny: true, prepare });
    t.after(() => session.close());
    await withPackage(session, 3, "cpu", 1);
    return run(session, "const steps = []; await studio.clone(clips, { iterations: 12, precision: 'mixed', onStep: (step) => steps.push(step) }); return steps.filter(({ status }) => status === 'training')");
  };
  const sound = await learn(() => {});
  assert.ok(sound.every((/** @type {any} */ { fault }) => fault === null), JSON.stringify(sound));
  const planted = await learn((session) => session.rewrite("js/training.js", (text) => text.replace("faults: []", 'faults: ["nan:decoder.second:lstm:w_hh"]')));
  assert.match(planted[0].fault, /^iteration 1: decoder\.second: the backward pass of lstm returns a non-finite gradient/);
  assert.equal(planted.at(-1).overflows, 12, JSON.stringify(planted));
});

test("on a GPU, a wrong sign in one gradient is found, and without it nothing", { timeout: 10 * MINUTE }, async (t) => {
  const sound = await visit({ device: "webgpu", path: "icon.svg", tiny: true });
  t.after(() => sound.close());
  await withPackage(sound, 1, "webgpu");
  const found = await run(sound, "return studio.precision()");
  assert.deepEqual([found.passes, found.fault, found.rows], [true, null, []], found.text ?? JSON.stringify(found));
  t.diagnostic(found.text);
  // SwiftShader has no half precision; an adapter that has it passes in it too.
  const half = await run(sound, "return studio.precision({ precision: 'mixed' })");
  assert.ok(half.code === "precision-unsupported" || half.passes, half.text ?? JSON.stringify(half));

  const wrong = await visit({ device: "webgpu", path: "icon.svg", tiny: true, prepare: (session) => injectFault(session, SIGN) });
  t.after(() => wrong.close());
  await withPackage(wrong, 1, "webgpu");
  const { passes, fault, rows, verdict, text } = await run(wrong, "return studio.precision()");
  assert.deepEqual([passes, fault], [false, { module: "decoder.second", operation: "lstm" }], text);
  assert.match(verdict, /^at fault: decoder\.second: lstm, gradient of w_hh \(alone: cosine -1\.0000\)/);
  assert.deepEqual(rows.map((/** @type {any} */ { module, tensor }) => [module, tensor]), [["decoder.second", "gradient of w_hh"]], text);
  assert.ok(rows[0].whole.cosine < -0.999 && rows[0].alone.cosine < -0.999, text);
});

test("the page compares, and copies a report without recordings", { timeout: 3 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true });
  t.after(() => session.close());
  await ready(session);
  const { page } = session;
  await session.context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.click("#details > summary");
  assert.ok(!(await page.isVisible("#precision-copy")), "there is nothing to be copied yet");
  const mark = session.mark();
  await page.click("#precision-start");
  await page.waitForSelector("#precision-text:not([hidden])", { timeout: MINUTE });
  assert.match((await page.textContent("#precision-words")) ?? "", /^No differences: all \d+ results agree\.$/);
  await page.click("#precision-copy");
  await page.waitForFunction(() => document.querySelector("#precision-copy")?.textContent === "Copied");
  const copied = await page.evaluate("navigator.clipboard.readText()");
  assert.match(/** @type {string} */ (copied), /^The CPU was (asked for|requested)|^This browser/);
  assert.match(/** @type {string} */ (copied), /\nownvoice [\d.]+, precision\nA: cpu, f32, unfused; [^]*\nnothing below cosine 0\.98 in \d+ tensors$/);
  session.assertNoRequestsSince(mark, "while it compares");
  await openStep(session.page, "#precision");
  await session.screenshot("precision", "#precision");
  session.assertQuiet();
});

test("the page names the operation at fault", { timeout: 3 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true, locale: "de-DE", prepare: (session) => injectFault(session, SIGN) });
  t.after(() => session.close());
  await ready(session);
  const { page } = session;
  await page.click("#details > summary");
  await page.click("#precision-start");
  await page.waitForSelector("#precision-text:not([hidden])", { timeout: MINUTE });
  assert.equal(await page.textContent("#precision-words"), "Die Ergebnisse weichen ab, zuerst in decoder.second: lstm.");
  assert.match((await page.textContent("#precision-text")) ?? "", /at fault: decoder\.second: lstm, gradient of w_hh/);
  await openStep(session.page, "#precision");
  await session.screenshot("precision-fault", "#precision");
  session.assertQuiet();
});

test("the report of an adapter that failed its self-test names the operation", { timeout: 5 * MINUTE }, async (t) => {
  const session = await visit({
    device: "webgpu",
    tiny: true,
    prepare(session) {
      session.rewrite("js/device.js", (text) => text.replace(/const software = .*;/, "const software = false;"));
      // Imitates a driver with an error in one function.
      session.change("js/worker.js", (body) => Buffer.concat([
        Buffer.from(`const { createShaderModule } = GPUDevice.prototype;
GPUDevice.prototype.createShaderModule = function ({ code, ...rest }) { return createShaderModule.call(this, { ...rest, code: code.replaceAll("exp(", "exp2(") }); };
`),
        body,
      ]));
    },
  });
  t.after(() => session.close());
  await ready(session);
  const { page } = session;
  await page.click("#details > summary");
  const said = (await page.textContent("#precision-text")) ?? "";
  // This is the first operation with a sigmoid; convolutions and products before it have none.
  assert.match(said, /^The graphics adapter .* failed the self-test \(.*; at fault: encoder\.lstm\.forward: lstm, output \(alone: cosine .*\)\)\. The CPU is used instead\.$/);
  assert.ok(await page.isVisible("#precision-copy"));
  t.diagnostic(said);
  session.assertQuiet();
});
