#!/usr/bin/env bash
# Chromium's decodeAudioData cuts the samples that an Opus encoder added twice where an MP4 file states them in its edit list and in its codec header, as FFmpeg
# writes both: the sound begins 312 samples early. In WebM it begins 24 early, since the delay of 6.5 ms is rounded up to 7. In Ogg the place is right.
#
# Needs npm, and Chromium as `chromium` or in CHROMIUM. Exits with 0 if the behaviour is as described, otherwise with 1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m pip install --quiet --disable-pip-version-check --no-compile --target python numpy==2.4.6 av==18.1.0
npm install --silent --no-audit --no-fund --ignore-scripts playwright-core@1.65.1

cat > make.py <<'PYTHON'
import av
import numpy

RATE = 48000
t = numpy.arange(RATE) / RATE
sound = (0.4 * (1 - (t * 7.3 + numpy.sin(t * 2.9)) % 1) ** 3 * numpy.sin(2 * numpy.pi * (200 + 900 * t) * t)).astype(numpy.float32)
sound.tofile("sound.f32")
for name in ["a.mp4", "a.webm", "a.ogg"]:
    with av.open(name, "w") as file:
        stream = file.add_stream("libopus", rate=RATE, layout="mono")
        frame = av.AudioFrame.from_ndarray(sound[None], format="flt", layout="mono")
        frame.sample_rate = RATE
        frame.pts = 0
        file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
PYTHON
PYTHONPATH=python python3 make.py

cat > finding.mjs <<'JS'
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const sound = new Float32Array(new Uint8Array(readFileSync("sound.f32")).buffer);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: process.getuid() ? [] : ["--no-sandbox"] });
console.log("Chromium", browser.version());
const page = await browser.newPage();
const found = {};
for (const name of ["a.mp4", "a.webm", "a.ogg"]) {
  const samples = await page.evaluate(async (content) => {
    const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
    return [...(await new OfflineAudioContext(1, 1, 48_000).decodeAudioData(bytes.buffer)).getChannelData(0)];
  }, readFileSync(name).toString("base64"));
  const like = (by) => {
    let [both, energy] = [0, 1e-9];
    for (let n = 4000; n < 44_000; n += 3) {
      const x = samples[n + by] ?? 0;
      [both, energy] = [both + x * sound[n], energy + x * x];
    }
    return both / Math.sqrt(energy);
  };
  found[name] = Array.from({ length: 1401 }, (_, at) => at - 700).reduce((one, other) => (like(other) > like(one) ? other : one));
  console.log(`${name}: the sound begins ${found[name]} samples late`);
}
await browser.close();
const holds = found["a.mp4"] === -312 && found["a.webm"] === -24 && Math.abs(found["a.ogg"]) <= 1;
console.log(holds ? "Of the same sound, MP4 and WebM begin early." : "The behaviour has changed.");
process.exit(holds ? 0 : 1);
JS
node finding.mjs
