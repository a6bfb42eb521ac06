// What is left out of a video is named by the video's own clock, whichever part of it was read.

import assert from "node:assert/strict";
import { test } from "node:test";
import { shiftedBy } from "../../www/lips/stretch.js";

const stretch = { code: "no-face", message: "there is no face" };

test("a stretch of a later part lies later, at the very beginning of that part too", () => {
  assert.deepEqual(shiftedBy({ ...stretch, begin: 0, end: 1.5 }, 20), { ...stretch, begin: 20, end: 21.5 });
});

test("what has no time has none later", () => {
  assert.deepEqual(shiftedBy({ ...stretch, begin: null, end: null }, 20), { ...stretch, begin: null, end: null });
});
