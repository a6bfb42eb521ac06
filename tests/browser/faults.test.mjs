// Faults: each use of the browser's storage, each message between page, worker and helpers, and each call to the graphics card is made to fail, one at a
// time, while a visitor records, learns, speaks, saves and deletes in the page itself. Whatever fails, no recording that was stored is lost, at most 25
// iterations are, and the page says in words what the visitor can do about it, who then does it.

import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { walk } from "./faults/walk.mjs";
import { visit, wav } from "./steps.mjs";

/** @import { Session } from "./harness.mjs" */
/** @import { Fault } from "./faults/inject.mjs" */
/** @import { Found } from "./faults/walk.mjs" */

const MINUTE = 60_000;
/** `FAULTS=1` tries each of the points, which takes hours on two cores; `FAULTS=9` each ninth, `FAULTS=2/9` each ninth from the second on: nine runs try all.
 * Without it, one of each kind is tried. Points of storage and messages are calls, those of the graphics card the results that wait for one: see `awaited`. */
const [STRIDE = 0, FIRST = 1] = (process.env.FAULTS ?? "").split("/").filter(Boolean).map(Number).reverse();
const LONG = (STRIDE ? 300 : 20) * MINUTE;

/** A page on which nothing runs, in a browser whose microphone hears nothing. @param {Parameters<typeof visit>[0]} options */
function quiet(options) {
  const microphone = join(mkdtempSync(join(tmpdir(), "ownvoice-silence-")), "silence.wav");
  writeFileSync(microphone, wav(Buffer.alloc(32_000)));
  return visit({ path: "icon.svg", tiny: true, microphone, ...options });
}

/** How often each function was called, by `context class.method`. @param {Found} found @returns {Map<string, number>} */
function counts({ calls }) {
  const found = new Map();
  for (const { where, name } of calls) found.set(`${where}: ${name}`, (found.get(`${where}: ${name}`) ?? 0) + 1);
  return new Map([...found].sort(([a], [b]) => a.localeCompare(b)));
}

/** Those that this run tries, of all points. @param {Fault[]} all */
const ofThisRun = (all) => all.filter((_, i) => i % STRIDE === FIRST - 1);

/** The points to be tried: one in the middle of each kind, or every so many of all. @param {Map<string, number>} counts @returns {Fault[]} */
function points(counts) {
  const all = [...counts].flatMap(([name, count]) => Array.from({ length: count }, (_, i) => point(name, i + 1)));
  return STRIDE ? ofThisRun(all) : [...counts].map(([name, count]) => point(name, Math.ceil(count / 2)));
}

/** @param {string} name @param {number} at @returns {Fault} */
function point(name, at) {
  const [where, method] = name.split(": ");
  return { where: /** @type {Fault["where"]} */ (where), name: method, at };
}

/** Each call to the graphics card, and which it is of those from its place. @param {Found} found @returns {Fault[]} */
function numbered({ calls }) {
  /** @type {Map<string, number>} */
  const made = new Map();
  return calls.filter(({ place }) => place).map((call) => {
    const key = `${call.name} ${call.place}`;
    made.set(key, (made.get(key) ?? 0) + 1);
    return { ...call, at: /** @type {number} */ (made.get(key)) };
  });
}

/**
 * One call of each kind before each place where the program waits for a result: there a failing card is noticed, and on that depends what follows.
 * Of several it is the one with the fewest before it from its own place, the likeliest to be made in every walk.
 * @param {Fault[]} calls
 */
function awaited(calls) {
  /** @type {Map<string, Fault>} */
  const found = new Map();
  let next = "";
  for (const call of calls.toReversed()) {
    if (call.name === "GPUBuffer.mapAsync") next = call.place ?? "";
    const key = `${call.name} ${next}`;
    if (call.at <= (found.get(key)?.at ?? Infinity)) found.set(key, call);
  }
  return [...found.values()].reverse();
}

/** @param {Session} session @param {Fault} fault @param {import("node:test").TestContext} t */
async function tried(session, fault, t) {
  const before = session.problems.length;
  let found;
  try {
    found = await walk(session, fault);
  } catch (error) {
    throw new Error(`${JSON.stringify(fault)}: ${/** @type {Error} */ (error).message}`, { cause: error });
  }
  const uncaught = session.problems.slice(before).filter(({ kind }) => kind === "exception");
  assert.deepEqual(uncaught, [], `no error is left to the console; ${JSON.stringify(fault)}`);
  if (found.said.length) t.diagnostic(`${fault.where}: ${fault.name} ${fault.at}${fault.how ? ` (${fault.how})` : ""}: ${found.said.join(" | ")}`);
  return found;
}

/**
 * Tries one point after the other. A walk that failed is told in `faults`, and what follows begins in a new browser, where nothing is left of it.
 * `missed` are the points that their walks did not reach: how often a page reports differs from run to run. Later calls from the same place are not tried.
 * @param {Session} session @param {Fault[]} points @param {import("node:test").TestContext} t @param {() => Promise<Session>} open
 */
