// GPUs: a voice is learned on an adapter, and a software adapter is not used.

import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseFiles, heard, learned, ready, speak, visit } from "./steps.mjs";

const MINUTE = 60_000;

test("WebGPU (SwiftShader), tiny: the loss falls", { timeout: 20 * MINUTE }, async (t) => {
  const session = await visit({ device: "webgpu", tiny: true, path: "?device=webgpu" });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  assert.ok(await session.adapter());
  assert.match((await page.textContent("#device")) ?? "", /graphics card.*WebGPU was requested/s);
  const loaded = session.mark();
  await chooseFiles(page, 4);
  await page.click("#train-start");
  // A single batch says little: the loss changes by a tenth from one batch to the next.
  const losses = [];
  let first = NaN;
  for (const iteration of [40, 45, 50, 55, 60]) {
    const hasReached = (/** @type {number} */ least) => Number(/^Iteration (\d+) /.exec(document.querySelector("#train-iteration")?.textContent ?? "")?.[1]) >= least;
    await page.waitForFunction(hasReached, iteration, { timeout: 15 * MINUTE });
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

test("a software adapter is not used, and the page says so", async (t) => {
  const session = await visit({ device: "webgpu", tiny: true });
  t.after(() => session.close());
  await ready(session);
  assert.match((await session.page.textContent("#device")) ?? "", /processor.*software/s);
  session.assertQuiet();
});
