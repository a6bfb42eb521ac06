// The profile of a training step, in the page and in the package.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openStep, ready, run, visit, withPackage } from "./steps.mjs";

const MODULES = ["Feeder", "Encoder", "Durations", "Alignment", "Decoder", "Postnet", "Loss", "Optimizer", "Whole step", "Vocoder, for 1 s"];

test("the page shows the time of each module", { timeout: 180_000 }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true });
  t.after(() => session.close());
  await ready(session);
  const { page } = session;
  await page.click("#details > summary");
  await page.click("#profile-start");
  await page.waitForSelector("#profile-table:not([hidden])", { timeout: 120_000 });
  const rows = await page.locator("#profile-table tbody tr").evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
  assert.deepEqual(rows.map(([module]) => module), MODULES);
  for (const [module, forward, backward, ...dispatches] of rows) {
    assert.ok(Number(forward) >= 0 && forward !== "", `${module}: ${forward}`);
    assert.equal(backward === "", ["Feeder", "Optimizer", "Whole step", "Vocoder, for 1 s"].includes(module ?? ""), `${module}: ${backward}`);
    assert.deepEqual(dispatches, [], "a CPU dispatches nothing");
  }
  assert.equal(await page.textContent("#profile-start"), "Measure again");
  await openStep(session.page, "#profile");
  await session.screenshot("profile", "#profile");
  session.assertQuiet();
});

test("on a GPU it counts dispatches and bytes, and reports memory", { timeout: 300_000 }, async (t) => {
  const session = await visit({ device: "webgpu", path: "icon.svg", tiny: true });
  t.after(() => session.close());
  await withPackage(session, 1, "webgpu");
  await run(session, "await studio.prepare()");
  const { rows, deviceBytes, modules } = await run(session, "const modules = []; return { ...(await studio.profile({ runs: 1, onProgress: ({ module }) => modules.push(module) })), modules }");
  assert.deepEqual(modules, MODULES.map((_, index) => index + 1));
  const of = (/** @type {string} */ name) => rows.find((/** @type {any} */ { module }) => module === name);
  assert.ok(of("decoder").forwardDispatches > 3 && of("decoder").backwardDispatches > 3, JSON.stringify(of("decoder")));
  // A recurrence that dispatched each of its steps would need thousands.
  assert.ok(of("whole step").forwardDispatches > 50 && of("whole step").forwardDispatches < 800, JSON.stringify(of("whole step")));
  // At least its weights, read and written.
  assert.ok(of("optimizer").forwardBytes > 1e5 && of("whole step").forwardBytes > of("optimizer").forwardBytes, JSON.stringify(rows));
  assert.ok(of("decoder").forwardBytes > 0 && of("decoder").backwardBytes > of("decoder").forwardBytes, JSON.stringify(of("decoder")));
  assert.ok(deviceBytes > 1e5, `${deviceBytes}`);
  const cancelled = await run(session, "const end = new AbortController(); return studio.profile({ runs: 1, signal: end.signal, onProgress: () => end.abort() })");
  assert.equal(cancelled.code, "cancelled");
});
