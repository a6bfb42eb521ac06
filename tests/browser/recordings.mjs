// Makes tests/fixtures/recordings: the first held-out sentence in the formats of phones and recorders, and the whole minute in one file with its text. Run by
// hand, with ffmpeg installed, when the held-out sentences change.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "./harness.mjs";
import { SENTENCES, spokenSamples, wav } from "./steps.mjs";

const OUT = join(ROOT, "tests/fixtures/recordings");
mkdirSync(OUT, { recursive: true });
const sentence = join(mkdtempSync(join(tmpdir(), "ownvoice-recordings-")), "sentence.wav");
writeFileSync(sentence, wav(spokenSamples(0).samples));

/** @param {string[]} options */
const ffmpeg = (...options) => execFileSync("ffmpeg", ["-v", "error", "-y", "-bitexact", ...options]);
const formats = {
  "p01.m4a": "-c:a aac -b:a 24k",
  "p01.mp3": "-c:a libmp3lame -b:a 24k",
  "p01.ogg": "-c:a libvorbis -q:a 0",
  "p01.opus": "-c:a libopus -b:a 16k",
  "p01.flac": "-ac 2 -c:a flac",
  "p01.webm": "-c:a libopus -b:a 16k -live 1",
};
for (const [name, codec] of Object.entries(formats)) ffmpeg("-i", sentence, ...codec.split(" "), join(OUT, name));
const video = ["-f", "lavfi", "-i", "color=c=gray:s=32x32:r=2:d=7", "-i", sentence, "-shortest"];
ffmpeg(...video, "-c:v", "libx264", "-preset", "veryslow", "-c:a", "aac", "-b:a", "24k", join(OUT, "p01.mp4"));
ffmpeg(...video, "-c:v", "libvpx", "-b:v", "1k", "-c:a", "libopus", "-b:a", "16k", join(OUT, "p01-video.webm"));
// A WAV file with an old telephone codec, and one with a codec that no browser decodes.
ffmpeg("-i", sentence, "-ar", "8000", "-c:a", "pcm_mulaw", join(OUT, "p01-mulaw.wav"));

ffmpeg("-i", join(ROOT, "tests/fixtures/held-out.wav"), "-c:a", "libopus", "-b:a", "14k", join(OUT, "minute.ogg"));
writeFileSync(join(OUT, "minute.txt"), `${SENTENCES.map(({ text }) => text).join("\n")}\n`);
ffmpeg("-f", "lavfi", "-i", "anullsrc=r=8000:cl=mono", "-t", "130", "-c:a", "libopus", "-b:a", "6k", join(OUT, "long.ogg"));
writeFileSync(join(OUT, "damaged.mp3"), Buffer.from(readFileSync(join(OUT, "p01.mp3"))).fill(0x55, 0));
