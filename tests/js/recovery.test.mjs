// The recovery of a lost worker: when it is replaced, which calls are repeated, and how a training continues.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Connection, RestartPolicy, train } from "../../web/js/connection.js";
import { OwnvoiceError } from "../../web/js/errors.js";
import { Voice, voiceFile } from "../../web/js/voice.js";

/** @typedef {(args: any, options: any, session: any) => any} Method */

/**
 * Returns a connection to workers that answer by `methods`, and a way to end the current one.
 * @param {{ [method: string]: Method }} methods @param {{ device?: "cpu" | "webgpu", started?: Promise<unknown> }} [options] `started` delays each restart.
 */
function connect(methods, { device = "cpu", started } = {}) {
  /** @type {string[]} */
  const calls = [];
  /** @type {any[]} */
  const events = [];
  /** @type {any[]} */
  const sessions = [];
  const start = (/** @type {any} */ inherited = {}) => {
    /** @type {any} */
    let end;
    const ended = new Promise((resolve) => (end = resolve));
    /** @type {any} */
    const session = {
      number: sessions.length,
      inherited,
      microphone: null,
      loaded: { checkpointIterations: 25, module: "module", base: { handle: 100 + sessions.length }, device: { kind: inherited.failed ? "cpu" : device, adapter: "adapter" } },
      /** Ends the worker, and its open calls with it. @param {string} code */
      end: (code) => end(new OwnvoiceError(code, code)),
      remote: {
        ended,
        close: () => end(new OwnvoiceError("closed", "closed")),
        call(/** @type {string} */ method, /** @type {any} */ args, /** @type {any} */ options) {
          calls.push(`${session.number} ${method}`);
          const failed = ended.then((reason) => Promise.reject(reason));
          return Promise.race([failed, Promise.resolve().then(() => methods[method](args, options, session))]);
        },
      },
    };
    sessions.push(session);
    return session;
  };
  const connection = new Connection(start(), async (inherited) => (await started, start(inherited)), () => {}, (event) => events.push(event));
  return { connection, calls, events, sessions };
}

const forever = () => new Promise(() => {});
const later = () => new Promise((resolve) => setTimeout(resolve));

describe("the restart policy", () => {
  test("three restarts in a row, and no fourth", () => {
    const policy = new RestartPolicy(25);
    const restarts = [1, 2, 3, 4].map(() => policy.fail("worker-crashed", "cpu").restarts);
    assert.deepEqual(restarts, [true, true, true, false]);
  });
  test("a completed speech begins the count anew, but not while a training runs", () => {
    const policy = new RestartPolicy(25);
    for (let i = 0; i < 10; i++) {
      policy.completed();
      assert.ok(policy.fail("worker-crashed", "cpu").restarts);
    }
    policy.completed();
    policy.setIteration(3);
    const restarts = [1, 2, 3, 4].map(() => {
      policy.completed();
      return policy.fail("worker-crashed", "cpu").restarts;
    });
    assert.deepEqual(restarts, [true, true, true, false]);
  });
  test("a training that gets past another checkpoint begins the count anew", () => {
    const policy = new RestartPolicy(25);
    for (let iteration = 30; iteration < 300; iteration += 25) {
      policy.setIteration(iteration);
      assert.ok(policy.fail("worker-crashed", "cpu").restarts, `${iteration}`);
    }
  });
  test("the CPU is used after the second lost GPU", () => {
    const policy = new RestartPolicy(25);
    assert.equal(policy.fail("device-lost", "webgpu").toCpu, false);
    assert.equal(policy.fail("worker-crashed", "webgpu").toCpu, false);
    assert.equal(policy.fail("device-lost", "webgpu").toCpu, true);
    assert.equal(policy.fail("worker-crashed", "cpu").toCpu, false);
  });
});