async function triedInTurn(session, points, t, open) {
  const missed = /** @type {Fault[]} */ ([]);
  const faults = /** @type {string[]} */ ([]);
  let failed = 0;
  for (const point of points) {
    if (missed.some(({ where, name, place, at }) => where === point.where && name === point.name && place === point.place && at <= point.at)) continue;
    try {
      const { fired } = await tried(session, point, t);
      if (fired === 0) missed.push(point);
      failed += fired;
    } catch (error) {
      faults.push(/** @type {Error} */ (error).message);
      await session.close();
      session = await open();
    }
  }
  return { session, failed, missed, faults };
}

describe("storage and messages", () => {
  /** @type {Session} */
  let session;
  /** @type {Map<string, number>} */
  let called;
  const open = () => quiet({ device: "cpu" });
  before(async () => {
    session = await open();
    const sound = await walk(session, null);
    assert.deepEqual([sound.said, sound.reloads], [[], 0]);
    called = counts(sound);
  });
  after(() => session.close());

  test("all of them are called on the way", (t) => {
    t.diagnostic([...called].map(([name, count]) => `${name} ${count}`).join(", "));
    const kinds = [
      ...["getDirectory", "getDirectoryHandle", "removeEntry"].map((method) => `page: ${method}`),
      ...["open", "match", "put", "keys"].map((method) => `worker: ${method}`),
      ...["getDirectory", "getDirectoryHandle", "getFileHandle", "createSyncAccessHandle", "write", "flush", "close", "getFile", "removeEntry"].map((method) => `worker: ${method}`),
      ...["getItem", "setItem", "removeItem", "delete", "postMessage"].map((method) => `page: ${method}`),
      ...["worker: postMessage", "helper: postMessage"],
    ];
    const found = [...called.keys()].map((name) => name.replace(/: .*\./, ": "));
    assert.deepEqual(kinds.filter((kind) => !found.includes(kind)), []);
    assert.ok((called.get("worker: Worker.postMessage") ?? 0) > 10, "a helper takes part");
  });

  test("one call fails", { timeout: LONG }, async (t) => {
    const all = points(called);
    const { failed, missed, faults, ...last } = await triedInTurn(session, all, t, open);
    session = last.session;
    const sum = [...called.values()].reduce((a, b) => a + b);
    t.diagnostic(`${failed + faults.length} calls of ${sum} failed, and of the ${all.length} asked for there were no more of ${missed.map(({ where, name, at }) => `${where}: ${name} ${at}`).join(", ") || "any kind"}`);
    assert.deepEqual(faults, []);
    assert.ok(STRIDE || failed > 0.7 * all.length, `only ${failed} calls failed`);
  });

  for (const [where, name, at] of /** @type {const} */ ([
    ["worker", "FileSystemSyncAccessHandle.write", 1],
    ["worker", "StorageManager.getDirectory", 1],
    ["worker", "Cache.match", 1],
    ["page", "FileSystemDirectoryHandle.removeEntry", 1],
    ["page", "Worker.postMessage", 8],
    ["helper", "postMessage", 5],
  ])) {
    test(`${where}: ${name} fails from the ${at === 1 ? "first" : `${at}th`} on`, { timeout: 5 * MINUTE }, async (t) => {
      const { fired } = await tried(session, { where, name, at, lasting: true }, t);
      assert.ok(fired > 0);
    });
  }
});

describe("the graphics card", () => {
  /** @type {Session} */
  let card;
  /** @type {Fault[]} */
  let calls;
  const prepare = (/** @type {Session} */ session) => {
    // A software adapter passes for a real one, and is trusted unseen: it would compile its kernels twice.
    session.rewrite("js/device.js", (text) => text.replace(/const software = .*;/, "const software = false;"));
    session.rewrite("js/self-test.js", (text) => text.replace("await engine.selfTest(parts)", "null"));
  };
  const open = () => quiet({ device: "webgpu", prepare });
  before(async () => {
    card = await open();
    const sound = await walk(card, null);
    assert.deepEqual([sound.said, sound.reloads], [[], 0]);
    calls = numbered(sound);
  });
  after(() => card.close());

  for (const [name, how, what, ...later] of /** @type {const} */ ([
    ["GPU.requestAdapter", undefined, "no adapter is given"],
    ["GPUAdapter.requestDevice", undefined, "no device is given"],
    ["GPUQueue.submit", "lost", "the card goes"],
    ["GPUDevice.createBuffer", "memory", "a buffer finds no memory"],
    ["GPUDevice.createBuffer", "invalid", "a buffer is not valid"],
    ["GPUBuffer.mapAsync", undefined, "a result cannot be read", 0.9],
    ["GPUDevice.popErrorScope", "invalid", "a call is reported as not valid"],
  ])) {
    test(what, { timeout: LONG }, async (t) => {
      const all = calls.filter((call) => call.name === name);
      if (name !== "GPUDevice.popErrorScope") assert.ok(all.length > 0, `${name} is called`);
      const chosen = STRIDE
        ? ofThisRun(awaited(calls).filter((call) => call.name === name))
        : [0.5, ...later].map((share) => all[Math.floor(share * all.length)]).filter(Boolean);
      const asked = chosen.map((point) => ({ ...point, how }));
      const { failed, faults, ...last } = await triedInTurn(card, asked, t, open);
      card = last.session;
      t.diagnostic(`${failed + faults.length} calls of ${all.length} failed, of ${asked.length} asked for`);
      assert.ok(failed + faults.length === asked.length, "each of them was made");
      assert.deepEqual(faults, []);
    });
  }
});
