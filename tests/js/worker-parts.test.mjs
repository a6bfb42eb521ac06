// Parts of the worker and the page that need no browser.

import assert from "node:assert/strict";
import { describe, mock, test } from "node:test";
import { chooseDevice } from "../../web/js/device.js";
import { BaseCache, verified } from "../../web/js/download.js";
import { anySignal } from "../../web/js/errors.js";
import { Helpers } from "../../web/js/helpers.js";
import { Remote } from "../../web/js/rpc.js";
import { coresFor } from "../../web/js/session.js";
import { Voices } from "../../web/js/voices.js";
import { play, startPlaying } from "../../www/shared/player.js";

/** Returns a voice as wasm-bindgen makes it: it cannot be freed while one of its methods is under way. */
function borrowable() {
  let borrowed = 0;
  const voice = {
    freed: false,
    info: () => ({ adapted: true }),
    free() {
      if (borrowed) throw new Error("attempted to take ownership of Rust value while it was borrowed");
      voice.freed = true;
    },
    /** @param {Promise<string>} until */
    async say(until) {
      if (voice.freed) throw new Error("null pointer passed to rust");
      borrowed += 1;
      try {
        return await until;
      } finally {
        borrowed -= 1;
      }
    },
  };
  return voice;
}

describe("a voice", () => {
  test("that is released while it speaks speaks to the end, and is freed then", async () => {
    const voices = new Voices();
    const voice = borrowable();
    const { handle } = voices.hold(/** @type {any} */ (voice), "id");
    let end = (/** @type {string} */ _) => {};
    const until = new Promise((/** @type {(words: string) => void} */ resolve) => (end = resolve));
    const said = [voices.using(handle, (/** @type {any} */ voice) => voice.say(until)), voices.using(handle, (/** @type {any} */ voice) => voice.say(until))];
    voices.release(handle);
    assert.equal(voice.freed, false);
    await assert.rejects(voices.using(handle, async () => "more"), { code: "closed" });
    voices.release(handle); // a second release changes nothing
    end("done");
    assert.deepEqual(await Promise.all(said), ["done", "done"]);
    assert.equal(voice.freed, true);
  });
  test("that is not in use is freed at once, and one whose speech failed as well", async () => {
    const voices = new Voices();
    const [idle, failing] = [borrowable(), borrowable()];
    voices.release(voices.hold(/** @type {any} */ (idle), "id").handle);
    assert.equal(idle.freed, true);
    const { handle } = voices.hold(/** @type {any} */ (failing), "id");
    await assert.rejects(voices.using(handle, (/** @type {any} */ voice) => voice.say(Promise.reject(new Error("cancelled")))), /cancelled/);
    assert.equal(failing.freed, false);
    voices.release(handle);
    assert.equal(failing.freed, true);
  });
});

test("signals are combined with and without AbortSignal.any", () => {
  const { any } = AbortSignal;
  for (const way of [any, undefined]) {
    AbortSignal.any = /** @type {any} */ (way);
    try {
      for (const which of [0, 1]) {
        const controllers = [new AbortController(), new AbortController()];
        const signal = anySignal(...controllers.map(({ signal }) => signal));
        assert.equal(signal.aborted, false);
        controllers[which].abort("a reason");
        assert.equal(signal.reason, "a reason");
      }
      assert.equal(anySignal(AbortSignal.abort("before"), new AbortController().signal).reason, "before");
    } finally {
      AbortSignal.any = any;
    }
  }
});

