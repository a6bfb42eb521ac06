// The sampling rate that a file's header states.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sampleRateOf } from "../../www/shared/sample-rate.js";
import { ROOT } from "../browser/harness.mjs";

const FOLDER = join(ROOT, "crate/ownvoice/tests/data/formats");
/** @param {Buffer} buffer */
const rate = (buffer) => sampleRateOf(new Uint8Array(buffer).buffer, 1);

test("the header states the rate of each compressed format; Opus has none of its own", () => {
  const rates = Object.fromEntries(readdirSync(FOLDER).map((name) => [name, rate(readFileSync(join(FOLDER, name)))]));
  const stated = ["alac.m4a", "tone.aac", "tone.flac", "tone.m4a", "tone.mp3", "tone.mp4", "tone.ogg", "tone.wav"];
  for (const name of stated) assert.equal(rates[name], 16_000, name);
  for (const name of ["tone.opus", "tone.webm"]) assert.equal(rates[name], 1, name);
});

test("a tag before the sound, and damage anywhere, are no obstacle", () => {
  const mp3 = readFileSync(join(FOLDER, "tone.mp3"));
  const picture = Buffer.alloc(200_000, 0xff);
  const size = [21, 14, 7, 0].map((shift) => (picture.length >> shift) & 0x7f);
  const untagged = mp3.subarray(mp3.toString("latin1").startsWith("ID3") ? 10 + mp3.readUInt8(9) + 128 * mp3.readUInt8(8) : 0);
  assert.equal(rate(Buffer.concat([Buffer.from(["I", "D", "3"].map((letter) => letter.charCodeAt(0)).concat([4, 0, 0], size)), picture, untagged])), 16_000);
  for (const name of readdirSync(FOLDER)) {
    const whole = readFileSync(join(FOLDER, name));
    for (let end = 0; end < Math.min(whole.length, 300); end++) assert.doesNotThrow(() => rate(whole.subarray(0, end)), `${name} cut at ${end}`);
  }
});
