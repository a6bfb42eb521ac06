// Pictures and sound of a take are synchronous, in recordings of the page and in files, whatever delay their codecs add.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { correlation } from "./levels.mjs";
import { HEARD, SILENT, made, open, skip } from "./lips-steps.mjs";
import { heard } from "./steps.mjs";

const MINUTE = 60_000;
/** The fastest settings of the encoder. */
const VP8 = ["-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8"];

test("pictures and sound of a recording are synchronous", { timeout: 2 * MINUTE }, async (t) => {
  const session = await open();
  t.after(() => session.close());
  // A light and a tone switch on together, once per second, in front of the page's recorder.
  const { light, tone } = await session.page.evaluate(async () => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 320, height: 240 });
    const picture = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    const context = new AudioContext();
    const output = context.createMediaStreamDestination();
    const gain = new GainNode(context, { gain: 0 });
    const source = new OscillatorNode(context, { frequency: 1000 });
    source.connect(gain).connect(output);
    source.start();
    const stream = new MediaStream([...canvas.captureStream(30).getTracks(), ...output.stream.getTracks()]);
    navigator.mediaDevices.getUserMedia = async () => stream;
    const ticking = setInterval(() => {
      const on = performance.now() % 1000 >= 500;
      picture.fillStyle = on ? "white" : "black";
      picture.fillRect(0, 0, 320, 240);
      gain.gain.value = on ? 0.5 : 0;
    }, 5);
    // Variables, because these are addresses of the site and not paths of files.
    const [recorder, pictures, decoder] = ["/lips/recorder.js", "/lips/pictures.js", "/shared/decode-audio.js"];
    const [{ record }, { readPictures }, { decodeAudio }] = await Promise.all([import(recorder), import(pictures), import(decoder)]);
    const [cancel, stop] = [new AbortController(), new AbortController()];
    const film = await record({ signal: cancel.signal, stopSignal: stop.signal }, () => setTimeout(() => stop.abort(), 5000));
    clearInterval(ticking);
    /** @type {number[]} */
    const lights = [];
    await readPictures(film, { signal: cancel.signal }, (/** @type {{ rgba: Uint8ClampedArray }} */ { rgba }) => lights.push(rgba[rgba.length / 2] / 255));
    const { samples, sampleRate } = await decodeAudio(film);
    const step = sampleRate / 200;
    const levels = Array.from({ length: Math.floor(samples.length / step) }, (_, at) => samples.subarray(at * step, (at + 1) * step).reduce((/** @type {number} */ most, /** @type {number} */ sample) => Math.max(most, Math.abs(sample)), 0));
    /** Times at which values rise above a bound, except at the very beginning. @param {number[]} values @param {number} rate @param {number} bound */
    const rises = (values, rate, bound) => values.flatMap((value, at) => (at > rate / 10 && value > bound && values[at - 1] <= bound ? [at / rate] : []));
    return { light: rises(lights, 25, 0.5), tone: rises(levels, 200, 0.1) };
  });
  // Each change of the light is compared with the nearest tone: one at the very beginning may be left out of either.
  const apart = light.map((at) => tone.map((other) => at - other).reduce((one, other) => (Math.abs(other) < Math.abs(one) ? other : one)));
  t.diagnostic(`delay of the light after the tone in ms: ${apart.map((seconds) => Math.round(seconds * 1000)).join(", ")}`);
  assert.ok(light.length >= 4 && Math.abs(light.length - tone.length) <= 1, JSON.stringify({ light, tone }));
  // The duration of two pictures.
  assert.ok(Math.max(...apart.map(Math.abs)) < 0.08);
});

test("decoded sound begins where the sound of the file does", { timeout: 2 * MINUTE, skip }, async (t) => {
  const session = await open();
  t.after(() => session.close());
  /** The part that is compared, and the greatest shift, in samples at 16 kHz. */
  const [from, to, most] = [16_000, 19_200, 1280];
  const recorded = [...heard(readFileSync(HEARD)).samples.subarray(from, to)];
  /** @type {{ [name: string]: string[] }} */
  const codecs = { "aac.mp4": ["-c:a", "aac"], "mp3.mp4": ["-c:a", "libmp3lame"], "opus.webm": [...VP8, "-c:a", "libopus"], "vorbis.webm": [...VP8, "-c:a", "libvorbis"] };
  for (const [name, codec] of Object.entries(codecs)) {
    const path = made(name, "-i", SILENT, "-i", HEARD, "-pix_fmt", "yuv420p", ...codec);
    const args = { file: readFileSync(path).toString("base64"), begin: from - most, end: to + most };
    const decoded = await session.page.evaluate(async ({ file, begin, end }) => {
      const decoder = "/shared/decode-audio.js";
      const { decodeAudio } = await import(decoder);
      const { samples, sampleRate } = await decodeAudio(new Blob([Uint8Array.from(atob(file), (letter) => letter.charCodeAt(0))]));
      return Array.from({ length: end - begin }, (_, at) => samples[(sampleRate / 16_000) * (begin + at)]);
    }, args);
    /** The correlation at each shift. */
    const moved = Array.from({ length: most / 8 + 1 }, (_, at) => 16 * at - most).map((by) => ({ by, like: correlation(recorded, decoded.slice(most + by, most + by + to - from)) }));
    const best = moved.reduce((one, other) => (other.like > one.like ? other : one));
    t.diagnostic(`${name}: ${best.by / 16} ms, correlation ${best.like.toFixed(3)}`);
    assert.ok(best.like > 0.8 && Math.abs(best.by) <= 80, `${name}: ${JSON.stringify(best)}`);
  }
});
