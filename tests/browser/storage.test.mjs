// Storage: files are written completely or not at all, and the page works without storage. A full disk is tested in quota.test.mjs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseFiles, learned, ready, run, speak, spokenSamples, storedFiles, visit, withPackage } from "./steps.mjs";

/** @import { Session } from "./harness.mjs" */

const MINUTE = 60_000;

/** Loads a studio with storage, as `keeper`, in a document without scripts. @param {Session} session */
async function loadKeeper(session) {
  await withPackage(session, 2);
  await run(session, "globalThis.keeper = await ownvoice.load({ base: 'models/base', device: 'cpu', storage: 'test' })");
}

test("recordings are restored unchanged, whatever their ids are", { timeout: MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", path: "icon.svg", tiny: true });
  t.after(() => session.close());
  await loadKeeper(session);
  const back = await run(
    session,
    `for (const id of ["p01", "a/b.c", "ü 漢"]) await keeper.storage.put({ id, text: "Text of " + id, samples: clip.samples, sampleRate: 16000 });
    await keeper.storage.put({ id: "p01", text: "Read again", samples: clip.samples.slice(5), sampleRate: 16000 });
    await keeper.storage.remove("ü 漢");
    return (await keeper.storage.recordings()).map(({ id, text, samples, sampleRate }) => ({ id, text, sampleRate, length: samples.length, same: samples.at(-1) === clip.samples.at(-1) }))`,
  );
  const { length } = spokenSamples(0).samples;
  assert.deepEqual(back, [
    { id: "a/b.c", text: "Text of a/b.c", sampleRate: 16000, length: length / 2, same: true },
    { id: "p01", text: "Read again", sampleRate: 16000, length: length / 2 - 5, same: true },
  ]);
  const kept = await storedFiles(session);
  assert.deepEqual(Object.keys(kept).sort(), ["test/recordings/a%2Fb.c.1", "test/recordings/p01.2"], "and nothing is left of earlier values");
  const { bytes } = await run(session, "return keeper.storage.usage()");
  assert.equal(bytes, Object.values(kept).reduce((a, b) => a + b));
});

test("an incomplete or damaged file is not used: the value before it is", { timeout: MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", path: "icon.svg", tiny: true });
  t.after(() => session.close());
  await loadKeeper(session);
  const back = await run(
    session,
    `await keeper.storage.put({ id: "p01", text: "Whole", samples: clip.samples, sampleRate: 16000 });
    const folder = await (await (await navigator.storage.getDirectory()).getDirectoryHandle("test")).getDirectoryHandle("recordings");
    const whole = new Uint8Array(await (await (await folder.getFileHandle("p01.1")).getFile()).arrayBuffer());
    const write = async (name, bytes) => {
      const file = await (await folder.getFileHandle(name, { create: true })).createWritable();
      await file.write(bytes);
      await file.close();
    };
    await write("p01.2", whole.subarray(0, whole.length / 2)); // truncated
    await write("p01.3", whole.with(whole.length >> 1, whole[whole.length >> 1] ^ 1)); // one wrong bit
    await write("p02.1", new Uint8Array(10));
    return (await keeper.storage.recordings()).map(({ text, samples }) => [text, samples.length === clip.samples.length && samples.every((sample, i) => sample === clip.samples[i])]);`,
  );
  assert.deepEqual(back, [["Whole", true]]);
});

test("a read during a write always finds a complete value", { timeout: MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", path: "icon.svg", tiny: true });
  t.after(() => session.close());
  await loadKeeper(session);
  const found = await run(
    session,
    `const other = await ownvoice.load({ base: "models/base", device: "cpu", storage: "test" });
    const put = (i) => keeper.storage.put({ id: "p01", text: "Take " + i, samples: new Float32Array(1000), sampleRate: 16000 });
    await put(0);
    let writing = true;
    const reads = (async () => {
      const counts = new Set();
      while (writing) counts.add((await other.storage.recordings()).length);
      return [...counts];
    })();
    for (let i = 1; i <= 60; i++) await put(i);
    writing = false;
    try { return await reads; } finally { other.close(); }`,
  );
  assert.deepEqual(found, [1]);
});

