// Memory stays flat over a training, fifty sentences and two clones: the program's, and that of the graphics card.

import assert from "node:assert/strict";
import { test } from "node:test";
import { run, visit, withPackage } from "./steps.mjs";

/** @import { Session } from "./harness.mjs" */

const MINUTE = 60_000;

/** Clones, then speaks: with `iterations` and `sentences` as `input`. */
const ROUND = `const voice = await studio.clone(clips, { iterations: input.iterations, pictures: true });
  for (let i = 0; i < input.sentences; i++) await voice.say("This is sentence number " + (i + 1) + " of fifty.");
  await voice.close();`;

const megabytes = (/** @type {number} */ bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

test("on the CPU, over fifty sentences and two clones", { timeout: 5 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", path: "icon.svg", tiny: true });
  t.after(() => session.close());
  await withPackage(session, 3);
  const bytes = () => run(session, "return studio.memoryBytes()");
  await run(session, ROUND, { iterations: 30, sentences: 5 });
  const first = await bytes();
  for (const sentences of [25, 25]) await run(session, ROUND, { iterations: 30, sentences });
  const after = await bytes();
  t.diagnostic(`${megabytes(first)} after one clone and 5 sentences, ${megabytes(after)} after two more and 50`);
  assert.ok(after <= first * 1.05, `${first} to ${after} bytes`);
  assert.equal(await run(session, "return studio.deviceMemory()"), null, "and none of a graphics card");
});

test("on the CPU, over a training, from its twentieth iteration on", { timeout: 5 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", path: "icon.svg", tiny: true });
  t.after(() => session.close());
  await withPackage(session, 3);
  const [early, late] = await run(
    session,
    `const bytes = [];
    const pending = [];
    const note = ({ iteration }) => (iteration === 20 || iteration === 200) && pending.push(studio.memoryBytes().then((size) => bytes.push(size)));
    await studio.clone(clips, { iterations: 200, pictures: true, onStep: note });
    await Promise.all(pending);
    return bytes`,
  );
  t.diagnostic(`${megabytes(early)}, then ${megabytes(late)}`);
  assert.ok(late <= early * 1.02, `${early} to ${late} bytes`);
});

/** Before the worker's own script: counts what is made on the graphics card and not yet given back. The library drops its buffers and destroys none, so
 * they end when JavaScript's garbage is collected. */
const WATCH = `const { createBuffer } = GPUDevice.prototype;
globalThis.watched = { made: 0, bytes: 0 };
const gone = new FinalizationRegistry((size) => { watched.bytes -= size; });
GPUDevice.prototype.createBuffer = function (about) {
  const buffer = createBuffer.call(this, about);
  watched.made += 1;
  watched.bytes += about.size;
  gone.register(buffer, about.size);
  return buffer;
};
`;

test("on a graphics card, over fifty sentences and two clones", { timeout: 15 * MINUTE }, async (t) => {
  const prepare = (/** @type {Session} */ session) => session.change("js/worker.js", (body) => Buffer.concat([Buffer.from(WATCH), body]));
  const session = await visit({ device: "webgpu", path: "icon.svg", tiny: true, prepare });
  t.after(() => session.close());
  await withPackage(session, 3, "webgpu");
  const memory = async () => {
    const [program, held] = await run(session, "return [await studio.memoryBytes(), await studio.deviceMemoryBytes()]");
    const { made, bytes } = await session.page.workers()[0].evaluate("({ ...watched })");
    t.diagnostic(`the program's ${megabytes(program)}; on the graphics card ${megabytes(held)} held, ${megabytes(bytes)} in all of ${made} buffers that were made`);
    return { program, held, bytes };
  };
  // The pool finds its size in the first two: what one training leaves is cut otherwise than the next asks for.
  for (const sentences of [5, 5]) await run(session, ROUND, { iterations: 8, sentences });
  const first = await memory();
  assert.ok(first.held > 1e6 && first.bytes >= first.held, "what is held was made, and seen");
  for (const sentences of [25, 25]) {
    await run(session, ROUND, { iterations: 8, sentences });
    const after = await memory();
    assert.ok(after.program <= first.program * 1.05, `the program's: ${first.program} to ${after.program} bytes`);
    assert.ok(after.held <= first.held * 1.1, `held: ${first.held} to ${after.held} bytes`);
    assert.ok(after.bytes <= first.bytes * 1.5, `all: ${first.bytes} to ${after.bytes} bytes`);
  }
});
