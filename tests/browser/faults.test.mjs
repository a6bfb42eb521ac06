// Fault injection: each use of the browser's storage, and each message between page, worker and helpers, fails once while a visitor records, learns, speaks,
// saves and deletes. No stored recording may be lost, and at most 25 iterations; and the page must say what the visitor can do, who then does it.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { LONG, MINUTE, STRIDE, ofThisRun, quiet, tried, triedInTurn } from "./faults/tried.mjs";
import { walk } from "./faults/walk.mjs";

/** @import { Session } from "./harness.mjs" */
/** @import { Fault } from "./faults/inject.mjs" */
/** @import { Found } from "./faults/walk.mjs" */

/** Returns how often each function was called, by `context class.method`. @param {Found} found @returns {Map<string, number>} */
function counts({ calls }) {
  const found = new Map();
  for (const { where, name } of calls) found.set(`${where}: ${name}`, (found.get(`${where}: ${name}`) ?? 0) + 1);
  return new Map([...found].sort(([a], [b]) => a.localeCompare(b)));
}

/** Returns the calls that are to fail: the middle one of each kind, or every nth of all. @param {Map<string, number>} counts @returns {Fault[]} */
function points(counts) {
  const all = [...counts].flatMap(([name, count]) => Array.from({ length: count }, (_, i) => point(name, i + 1)));
  return STRIDE ? ofThisRun(all) : [...counts].map(([name, count]) => point(name, Math.ceil(count / 2)));
}

/** @param {string} name @param {number} at @returns {Fault} */
function point(name, at) {
  const [where, method] = name.split(": ");
  return { where: /** @type {Fault["where"]} */ (where), name: method, at };
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

  test("a visit calls all of these functions", (t) => {
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