describe("a call whose worker ends", () => {
  test("is repeated in the next worker", async () => {
    const { connection, calls, events, sessions } = connect({ parts: (_, __, session) => (session.number ? "parts" : forever()) });
    const answer = connection.call("parts", { text: "" });
    await later();
    sessions[0].end("worker-crashed");
    assert.equal(await answer, "parts");
    assert.deepEqual(calls, ["0 parts", "1 parts"]);
    assert.deepEqual(events.map(({ status, code, toCpu }) => [status, code, toCpu]), [["restarting", "worker-crashed", false], ["restarted", "worker-crashed", false]]);
    assert.equal(sessions[1].inherited.module, "module");
  });
  test("fails where the next worker ends too", async () => {
    const { connection, calls } = connect({ parts: (_, __, session) => session.end("worker-crashed") ?? forever(), memory: () => 7 });
    await assert.rejects(connection.call("parts", { text: "" }), { code: "worker-crashed" });
    assert.deepEqual(calls, ["0 parts", "1 parts"]);
    assert.equal(await connection.call("memory", {}), 7);
  });
  test("is not repeated where it was cancelled", async () => {
    const { connection, calls, sessions } = connect({ parts: forever });
    const abort = new AbortController();
    const answer = connection.call("parts", { text: "" }, { signal: abort.signal });
    await later();
    sessions[0].end("worker-crashed");
    abort.abort();
    await assert.rejects(answer, { code: "cancelled" });
    assert.deepEqual(calls, ["0 parts"]);
  });
  test("fails with `closed` where the studio was closed", async () => {
    const { connection, events } = connect({ parts: forever });
    const answer = connection.call("parts", { text: "" });
    await later();
    connection.close();
    await assert.rejects(answer, { code: "closed" });
    await assert.rejects(connection.call("parts", { text: "" }), { code: "closed" });
    assert.equal((await connection.ended).code, "closed");
    assert.deepEqual(events, []);
  });
});

test("a worker that has answered is replaced, however many were before it", async () => {
  const { connection, events, sessions } = connect({ memory: () => 7 });
  for (let i = 0; i < 6; i++) {
    assert.equal(await connection.call("memory", {}), 7);
    sessions.at(-1).end("worker-crashed");
    await later();
  }
  assert.equal(sessions.length, 7);
  assert.equal(events.at(-1).status, "restarted");
});

test("where no worker stays, the connection ends, and says so", async () => {
  const { connection, events, sessions } = connect({ memory: () => 7 });
  for (let i = 0; i < 4; i++) {
    sessions.at(-1).end("worker-crashed");
    await later();
  }
  assert.equal(sessions.length, 4);
  assert.equal(events.at(-1).status, "failed");
  assert.equal((await connection.ended).code, "worker-crashed");
  await assert.rejects(connection.call("memory", {}), { code: "worker-crashed" });
});

test("the second lost GPU leaves the CPU", async () => {
  const { events, sessions } = connect({}, { device: "webgpu" });
  sessions[0].end("device-lost");
  await later();
  sessions[1].end("device-lost");
  await later();
  assert.deepEqual(events.map(({ status, toCpu }) => [status, toCpu]), [["restarting", false], ["restarted", false], ["restarting", true], ["restarted", true]]);
  assert.deepEqual(sessions[2].inherited.failed, { adapter: "adapter", message: "it was lost twice" });
});

test("a voice is opened again from its file, the base is not, and a closed voice stays closed", async () => {
  /** @type {any[]} */
  const spoken = [];
  const { connection, calls, sessions } = connect({
    say: ({ voice }) => (spoken.push(voice), { samples: new Float32Array(1), sampleRate: 1, mel: {}, durations: [], symbols: [], words: [] }),
    open: ({ bytes }) => ({ handle: bytes[0] }),
    release: () => {},
  });
  const info = /** @type {any} */ ({ id: "id" });
  const base = new Voice(connection, sessions[0], { handle: 100, info }, null);
  const voice = new Voice(connection, sessions[0], { handle: 2, info }, voiceFile(new Uint8Array([42])));
  const closed = new Voice(connection, sessions[0], { handle: 3, info }, voiceFile(new Uint8Array([43])));
  await closed.close();
  for (const one of [base, voice]) await one.say("one");
  sessions[0].end("worker-crashed");
  await later();
  for (const one of [base, voice, voice]) await one.say("two");
  await assert.rejects(closed.say("three"), { code: "closed" });
  assert.deepEqual(spoken, [100, 2, 101, 42, 42]);
  assert.equal(calls.filter((call) => call === "1 open").length, 1);
  assert.deepEqual([...new Uint8Array(await (await voice.save()).arrayBuffer())], [42], "its file needs no worker");
});

