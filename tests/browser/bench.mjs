// Measures training and speaking in Chromium at full size. The last line of its output is an array of figures.
//
//     node tests/browser/bench.mjs [cpu] [software] [adapter]
//
// `cpu` measures time on the CPU; `software` counts the dispatches of an iteration on SwiftShader, whose time says nothing about a GPU; `adapter` measures time
// on the GPU of this machine, in both precisions.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./harness.mjs";
import { SENTENCES, run, visit, withPackage } from "./steps.mjs";

const ITERATIONS = 20;
/** Iterations that are not measured: memory grows meanwhile, and the browser compiles hot functions, in each worker anew. */
const WARM_UP = 8;
const TEXT = "This sentence is spoken to be measured, and so is the next one. Here is the next one, which is about as long as the first.";

/** A prefix of the worker's script that counts dispatches and the bytes of their buffers, and adds both to each training step. */
const COUNTER = `
import { countDispatches as countAll } from "./dispatches.js";
const counted = countAll();
const post = self.postMessage.bind(self);
self.postMessage = (message, ...rest) => {
  if (message.progress?.status === "training") Object.assign(message.progress, { dispatches: counted.dispatches, bytes: counted.bytes });
  post(message, ...rest);
};
`;

/** Seconds per iteration on one core, as for other libraries, and on all cores; seconds of work per second of speech. */
async function cpu() {
  const alone = await trained(1);
  const together = await trained(undefined);
  return [
    { name: "train.wasm.cpu.s_per_iter", value: alone.seconds, unit: "s", what: "median, one core" },
    { name: "train.wasm.cores.s_per_iter", value: together.seconds, unit: "s", what: `median, ${together.cores} cores` },
    ...together.rows,
  ];
}

/** @param {number | undefined} cores */
async function trained(cores) {
  const session = await visit({ device: "cpu", path: "icon.svg" });
  try {
    await withPackage(session, SENTENCES.length, "cpu", cores);
    const measured = await run(
      session,
      `const seconds = [];
      const onStep = (step) => step.status === "training" && seconds.push(step.seconds);
      const voice = await studio.clone(clips, { iterations: input.iterations, seed: 1, rehearsal: 0, onStep });
      const bytes = await studio.memoryBytes();
      const started = performance.now();
      const speech = await voice.say(input.text);
      const spoken = (performance.now() - started) / 1000;
      const first = [];
      for (let i = 0; i < 5; i++) {
        const asked = performance.now();
        for await (const piece of voice.stream(input.text)) {
          first.push(performance.now() - asked);
          break;
        }
        await voice.say("Yes."); // work that was in progress has ended
      }
      return { seconds, spoken, first, bytes, cores: studio.device.cores, heard: speech.samples.length / speech.sampleRate };`,
      { iterations: ITERATIONS, text: TEXT },
    );
    if (measured.message) throw new Error(`${measured.code}: ${measured.message}`);
    // The page receives the time since the first iteration.
    const durations = measured.seconds.map((/** @type {number} */ now, /** @type {number} */ i) => now - (measured.seconds[i - 1] ?? 0));
    const steady = durations.slice(WARM_UP).sort((/** @type {number} */ a, /** @type {number} */ b) => a - b);
    const seconds = steady[steady.length >> 1];
    const rows = [
      { name: "train.wasm.memory_mb", value: measured.bytes / 1e6, unit: "MB", what: "the program's memory, which never shrinks, after a training, without its helpers'" },
      { name: "say.wasm.cpu.rtf", value: measured.spoken / measured.heard, unit: "s/s", what: "seconds of work a second of speech" },
      { name: "say.first_audio_ms", value: measured.first.sort((/** @type {number} */ a, /** @type {number} */ b) => a - b)[2], unit: "ms", what: "from the request to the first piece of sound, on the CPU in Chromium; median of 5" },
    ];
    return { seconds, rows, cores: measured.cores };
  } finally {
    await session.close();
  }
}

/** The shipped base with a single speaker, as manifest and weights: choosing among all speakers would take SwiftShader ten minutes. */
function oneSpeaker() {
  const base = join(ROOT, "models/base");
  const manifest = JSON.parse(readFileSync(join(base, "manifest.json"), "utf8"));
  const { weights } = manifest.files;
  const file = readFileSync(join(base, weights.path));
  const header = JSON.parse(file.toString("utf8", 8, 8 + Number(file.readBigUInt64LE(0))));
  const values = file.subarray(8 + Number(file.readBigUInt64LE(0)));
  // safetensors: a header of names, shapes and offsets, then the values. The offsets of the first speaker's values do not change.
  const [begin, end] = header.speakers.data_offsets;
  const row = (end - begin) / header.speakers.shape[0];
  const parts = [values.subarray(0, begin + row), values.subarray(end)];
  header.speakers.shape[0] = 1;
  for (const [name, about] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    about.data_offsets = about.data_offsets.map((/** @type {number} */ at) => (at > begin ? at - (end - begin) + row : at));
  }
  const text = Buffer.from(JSON.stringify(header).padEnd(Math.ceil(JSON.stringify(header).length / 8) * 8));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  const cut = Buffer.concat([length, text, ...parts]);
  weights.bytes = cut.length;
  weights.sha256 = createHash("sha256").update(cut).digest("hex");
  manifest.speakers = manifest.speakers.slice(0, 1);
  manifest.default_speaker = manifest.speakers[0];
  manifest.model.speakers = 1;
  return { manifest: Buffer.from(JSON.stringify(manifest)), weights: cut };
}

