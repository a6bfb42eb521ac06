// The table of docs/formats.md: what the page reads, and that the sound begins where that of the file does.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "./harness.mjs";
import { ready, visit } from "./steps.mjs";

const MINUTE = 60_000;
const RATE = 48_000;
const skip = spawnSync("ffmpeg", ["-version"]).error ? "ffmpeg is not installed" : false;

/** A second of bursts at irregular times and pitches, as in crate/ownvoice/tests/formats.rs. */
const bursts = Float32Array.from({ length: RATE }, (_, n) => {
  const t = n / RATE;
  const phase = t * 7.3 + Math.sin(t * 2.9);
  return 0.4 * (1 - (phase - Math.floor(phase))) ** 3 * Math.sin(2 * Math.PI * (200 + 900 * t) * t);
});

/** The delay at which samples are most like the bursts. @param {Float32Array} samples */
function delay(samples) {
  const like = (/** @type {number} */ by) => {
    let [both, found, given] = [0, 1e-9, 1e-9];
    for (let n = 4000; n < RATE - 4000; n += 7) {
      const [x, y] = [samples[n + by] ?? 0, bursts[n]];
      [both, found, given] = [both + x * y, found + x * x, given + y * y];
    }
    return both / Math.sqrt(found * given);
  };
  return Array.from({ length: 5000 }, (_, at) => at - 2500).map((by) => ({ by, like: like(by) })).reduce((one, other) => (other.like > one.like ? other : one));
}

test("the page reads what the table says, from the first sample on", { timeout: 10 * MINUTE, skip }, async (t) => {
  const session = await visit({ tiny: true });
  t.after(() => session.close());
  await ready(session);
  const folder = mkdtempSync(join(tmpdir(), "ownvoice-formats-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const raw = join(folder, "bursts.f32");
  writeFileSync(raw, new Uint8Array(bursts.buffer));
  const rows = readFileSync(join(ROOT, "docs/formats.md"), "utf8").split("\n").filter((line) => line.startsWith("| `."));
  assert.ok(rows.length > 15);
  for (const row of rows) {
    const [, extension, codec, , chromium] = row.split("|").map((cell) => cell.trim());
    const path = join(folder, `a${extension.replaceAll("`", "")}`);
    const encoder = /`(.*)`/.exec(codec)?.[1] ?? "";
    const channels = codec.includes("5.1") ? ["-af", "pan=5.1|c0=c0|c1=c0|c2=c0|c3=c0|c4=c0|c5=c0"] : [];
    execFileSync("ffmpeg", ["-v", "error", "-y", "-f", "f32le", "-ar", String(RATE), "-ac", "1", "-i", raw, ...channels, "-c:a", encoder, "-strict", "-2", path]);
    const found = await session.page.evaluate(async (content) => {
      const reader = "/audio-file.js";
      const { readAudio } = await import(reader);
      const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
      try {
        const { samples, sampleRate } = await readAudio(new File([bytes], "a"));
        return { samples: /** @type {number[]} */ ([...samples]), sampleRate };
      } catch (error) {
        return { code: /** @type {{ code: string }} */ (error).code };
      }
    }, readFileSync(path).toString("base64"));
    assert.equal(found.code ?? "yes", chromium === "yes" ? "yes" : "audio-unreadable", row);
    if (!found.samples) continue;
    const { by, like } = delay(Float32Array.from(found.samples));
    t.diagnostic(`${extension} ${encoder}: ${found.sampleRate} Hz, ${by} samples late, ${like.toFixed(3)}, ${found.samples.length} samples`);
    // These files do not state how many samples the encoder added.
    const most = encoder === "aac" && /\.(aac|mka)/.test(extension) ? 1024 : 1;
    assert.ok(Math.abs(by) <= most && like > 0.9, `${row}: ${by} samples late, ${like}`);
  }
});