test("phones and tablets train on two cores, whatever they report", () => {
  const machine = { hardwareConcurrency: 8, deviceMemory: 8, maxTouchPoints: 0 };
  const desktop = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.3 Safari/605.1.15";
  assert.equal(coresFor(undefined, { ...machine, userAgent: desktop }), 4);
  assert.equal(coresFor(undefined, { ...machine, userAgent: desktop, maxTouchPoints: 5 }), 2, "an iPad");
  assert.equal(coresFor(undefined, { ...machine, userAgent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64)", maxTouchPoints: 10 }), 4, "a laptop with a touch screen");
  assert.equal(coresFor(undefined, { ...machine, userAgent: "Mozilla/5.0 (Linux; Android 14; Pixel 8) Mobile" }), 2);
  assert.equal(coresFor(undefined, { ...machine, deviceMemory: 2 }), 1);
  assert.equal(coresFor(16, machine), 4);
});

test("the sound is given back when nothing has played for a while, and taken again", (t) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  t.after(() => mock.timers.reset());
  /** @type {string[]} */
  const log = [];
  const globals = /** @type {any} */ (globalThis);
  globals.AudioContext = class {
    currentTime = 0;
    constructor() {
      log.push("open");
    }
    resume() {}
    close() {
      log.push("close");
    }
    createBuffer = () => ({ copyToChannel() {}, duration: 1 });
  };
  globals.AudioBufferSourceNode = class {
    connect() {}
    start() {}
    stop() {}
  };
  const sound = { samples: new Float32Array(100), sampleRate: 100 };
  play("one", sound);
  mock.timers.tick(60_000);
  assert.deepEqual(log, ["open"], "it plays");
  startPlaying("two").end();
  mock.timers.tick(5000);
  play("three", sound);
  mock.timers.tick(60_000);
  assert.deepEqual(log, ["open"], "it plays again before it was given back");
  startPlaying("four").end();
  mock.timers.tick(60_000);
  assert.deepEqual(log, ["open", "close"]);
  startPlaying("five").end();
  assert.deepEqual(log, ["open", "close", "open"]);
});

describe("what a browser refuses", () => {
  const refused = () => Promise.reject(new DOMException("refused", "InvalidStateError"));
  /** Replaces a global until the test has ended. @param {import("node:test").TestContext} t @param {string} name @param {unknown} value */
  const replace = (t, name, value) => {
    const before = Object.getOwnPropertyDescriptor(globalThis, name);
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    t.after(() => (before ? Object.defineProperty(globalThis, name, before) : Reflect.deleteProperty(globalThis, name)));
  };

  test("where the cache fails, the file is fetched", async (t) => {
    const cache = new BaseCache(/** @type {any} */ ({ match: refused, put: refused, keys: refused, delete: refused }), "http://localhost/base/manifest.json");
    replace(t, "fetch", async () => new Response("abc"));
    const sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    const bytes = await verified("http://localhost/base/weights", sha256, cache, new AbortController().signal, () => {});
    assert.equal(new TextDecoder().decode(bytes), "abc");
  });

  test("where the browser allows no more workers, one core trains", async (t) => {
    replace(t, "self", { location: { href: "http://localhost/worker.js" } });
    let ended = 0;
    for (const given of [0, 1]) {
      let made = 0;
      replace(t, "Worker", class {
        constructor() {
          if (made++ >= given) throw new DOMException("too many workers", "SecurityError");
        }
        postMessage() {}
        terminate() {
          ended++;
        }
      });
      assert.equal((await Helpers.start(3)).started, 0, `${given} were given`);
    }
    assert.equal(ended, 1, "those that were started are ended");
  });

  test("without an adapter the CPU is chosen, with the reason", async (t) => {
    replace(t, "navigator", { gpu: { requestAdapter: refused } });
    const { kind, code, reason } = await chooseDevice("auto");
    assert.deepEqual([kind, code], ["cpu", "no-adapter"]);
    assert.match(reason, /refused.*The CPU is used/);
    await assert.rejects(chooseDevice("webgpu"), { code: "no-adapter" });
  });

  /** Returns a worker to which some messages cannot be sent, and a list of those that were. @param {(message: any, turn: number) => boolean} fails */
  function unreachable(fails) {
    /** @type {any[]} */
    const sent = [];
    let turn = 0;
    const worker = /** @type {any} */ ({
      postMessage(/** @type {any} */ message) {
        if (fails(message, turn++)) throw new DOMException("out of memory", "DataCloneError");
        sent.push(message);
      },
      terminate() {},
    });
    return { remote: new Remote(worker), worker, sent };
  }

  test("a message is sent a second time, and then fails with a code", async () => {
    const once = unreachable((_, turn) => turn === 0);
    const answer = once.remote.call("say", {});
    once.worker.onmessage({ data: { id: once.sent[0].id, result: "said" } });
    assert.equal(await answer, "said");
    await assert.rejects(unreachable(() => true).remote.call("say", {}), { code: "message-failed" });
  });

  test("an adapter whose results cannot be read ends its worker", async () => {
    const { remote, worker, sent } = unreachable(() => false);
    const answer = remote.call("clone", {});
    worker.onmessage({ data: { id: sent[0].id, error: { code: "device-lost", message: "it cannot be read" } } });
    await assert.rejects(answer, { code: "device-lost" });
    assert.equal((await Promise.race([remote.ended, undefined]))?.code, "device-lost");
  });

  test("a cancellation or stop is sent again until it can be sent", async () => {
    for (const signal of /** @type {const} */ (["cancel", "stop"])) {
      const { remote, worker, sent } = unreachable((message, turn) => message.signal && turn < 6);
      const ending = new AbortController();
      const answer = remote.call("clone", {}, { [signal === "cancel" ? "signal" : "stopSignal"]: ending.signal }).catch(({ code }) => code);
      ending.abort();
      while (sent.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
      assert.deepEqual(sent[1], { id: sent[0].id, signal });
      worker.onmessage({ data: { id: sent[0].id, result: "a voice" } });
      assert.equal(await answer, signal === "cancel" ? "cancelled" : "a voice");
    }
  });
});
