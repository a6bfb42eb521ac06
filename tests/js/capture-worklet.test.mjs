// The processor of the microphone's sound, run without a browser.

import assert from "node:assert/strict";
import { test } from "node:test";

const BLOCK = 128;
const CHUNK = 15 * BLOCK; // 40 ms at 48 kHz

/** @type {Float32Array[]} */
let sent = [];
class AudioWorkletProcessor {
  port = { postMessage: (/** @type {Float32Array} */ chunk) => sent.push(chunk) };
}
/** @type {any} */
let Processor;
Object.assign(globalThis, { sampleRate: 48_000, AudioWorkletProcessor, registerProcessor: (/** @type {string} */ _, /** @type {unknown} */ made) => (Processor = made) });
await import(new URL("../../web/js/capture-worklet.js", import.meta.url).href); // A script of the audio thread, no module.

/** Processes blocks and returns what the page receives. @param {Float32Array[][]} blocks */
function captured(blocks) {
  sent = [];
  const processor = new Processor();
  for (const channels of blocks) processor.process([channels]);
  return sent;
}

const block = (/** @type {number} */ value) => new Float32Array(BLOCK).fill(value);
const times = (/** @type {number} */ count, /** @type {Float32Array[]} */ channels) => Array(count).fill(channels);

test("a microphone on one of two inputs is as loud as it is", () => {
  const [chunk] = captured(times(15, [block(0), block(0.5)]));
  assert.deepEqual(new Set(chunk), new Set([0.5]));
  assert.deepEqual(new Set(captured(times(15, [block(0.5)]))[0]), new Set([0.5]), "one channel");
  assert.deepEqual(new Set(captured(times(15, [block(0.25), block(0.75)]))[0]), new Set([0.5]), "the mean of two");
});

test("sound that is dropped keeps its time, and what comes before the first sound has none", () => {
  const chunks = captured([...times(4, []), ...times(20, [block(0.5)]), ...times(10, []), ...times(15, [block(0.5)])]);
  assert.equal(chunks.length, 3);
  const samples = chunks.flatMap((chunk) => [...chunk]);
  assert.equal(samples.length, 3 * CHUNK);
  assert.equal(samples.slice(0, 20 * BLOCK).every((x) => x === 0.5), true);
  assert.equal(samples.slice(20 * BLOCK, 30 * BLOCK).every((x) => x === 0), true);
  assert.equal(samples.slice(30 * BLOCK).every((x) => x === 0.5), true);
});