test("a checkpoint is resumed with its own clips only", { timeout: 2 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", path: "icon.svg", tiny: true });
  t.after(() => session.close());
  await withPackage(session, 4);
  const found = await run(
    session,
    `const until = async (studio, clips, ends) => {
      let reached;
      const there = new Promise((resolve) => (reached = resolve));
      const lost = studio.clone(clips, { onStep: (step) => ends(step) && reached() }).catch(({ code }) => code);
      await there;
      studio.close(); // as if the tab were closed
      await lost;
      return ownvoice.load({ base: "models/base", device: "cpu", storage: "test" });
    };
    const first = await ownvoice.load({ base: "models/base", device: "cpu", storage: "test" });
    const second = await until(first, clips.slice(0, 2), ({ iteration }) => iteration > 26);
    const left = (await second.storage.training()).checkpoint;
    const refused = await second.clone([{ ...clips[2], text: clips[3].text }, { ...clips[3], text: clips[2].text }]).catch(({ code }) => code);
    const stillLeft = (await second.storage.training()).checkpoint;
    const third = await until(second, clips.slice(2), ({ status }) => status === "aligning");
    const wrong = (await third.storage.training()).checkpoint;
    const resumed = await third.resume().catch(({ code }) => code);
    third.close();
    return { left, refused, stillLeft, wrong, resumed };`,
  );
  assert.equal(found.left?.iteration, 25, JSON.stringify(found));
  assert.equal(found.refused, "clip-mismatch");
  assert.deepEqual(found.stillLeft, found.left, "a training that was refused leaves the last one");
  assert.equal(found.wrong, null, "the training that crashed while it was aligned is not that of the checkpoint");
  assert.equal(found.resumed, "nothing-stored");
});

test("of two trainings in one studio, the first continues and is stored, the second is refused", { timeout: 2 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", path: "icon.svg", tiny: true });
  t.after(() => session.close());
  await withPackage(session, 4);
  const found = await run(
    session,
    `const keeper = await ownvoice.load({ base: "models/base", device: "cpu", storage: "test" });
    const file = async (voice) => [...new Uint8Array(await voice.arrayBuffer())].join();
    const stored = async () => file((await keeper.storage.training()).voice);
    let begun;
    const there = new Promise((resolve) => (begun = resolve));
    const first = keeper.clone(clips.slice(0, 2), { iterations: 30, onStep: ({ status }) => status === "training" && begun() });
    await there;
    await keeper.updateTraining({ paused: true });
    const told = await keeper.clone(clips.slice(2), { iterations: 30 }).catch(({ code }) => code);
    await keeper.updateTraining({ paused: false });
    const one = await file(await (await first).save());
    const keptOne = (await stored()) === one;
    const two = await file(await (await keeper.clone(clips.slice(2), { iterations: 30 })).save());
    return { told, keptOne, others: one !== two, keptTwo: (await stored()) === two };`,
  );
  assert.deepEqual(found, { told: "training-elsewhere", keptOne: true, others: true, keptTwo: true });
});

/** Imitates a browser that gives pages no files, as in some private windows. @param {Buffer} body */
const without = (body) =>
  Buffer.concat([Buffer.from('StorageManager.prototype.getDirectory = () => Promise.reject(new DOMException("Security error when calling GetDirectory", "SecurityError"));\n'), body]);

test("the page works without storage, and reports it", { timeout: 2 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true, prepare: (session) => session.change("js/worker.js", without) });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  assert.match((await page.textContent("#kept-words")) ?? "", /keeps nothing/);
  assert.match((await page.textContent("#kept-error")) ?? "", /private windows.*storage-unavailable/);
  assert.equal(await page.isHidden("#delete-all"), true);
  await session.screenshot("private-window", "footer");
  await chooseFiles(page, 2);
  await page.click("#train-start");
  await learned(page);
  await speak(page, "mine");
  session.assertQuiet();
});
