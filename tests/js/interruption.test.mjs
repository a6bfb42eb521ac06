// Recordings whose sound breaks off are told from those in which the reader pauses.

import assert from "node:assert/strict";
import { test } from "node:test";
import { SENTENCES, sound } from "../browser/steps.mjs";
import { breaksOff } from "../../www/interruption.js";

const RATE = 16_000;

/** A sentence between two seconds of digital silence. @param {number | "consent"} which */
function recording(which) {
  const bytes = sound(which);
  const samples = new Float32Array(2 * RATE + bytes.length / 2 + 2 * RATE);
  for (let i = 0; i < bytes.length / 2; i++) samples[2 * RATE + i] = bytes.readInt16LE(2 * i) / 32768;
  return samples;
}

/** @param {Float32Array} samples */
const isBroken = (samples) => breaksOff({ samples, sampleRate: RATE });

test("no sentence of the fixtures is broken, whether or not its pauses are without noise", () => {
  for (const which of [.../** @type {const} */ (["consent"]), ...SENTENCES.keys()]) {
    const samples = recording(which);
    assert.equal(isBroken(samples), false, `${which}`);
    // A noise gate that opens and closes within 10 ms.
    let gain = 0;
    let held = 0;
    const gated = samples.map((x) => {
      held = Math.abs(x) > 0.01 ? 800 : held - 1;
      gain = Math.max(0, Math.min(1, gain + (held > 0 ? 1 : -1) / 160));
      return x * gain;
    });
    assert.equal(isBroken(gated), false, `${which}, gated`);
  }
  assert.equal(isBroken(new Float32Array(RATE)), false, "silence");
  assert.equal(isBroken(new Float32Array()), false, "nothing");
});

test("a recording that is far too quiet is not broken, though its quiet sounds are rounded to silence", () => {
  for (const which of [.../** @type {const} */ (["consent"]), ...SENTENCES.keys()]) {
    for (const factor of [100, 300, 1000]) assert.equal(isBroken(recording(which).map((x) => Math.round((x * 32768) / factor) / 32768)), false, `${which}, a ${factor}th`);
  }
});

for (const seconds of [0.05, 0.4, 1.5]) {
  test(`${seconds} s of missing sound within a word are recognised`, (t) => {
    const samples = recording(0);
    let missed = 0;
    const starts = Array.from({ length: 20 }, (_, i) => Math.round((2.4 + 0.12 * i) * RATE));
    for (const start of starts) {
      const broken = samples.slice().fill(0, start, start + seconds * RATE);
      missed += Number(!isBroken(broken));
    }
    t.diagnostic(`${missed} of ${starts.length} are missed`);
    assert.ok(missed <= 6, `${missed} of ${starts.length}: only gaps that begin in a pause may pass`);
  });
}
