// Faults: each use of the browser's files, of the graphics card, and each message between page and worker, is made to fail once and from then on, while a
// visitor records, trains, speaks, saves and deletes. Whatever fails, no recording that was stored is lost, at most 25 iterations are, and each failure has words.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { ROOT } from "./harness.mjs";
import { run, visit, withPackage } from "./steps.mjs";

/** @import { Session } from "./harness.mjs" */

const MINUTE = 60_000;
/** Every so many of the uses is tried: `FAULTS=1` tries each, which takes a quarter of an hour. */
const STRIDE = Number(process.env.FAULTS ?? 6);

/** In the worker, before its own script: counts what may fail, and fails the one that is asked for, or all from there on. */
const FAULTS = `
{
  let count = 0, at = Infinity, forever = false;
  const failing = (name) => {
    count += 1;
    if (forever ? count >= at : count === at) throw new DOMException("fault " + at + " at " + name, "InvalidStateError");
  };
  const wrap = (prototype, name) => {
    const real = prototype[name];
    prototype[name] = name === "write" || name === "flush" ? function (...args) { failing(name); return real.apply(this, args); } : async function (...args) { failing(name); return real.apply(this, args); };
  };
  wrap(FileSystemSyncAccessHandle.prototype, "write");
  wrap(FileSystemSyncAccessHandle.prototype, "flush");
  wrap(FileSystemFileHandle.prototype, "createSyncAccessHandle");
  wrap(FileSystemFileHandle.prototype, "getFile");
  wrap(FileSystemDirectoryHandle.prototype, "getFileHandle");
  wrap(FileSystemDirectoryHandle.prototype, "getDirectoryHandle");
  wrap(FileSystemDirectoryHandle.prototype, "removeEntry");
  self.addEventListener("message", (event) => {
    const { fault } = event.data;
    if (!fault) return;
    event.stopImmediatePropagation();
    self.postMessage({ uses: count });
    if (fault.at) ({ at, forever } = fault), (count = 0);
  });
}
`;

/** A visitor's way in one studio, whose storage fails: what was promised, what failed, and what a second studio finds afterwards. */
const WALK = `
  let worker;
  const { Worker } = globalThis;
  globalThis.Worker = class extends Worker { constructor(...args) { super(...args); worker = this; } };
  const counted = (fault) => new Promise((resolve) => {
    worker.addEventListener("message", ({ data }) => "uses" in data && resolve(data.uses));
    worker.postMessage({ fault });
  });
  const codes = [], stored = new Set();
  const attempt = (what, work) => work().catch((error) => { codes.push([what, error.code, error.message]); });
  const name = "faults-" + crypto.randomUUID();
  const first = await ownvoice.load({ base: "models/base", device: "cpu", storage: name, cores: 1 });
  globalThis.Worker = Worker;
  await counted({ at: input.at ?? Infinity, forever: input.forever });
  for (const [index, clip] of clips.slice(0, 2).entries()) {
    await attempt("put", async () => { await first.storage.put({ id: "p" + index, ...clip }); stored.add("p" + index); });
  }
  let notStored = null, last = 0, spoken = 0, saved = 0, left = [];
  const onStep = (step) => { if (step.status === "not-stored") notStored = step; if (step.status === "training") last = step.iteration; };
  const voice = await attempt("clone", () => first.clone(clips.slice(0, 2), { iterations: input.iterations, onStep }));
  if (voice) {
    await attempt("say", async () => { spoken = (await voice.say("Yes.")).samples.length; });
    await attempt("save", async () => { saved = (await voice.save()).size; });
  }
  const uses = await counted({});
  first.close();
  const second = await ownvoice.load({ base: "models/base", device: "cpu", storage: name, cores: 1 });
  for (const { id, samples } of await second.storage.recordings()) if (samples.length === clips[Number(id[1])].samples.length) left.push(id);
  const training = await second.storage.training();
  await second.storage.clear();
  const usage = await second.storage.usage();
  second.close();
  return { codes, stored: [...stored], left, notStored, last, spoken, saved, uses, kept: { voice: training.voice?.size ?? 0, iteration: training.checkpoint?.iteration ?? 0 }, bytes: usage.bytes };`;

/** @type {Session} */
let session;
before(async () => {
  session = await visit({ device: "cpu", path: "icon.svg", tiny: true, prepare: (session) => session.change("js/worker.js", (body) => Buffer.concat([Buffer.from(FAULTS), body])) });
  await withPackage(session, 2, "cpu", 1);
});
after(() => session.close());

