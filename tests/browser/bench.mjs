// Training and speaking in Chromium on the CPU device, at full size: an array of figures as the last thing printed.

import { SENTENCES, run, visit, withPackage } from "./steps.mjs";

const ITERATIONS = 12;
/** The first iterations warm up: memory grows, and the browser compiles what runs often. */
const WARM_UP = 3;
const TEXT = "This sentence is spoken to be measured, and so is the next one. Here is the next one, which is about as long as the first.";

const session = await visit({ device: "cpu", path: "icon.svg" });
try {
  await withPackage(session, SENTENCES.length);
  const measured = await run(
    session,
    `const seconds = [];
    const voice = await studio.clone(clips, { iterations: input.iterations, seed: 1, onStep: (step) => step.status === "training" && seconds.push(step.seconds) });
    const started = performance.now();
    const speech = await voice.say(input.text);
    return { seconds, spoken: (performance.now() - started) / 1000, heard: speech.samples.length / speech.sampleRate };`,
    { iterations: ITERATIONS, text: TEXT },
  );
  if (measured.message) throw new Error(`${measured.code}: ${measured.message}`);
  // The page hears the time since the first iteration.
  const each = measured.seconds.map((/** @type {number} */ now, /** @type {number} */ i) => now - (measured.seconds[i - 1] ?? 0));
  const steady = each.slice(WARM_UP).sort((/** @type {number} */ a, /** @type {number} */ b) => a - b);
  const rows = [
    { name: "train.wasm.cpu.s_per_iter", value: steady[steady.length >> 1], unit: "s", what: "median", iterations: steady.length },
    { name: "say.wasm.cpu.rtf", value: measured.spoken / measured.heard, unit: "s/s", what: "seconds of work a second of speech" },
  ];
  console.log(`\n${JSON.stringify(rows, null, 1)}`);
} finally {
  await session.close();
}