describe("a training whose worker ends", () => {
  const BYTES = new Uint8Array([1]);
  const VOICE = { handle: 5, info: /** @type {any} */ ({}), bytes: BYTES };
  /** A worker that ends at iteration 30 of a stored training. @type {Method} */
  const endsAt30 = (_, { onProgress }, session) => {
    onProgress({ status: "begun", run: "run" });
    onProgress({ status: "training", iteration: 30 });
    session.end("worker-crashed");
    return forever();
  };
  /** @type {import("../../web/js/connection.js").Training} */
  const clone = { method: "clone", args: { clips: [], pictures: true } };

  test("continues from its checkpoint, paused as it was", async () => {
    /** @type {any} */
    let resumed;
    const { connection, calls } = connect({
      clone: endsAt30,
      storedTraining: () => ({ checkpoint: { run: "run" }, voice: null, voiceRun: null }),
      resume: (args) => ((resumed = args), VOICE),
    });
    const controls = { paused: true, preview: "Hello." };
    const { handle, session } = await train(connection, clone, {}, controls);
    assert.deepEqual(calls, ["0 clone", "1 storedTraining", "1 resume"]);
    assert.deepEqual(resumed, { pictures: true, paused: true, preview: "Hello." });
    assert.equal(handle, 5);
    assert.ok(connection.isCurrent(session));
  });
  test("returns the voice where only its transfer was interrupted", async () => {
    const { connection, calls } = connect({
      clone: endsAt30,
      storedTraining: () => ({ checkpoint: null, voice: BYTES, voiceRun: "run" }),
      open: () => ({ handle: 6, info: {} }),
    });
    const { handle, bytes } = await train(connection, clone, {}, { paused: false, preview: null });
    assert.deepEqual([handle, bytes], [6, BYTES]);
    assert.deepEqual(calls, ["0 clone", "1 storedTraining", "1 open"]);
  });
  test("never continues another training", async () => {
    const { connection, calls } = connect({
      clone: (args, options, session) => (session.number ? VOICE : endsAt30(args, options, session)),
      storedTraining: () => ({ checkpoint: { run: "another" }, voice: BYTES, voiceRun: "another" }),
    });
    await train(connection, clone, {}, { paused: false, preview: null });
    assert.deepEqual(calls, ["0 clone", "1 storedTraining", "1 clone"]);
  });
  test("begins again where nothing was stored of it", async () => {
    const { connection, calls } = connect({ clone: (_, __, session) => (session.number ? VOICE : (session.end("device-lost"), forever())) });
    await train(connection, clone, {}, { paused: false, preview: null });
    assert.deepEqual(calls, ["0 clone", "1 clone"]);
  });
  test("is given up after three restarts without a further checkpoint", async () => {
    const { connection, calls } = connect({ clone: (_, { onProgress }, session) => (onProgress({ status: "training", iteration: 3 }), session.end("worker-crashed"), forever()) });
    await assert.rejects(train(connection, clone, {}, { paused: false, preview: null }), { code: "worker-crashed" });
    assert.deepEqual(calls, ["0 clone", "1 clone", "2 clone", "3 clone"]);
  });
  test("is discarded where it is cancelled before the next worker runs it", async () => {
    const abort = new AbortController();
    /** @type {any} */
    let start;
    const started = new Promise((resolve) => (start = resolve));
    const { connection, calls } = connect({ clone: endsAt30, discardTraining: ({ run }) => run }, { started });
    const voice = train(connection, clone, { signal: abort.signal }, { paused: false, preview: null });
    await later();
    abort.abort();
    await assert.rejects(voice, { code: "cancelled" });
    start();
    await later();
    assert.deepEqual(calls, ["0 clone", "1 discardTraining"]);
  });
  test("is not repeated where it failed", async () => {
    const { connection, calls } = connect({ clone: () => Promise.reject(new OwnvoiceError("clip-noisy", "noisy")) });
    await assert.rejects(train(connection, clone, {}, { paused: false, preview: null }), { code: "clip-noisy" });
    assert.deepEqual(calls, ["0 clone"]);
  });
});