/** Codes that the page has words for. */
const words = readFileSync(join(ROOT, "www/strings/en.js"), "utf8");

/** @param {any} found @param {string} fault */
function holds(found, fault) {
  const shown = `${fault}: ${JSON.stringify(found)}`;
  for (const [, code] of found.codes) assert.ok(code !== "internal" && words.includes(`"error.${code}"`), `words for each failure; ${shown}`);
  for (const id of found.stored) assert.ok(found.left.includes(id), `what was stored is there; ${shown}`);
  assert.deepEqual(found.codes.filter((/** @type {string[]} */ [what]) => what !== "put"), [], `training, speaking and saving need no storage; ${shown}`);
  assert.ok(found.last >= 26 && found.spoken > 1000 && found.saved > 1000, shown);
  if (found.kept.voice === 0) assert.ok(found.notStored, `what was not stored is reported; ${shown}`);
  assert.equal(found.bytes, 0, `all of it can be deleted; ${shown}`);
}

describe("a use of the browser's files that fails", () => {
  let uses = 0;
  before(async () => {
    const found = await run(session, WALK, { iterations: 26 });
    holds(found, "none");
    assert.deepEqual([found.codes, found.stored, found.notStored, found.kept.iteration], [[], ["p0", "p1"], null, 0]);
    uses = found.uses;
    assert.ok(uses > 30, `${uses} uses`);
  });
  test("once", { timeout: (STRIDE === 1 ? 20 : 5) * MINUTE }, async (t) => {
    t.diagnostic(`${uses} uses of the browser's files`);
    for (let at = 1; at <= uses; at += STRIDE) {
      const found = await run(session, WALK, { at, forever: false, iterations: 26 });
      holds(found, `use ${at}`);
      assert.deepEqual([found.codes, found.stored, found.notStored, found.kept.voice > 0], [[], ["p0", "p1"], null, true], `it is tried again; ${JSON.stringify({ at, ...found })}`);
    }
  });
  test("and all that follow", { timeout: (STRIDE === 1 ? 10 : 5) * MINUTE }, async () => {
    for (let at = 1; at <= uses; at += 4 * STRIDE) holds(await run(session, WALK, { at, forever: true, iterations: 26 }), `use ${at} and on`);
  });
});

test("a message that cannot be sent is an error with a code, and the next one is sent", { timeout: MINUTE }, async () => {
  const [failed, seconds] = await run(
    session,
    `const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function () { throw new DOMException("out of memory", "DataCloneError"); };
    const failed = await studio.base.say("Yes.").catch(({ name, code }) => name + " " + code);
    Worker.prototype.postMessage = postMessage;
    return [failed, (await studio.base.say("Yes.")).samples.length / 16000];`,
  );
  assert.equal(failed, "OwnvoiceError message-failed");
  assert.ok(seconds > 0.1);
});

/** In the worker, before its own script: counts the calls to the graphics card, and at one of them the card goes, or a buffer finds no memory. */
const DEVICE_FAULTS = `
{
  let count = 0, at = Infinity, kind = "lost", device;
  const { requestDevice } = GPUAdapter.prototype;
  GPUAdapter.prototype.requestDevice = async function (...args) { return (device = await requestDevice.apply(this, args)); };
  const wrap = (prototype, name) => {
    const real = prototype[name];
    prototype[name] = function (...args) {
      if (kind === "lost" || name === "createBuffer") count += 1;
      if (count !== at) return real.apply(this, args);
      at = Infinity;
      if (kind === "lost") return device.destroy(), real.apply(this, args);
      return real.call(this, { ...args[0], size: 2 ** 50 });
    };
  };
  for (const name of ["createBuffer", "createBindGroup", "createComputePipeline", "createShaderModule", "createCommandEncoder"]) wrap(GPUDevice.prototype, name);
  for (const name of ["submit", "writeBuffer"]) wrap(GPUQueue.prototype, name);
  wrap(GPUBuffer.prototype, "mapAsync");
  self.addEventListener("message", (event) => {
    const { fault } = event.data;
    if (!fault) return;
    event.stopImmediatePropagation();
    self.postMessage({ uses: count });
    if (fault.at) ({ at, kind } = fault), (count = 0);
  });
}
`;

