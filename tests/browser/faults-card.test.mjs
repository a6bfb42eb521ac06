// Fault injection for the GPU: its calls fail, one at a time, during the same visit as in faults.test.mjs.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { LONG, STRIDE, ofThisRun, quiet, triedInTurn } from "./faults/tried.mjs";
import { walk } from "./faults/walk.mjs";

/** @import { Session } from "./harness.mjs" */
/** @import { Fault } from "./faults/inject.mjs" */
/** @import { Found } from "./faults/walk.mjs" */

/** Returns each call to the GPU, with its number among the calls from the same place. @param {Found} found @returns {Fault[]} */
function numbered({ calls }) {
  /** @type {Map<string, number>} */
  const made = new Map();
  return calls.filter(({ place }) => place).map((call) => {
    const key = `${call.name} ${call.place}`;
    made.set(key, (made.get(key) ?? 0) + 1);
    return { ...call, at: /** @type {number} */ (made.get(key)) };
  });
}

/**
 * Returns one call of each kind before each place where the program waits for a result: there a failing GPU is noticed, which determines what follows.
 * Among several it is the one with the lowest number at its place, which is the most likely to be made in every visit.
 * @param {Fault[]} calls
 */
function awaited(calls) {
  /** @type {Map<string, Fault>} */
  const found = new Map();
  let next = "";
  for (const call of calls.toReversed()) {
    if (call.name === "GPUBuffer.mapAsync") next = call.place ?? "";
    const key = `${call.name} ${next}`;
    if (call.at <= (found.get(key)?.at ?? Infinity)) found.set(key, call);
  }
  return [...found.values()].reverse();
}

describe("the graphics card", () => {
  /** @type {Session} */
  let card;
  /** The calls of a visit without a fault. They are counted only where each place is to be tried, because that takes as long as any visit. @type {Fault[]} */
  let calls;
  const prepare = (/** @type {Session} */ session) => {
    // A software adapter passes for hardware, without a self-test, for which it would compile its kernels a second time.
    session.rewrite("js/device.js", (text) => text.replace(/const software = .*;/, "const software = false;").replace("await engine.selfTest(parts)", "null"));
  };
  const open = () => quiet({ device: "webgpu", prepare });
  before(async () => {
    card = await open();
    if (!STRIDE) return;
    const sound = await walk(card, null);
    assert.deepEqual([sound.said, sound.reloads], [[], 0]);
    calls = numbered(sound);
  });
  after(() => card.close());

  // By default one call of each kind to which the program responds differently. Of some 1,500 submissions and 750 buffers, the middle one belongs to the
  // training; of 180 to 210 results, a late one belongs to the learned voice.
  const kinds = /** @type {const} */ ([
    ["GPU.requestAdapter", undefined, "no adapter is given", 1],
    ["GPUAdapter.requestDevice", undefined, "no device is given", 1],
    ["GPUQueue.submit", "lost", "the card goes", 750],
    ["GPUDevice.createBuffer", "memory", "a buffer finds no memory", 380],
    ["GPUBuffer.mapAsync", undefined, "a result cannot be read", 180],
    ["GPUDevice.createBuffer", "invalid", "a buffer is not valid", undefined],
    ["GPUDevice.popErrorScope", "invalid", "a call is reported as not valid", undefined],
  ]);
  for (const [name, how, what, at] of kinds) {
    if (!STRIDE && !at) continue;
    test(what, { timeout: LONG }, async (t) => {
      const points = STRIDE || !at ? ofThisRun(awaited(calls).filter((call) => call.name === name)) : [{ where: /** @type {const} */ ("worker"), name, at }];
      const asked = points.map((point) => ({ ...point, how }));
      const { failed, faults, ...last } = await triedInTurn(card, asked, t, open);
      card = last.session;
      t.diagnostic(`${failed + faults.length} calls failed, of ${asked.length} asked for`);
      assert.ok(failed + faults.length === asked.length, "each of them was made");
      assert.deepEqual(faults, []);
    });
  }
});
