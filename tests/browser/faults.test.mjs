// Faults: each use of the browser's files, and each message between page and worker, is made to fail once and from then on, while a visitor records, trains,
// speaks, saves and deletes. Whatever fails, no recording that was stored is lost, at most 25 iterations are, and each failure has words.

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
  test("once", { timeout: 20 * MINUTE }, async (t) => {
    t.diagnostic(`${uses} uses of the browser's files`);
    for (let at = 1; at <= uses; at += STRIDE) {
      const found = await run(session, WALK, { at, forever: false, iterations: 26 });
      holds(found, `use ${at}`);
      assert.deepEqual([found.codes, found.stored, found.notStored, found.kept.voice > 0], [[], ["p0", "p1"], null, true], `it is tried again; ${JSON.stringify({ at, ...found })}`);
    }
  });
  test("and all that follow", { timeout: 10 * MINUTE }, async () => {
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