/** A visitor's way in a studio whose graphics card fails, and in a second one on the CPU, which goes on with what is left. */
const DEVICE_WALK = `
  let worker;
  const { Worker } = globalThis;
  globalThis.Worker = class extends Worker { constructor(...args) { super(...args); worker = this; worker.postMessage({ fault: { at: input.at ?? 1e9, kind: input.kind } }); } };
  const codes = [], left = [];
  const attempt = (what, work) => work().catch((error) => { codes.push([what, error.code, error.message]); });
  const name = "faults-" + crypto.randomUUID();
  let last = 0, first = 0, spoken = 0, uses = 0;
  const studio = await attempt("load", () => ownvoice.load({ base: "models/base", device: "webgpu", storage: name }));
  globalThis.Worker = Worker;
  if (studio) {
    for (const [index, clip] of clips.slice(0, 2).entries()) await studio.storage.put({ id: "p" + index, ...clip });
    const onStep = (step) => { if (step.status === "training") last = step.iteration; };
    const voice = await attempt("clone", () => studio.clone(clips.slice(0, 2), { iterations: input.iterations, onStep }));
    if (voice) {
      await attempt("say", () => voice.say("Yes."));
      await attempt("save", () => voice.save());
    }
    uses = await new Promise((resolve) => {
      worker.addEventListener("message", ({ data }) => "uses" in data && resolve(data.uses));
      worker.postMessage({ fault: {} });
      setTimeout(resolve, 5000, 0);
    });
    studio.close();
  }
  const second = await ownvoice.load({ base: "models/base", device: "cpu", storage: name, cores: 1 });
  for (const { id } of await second.storage.recordings()) left.push(id);
  const { voice: stored, checkpoint } = await second.storage.training();
  const onStep = (step) => { if (step.status === "training") first ||= step.iteration; };
  const voice = stored ? await second.open(stored) : await (checkpoint ? second.resume({ onStep }) : second.clone(clips.slice(0, 2), { iterations: 26 }));
  spoken = (await voice.say("Yes.")).samples.length;
  await second.storage.clear();
  second.close();
  return { codes, left, last, first, spoken, uses, stored: stored?.size ?? 0, iteration: checkpoint?.iteration ?? 0 };`;

describe("a call to the graphics card that fails", () => {
  /** @type {Session} */
  let card;
  const ITERATIONS = 27;
  before(async () => {
    const prepare = (/** @type {Session} */ session) => {
      session.change("js/worker.js", (body) => Buffer.concat([Buffer.from(DEVICE_FAULTS), body]));
      session.rewrite("js/self-test.js", (text) => text.replace("await engine.selfTest(parts)", "null"));
    };
    card = await visit({ device: "webgpu", path: "icon.svg", tiny: true, prepare });
    await withPackage(card, 2, "cpu", 1);
  });
  after(() => card.close());

  /** @param {any} found @param {string} fault */
  function holdsOnCard(found, fault) {
    const shown = `${fault}: ${JSON.stringify(found)}`;
    for (const [, code] of found.codes) assert.ok(code !== "internal" && words.includes(`"error.${code}"`), `words for each failure; ${shown}`);
    if (found.codes[0]?.[0] !== "load") assert.deepEqual(found.left, ["p0", "p1"], `what was stored is there; ${shown}`);
    if (found.last > 25 && !found.stored) assert.ok(found.iteration >= 25 && found.last - found.iteration < 25, `at most 25 iterations are lost; ${shown}`);
    assert.ok(found.spoken > 1000, `the CPU goes on; ${shown}`);
  }

  for (const kind of ["lost", "memory"]) {
    test(kind === "lost" ? "the card goes" : "a buffer finds no memory", { timeout: (STRIDE === 1 ? 25 : 5) * MINUTE }, async (t) => {
      const sound = await run(card, DEVICE_WALK, { kind, iterations: ITERATIONS });
      holdsOnCard(sound, "none");
      assert.deepEqual([sound.codes, sound.stored > 0], [[], true]);
      t.diagnostic(`${sound.uses} calls`);
      assert.ok(sound.uses > 100, `${sound.uses} calls`);
      let failed = 0;
      for (const share of STRIDE === 1 ? [0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97] : kind === "lost" ? [0.3, 0.97] : [0.3]) {
        const at = 1 + Math.floor(share * sound.uses);
        const found = await run(card, DEVICE_WALK, { kind, at, iterations: ITERATIONS });
        holdsOnCard(found, `call ${at} of ${sound.uses}, ${kind}`);
        failed += found.codes.length > 0 ? 1 : 0;
      }
      assert.ok(failed > 0, "a fault was noticed");
    });
  }
});