/** Measures iterations on WebGPU. The loss is read in the first and in the last one: nothing is queued there, so that differences are exact.
 * @param {{ device: "webgpu" | "default", iterations: number, precision: "f32" | "mixed" }} how */
async function webgpu({ device, iterations, precision }) {
  const session = await visit({ device, path: "icon.svg" });
  try {
    const { manifest, weights } = oneSpeaker();
    session.change("models/base/manifest.json", () => manifest);
    session.change("models/base/weights.safetensors", () => weights);
    session.change("js/worker.js", (body) => Buffer.concat([Buffer.from(COUNTER), body]));
    await withPackage(session, 2, "webgpu");
    const measured = await run(
      session,
      `const counts = [], bytes = [], seconds = [], memory = [];
      const voice = await studio.clone(clips, { iterations: input.iterations, seed: 1, rehearsal: 0, precision: input.precision, onStep: (step) => {
        if (step.status !== "training") return;
        counts.push(step.dispatches);
        bytes.push(step.bytes);
        seconds.push(step.seconds);
        memory.push(studio.deviceMemory());
      } });
      const held = (await Promise.all(memory)).map(({ heldBytes }) => heldBytes);
      await voice.say(input.text); // compiles
      const asked = performance.now();
      const speech = await voice.say(input.text);
      const spoken = (performance.now() - asked) / 1000;
      return { counts, bytes, seconds, held, rtf: (spoken * speech.sampleRate) / speech.samples.length, adapter: studio.device.name };`,
      { iterations, precision, text: TEXT },
    );
    if (measured.message) throw Object.assign(new Error(`${measured.code}: ${measured.message}`), { code: measured.code });
    const { counts, bytes, seconds, held, rtf, adapter } = measured;
    const each = (/** @type {number[]} */ values) => (values[iterations - 1] - values[0]) / (iterations - 1);
    return { dispatches: each(counts), megabytes: each(bytes) / 1e6, seconds: each(seconds), peak: Math.max(...held), last: held[iterations - 1], rtf, adapter };
  } finally {
    await session.close();
  }
}

async function software() {
  const { dispatches, megabytes, seconds, peak, rtf } = await webgpu({ device: "webgpu", iterations: 4, precision: "f32" });
  return [
    { name: "train.dispatches_per_iter", value: dispatches, unit: "dispatches", what: "small, 8 x 128 frames, known durations" },
    { name: "train.webgpu.mb_per_iter", value: megabytes, unit: "MB", what: "of the buffers bound at these dispatches, each read or written once" },
    { name: "train.webgpu.s_per_iter", value: seconds, unit: "s", what: "SwiftShader, not a GPU" },
    { name: "train.webgpu.memory_mb", value: peak / 1e6, unit: "MB", what: "graphics memory held for small, the most after an iteration" },
    { name: "say.webgpu.rtf", value: rtf, unit: "s/s", what: "seconds of work a second of speech; the spectrogram on SwiftShader, not a GPU, the vocoder on the CPU" },
  ];
}

/** Measures both precisions, where the adapter supports half. */
async function adapter() {
  const rows = [];
  for (const precision of /** @type {const} */ (["f32", "mixed"])) {
    try {
      const { dispatches, megabytes, seconds, peak, last, rtf, adapter } = await webgpu({ device: "default", iterations: 51, precision });
      const mixed = precision === "mixed" ? ".mixed" : "";
      rows.push({ name: `train.webgpu${mixed}.s_per_iter`, value: seconds, unit: "s", adapter, dispatches });
      rows.push({ name: `train.webgpu${mixed}.mb_per_iter`, value: megabytes, unit: "MB", adapter });
      rows.push({ name: `train.webgpu${mixed}.memory_mb`, value: peak / 1e6, unit: "MB", adapter, atTheEnd: last / 1e6 });
      rows.push({ name: `say.webgpu${mixed}.rtf`, value: rtf, unit: "s/s", adapter });
    } catch (error) {
      if (/** @type {any} */ (error).code !== "precision-unsupported") throw error;
      console.error("this adapter has no shader-f16: mixed precision was not measured");
    }
  }
  return rows;
}

const MEASURES = { cpu, software, adapter };
const asked = process.argv.slice(2);
const rows = [];
for (const name of /** @type {(keyof typeof MEASURES)[]} */ (asked.length ? asked : ["cpu", "software"])) rows.push(...(await MEASURES[name]()));
console.log(`\n${JSON.stringify(rows, null, 1)}`);
