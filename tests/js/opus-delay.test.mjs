// The delays of Opus that the page sets to zero before Chromium decodes. tests/browser/formats.test.mjs measures where the sound then begins.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { cutOpusOnce } from "../../www/shared/opus-delay.js";
import { ROOT } from "../browser/harness.mjs";

/** @param {Buffer} buffer */
function changed(buffer) {
  const bytes = new Uint8Array(buffer);
  cutOpusOnce(bytes.buffer);
  return [...bytes.keys()].filter((at) => bytes[at] !== buffer[at]);
}

/** @param {string} name @param {Buffer[]} contents */
function box(name, ...contents) {
  const content = Buffer.concat(contents);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(content.length + 8);
  return Buffer.concat([size, Buffer.from(name), content]);
}

/** An edit list of entries, version 0 or 1. @param {number} version @param {number[]} beginnings */
function elst(version, ...beginnings) {
  const entries = beginnings.map((from) => {
    const entry = Buffer.alloc(version ? 20 : 12);
    if (version) entry.writeBigInt64BE(BigInt(from), 8);
    else entry.writeInt32BE(from, 4);
    return entry;
  });
  return box("elst", Buffer.from([version, 0, 0, 0, 0, 0, 0, beginnings.length]), ...entries);
}

const header = Buffer.from([0, 1, 0x01, 0x38, 0, 0, 0xbb, 0x80, 0, 0, 0]);
/** @param {string} codec @param {Buffer[]} edits */
const track = (codec, ...edits) => box("trak", ...edits.map((list) => box("edts", list)), box("stsd", Buffer.alloc(8), box(codec, Buffer.alloc(28), box("dOps", header))));
/** @param {Buffer[]} tracks */
const mp4 = (...tracks) => Buffer.concat([box("ftyp", Buffer.from("isom")), box("moov", ...tracks)]);

test("in MP4 the codec's pre-skip goes where an edit list cuts already, and only there", () => {
  for (const list of [elst(0, 312), elst(1, 312), elst(0, -1, 312)]) {
    const file = mp4(track("Opus", list));
    const skip = file.indexOf("dOps") + 6;
    assert.deepEqual(changed(file), [skip, skip + 1]);
  }
  for (const file of [mp4(track("Opus")), mp4(track("Opus", elst(0, 0))), mp4(track("Opus", elst(0, -1))), mp4(track("mp4a", elst(0, 312)))]) assert.deepEqual(changed(file), []);
  assert.deepEqual(changed(mp4(track("avc1", elst(0, 1024)), track("Opus"))), [], "the edit list is that of the pictures");
});

test("in Matroska the CodecDelay of Opus goes", () => {
  const file = readFileSync(join(ROOT, "crate/ownvoice/tests/data/formats/tone.webm"));
  const at = file.indexOf(Buffer.from([0x56, 0xaa])) + 3;
  const found = changed(file);
  assert.ok(found.length > 0 && found.every((place) => place >= at && place < at + 8), `${found} beside ${at}`);
});

test("files of other formats stay as they are, and damage is no obstacle", () => {
  for (const name of ["tone.wav", "tone.m4a", "tone.mp4", "tone.ogg", "tone.opus", "tone.mp3"]) {
    assert.deepEqual(changed(readFileSync(join(ROOT, "crate/ownvoice/tests/data/formats", name))), [], name);
  }
  const whole = [mp4(track("Opus", elst(1, 312))), readFileSync(join(ROOT, "crate/ownvoice/tests/data/formats/tone.webm")).subarray(0, 600)];
  for (const file of whole) for (let end = 0; end < file.length; end++) assert.doesNotThrow(() => changed(file.subarray(0, end)), `cut at ${end}`);
});
