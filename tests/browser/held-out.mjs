// Makes tests/fixtures/held-out.{wav,json} and consent.wav: flite's voice awb, on which the base voice is not trained, reads the first sentences of
// models/prompts.json with pauses between them, so that a test can record them one by one from a fake microphone. Run it by hand when the sentences change.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CONSENT } from "../../www/state.js";
import { ROOT } from "./harness.mjs";
import { waveHeader } from "./wave.mjs";

const RATE = 16_000;
const PAUSE_SECONDS = 0.5;
/** Keeps the file below 2 MB. */
const MAX_SECONDS = 62;

/** @type {{ id: string, text: string }[]} */
const prompts = JSON.parse(readFileSync(join(ROOT, "models/prompts.json"), "utf8"));
const folder = mkdtempSync(join(tmpdir(), "ownvoice-held-out-"));
const pause = Buffer.alloc(PAUSE_SECONDS * RATE * 2);

/** @param {string} text */
function read(text) {
  const file = join(folder, "sentence.wav");
  execFileSync("flite", ["-voice", "awb", "-t", text, "-o", file]);
  const wav = readFileSync(file);
  if (wav.readUInt32LE(24) !== RATE) throw new Error("flite is expected to speak at 16 kHz");
  return Buffer.concat([pause, wav.subarray(wav.indexOf("data") + 8), pause]);
}

const parts = [];
const sentences = [];
let at = 0;
for (const { id, text } of prompts) {
  const sound = read(text);
  const seconds = sound.length / 2 / RATE;
  if (at + seconds > MAX_SECONDS) break;
  parts.push(sound);
  sentences.push({ id, text, begin: Number(at.toFixed(3)), end: Number((at + seconds).toFixed(3)) });
  at += seconds;
}
const data = Buffer.concat(parts);
mkdirSync(join(ROOT, "tests/fixtures"), { recursive: true });
writeFileSync(join(ROOT, "tests/fixtures/held-out.wav"), Buffer.concat([waveHeader(data.length, RATE), data]));
writeFileSync(join(ROOT, "tests/fixtures/held-out.json"), `${JSON.stringify(sentences, null, 1)}\n`);
const consent = read(CONSENT.text);
writeFileSync(join(ROOT, "tests/fixtures/consent.wav"), Buffer.concat([waveHeader(consent.length, RATE), consent]));
console.log(`${sentences.length} sentences, ${at.toFixed(1)} s`);
