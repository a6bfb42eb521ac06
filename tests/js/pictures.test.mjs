// Pictures of a camera become 25 a second, whatever its rate and however roughly it keeps it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { PictureClock } from "../../www/lips/pictures.js";

/** Numbers of the pictures that are taken, of those that come at these times. @param {number[]} seconds */
function taken(seconds) {
  /** @type {number[]} */
  const numbers = [];
  const clock = new PictureClock(({ width }) => numbers.push(width));
  seconds.forEach((at, width) => clock.push({ width, height: 1, rgba: new Uint8ClampedArray(4) }, at));
  return numbers;
}

/** @param {number} count @param {(number: number) => number} at */
const times = (count, at) => Array.from({ length: count }, (_, number) => at(number));

test("25 a second come once each, though their times are off by some milliseconds", () => {
  const numbers = taken(times(50, (number) => 7 + number / 25 + [0, 0.003, -0.004, 0.001, -0.002][number % 5]));
  assert.deepEqual(numbers.slice(0, 49), times(49, (number) => number));
});

test("of more some are left out, and of fewer some come again: the nearest", () => {
  assert.deepEqual(taken(times(10, (number) => number / 50)), [0, 2, 4, 6, 8]);
  assert.deepEqual(taken(times(7, (number) => number / 30)), [0, 1, 2, 4, 5, 6]);
  // At 0, 100 and 200 ms: those at 40 and 120 ms are nearest to the first and the second.
  assert.deepEqual(taken([0, 0.1, 0.2]), [0, 0, 1, 1, 2, 2]);
});

test("each can be given away, and there is an end", () => {
  /** @type {ArrayBuffer[]} */
  const buffers = [];
  const clock = new PictureClock(({ rgba }) => buffers.push(rgba.buffer));
  for (let second = 0; second < 100 && !clock.isFull; second++) clock.push({ width: 1, height: 1, rgba: new Uint8ClampedArray(4) }, second);
  assert.equal(buffers.length, 30 * 25);
  assert.equal(new Set(buffers).size, buffers.length);
});
