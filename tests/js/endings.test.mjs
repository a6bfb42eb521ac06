// How calls and objects end: with the reason of their signal, and by `await using`.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { anySignal, unlessAborted } from "../../web/js/errors.js";
import { Microphone, load } from "../../web/js/index.js";
import { fakePage } from "./fake-worker.mjs";

const base = "/models/base/";

describe("an aborted call rejects with", () => {
  const TIMEOUT = new DOMException("too late", "TimeoutError");
  /** What `abort` is given, and what the call rejects with. @type {[string, unknown[], (error: any) => boolean][]} */
  const cases = [
    ["cancelled, an AbortError, by default", [], (error) => error?.code === "cancelled" && error.name === "AbortError"],
    ["the caller's error", [TIMEOUT], (error) => error === TIMEOUT],
    ["null, where that is the reason", [null], (error) => error === null],
  ];
  for (const [name, reason, isExpected] of cases) {
    test(name, async (t) => {
      const workers = fakePage(t);
      /** @param {string} call @param {Promise<unknown>} answer */
      const check = async (call, answer) => {
        const error = await answer.then(() => "no error", (error) => error);
        assert.ok(isExpected(error), `${call}: ${error}`);
      };

      const before = new AbortController();
      before.abort(...reason);
      await check("load, before", load({ base, signal: before.signal }));
      assert.equal(workers.length, 0, "no worker is started");

      const studio = await load({ base });
      const [worker] = workers;
      await check("say, before", studio.base.say("Text.", { signal: before.signal }));
      await check("save, before", studio.base.save({ signal: before.signal }));
      await check("stream, before", studio.base.stream("Text.", { signal: before.signal }).next());

      const during = new AbortController();
      const said = studio.base.say("Text.", { signal: during.signal });
      while (worker.sent.at(-1)?.method !== "say") await new Promise(setImmediate);
      during.abort(...reason);
      worker.answer({ error: { code: "cancelled", message: "cancelled" } });
      await check("say, during", said);

      const waiting = new AbortController();
      const waited = unlessAborted(new Promise(() => {}), anySignal(waiting.signal, new AbortController().signal));
      waiting.abort(...reason);
      await check("a wait", waited);
      studio.close();
    });
  }
});

test("a call that fails for another reason keeps its error", async (t) => {
  const workers = fakePage(t);
  const studio = await load({ base });
  const end = new AbortController();
  const said = studio.base.say("", { signal: end.signal });
  while (workers[0].sent.at(-1)?.method !== "say") await new Promise(setImmediate);
  end.abort(new Error("late"));
  workers[0].answer({ error: { code: "text-empty", message: "the text is blank" } });
  await assert.rejects(said, { code: "text-empty", name: "OwnvoiceError" });
  studio.close();
});

test("studios, voices and the microphone end by Symbol.asyncDispose", async (t) => {
  const [workers, closed] = [fakePage(t), /** @type {string[]} */ ([])];
  const studio = await load({ base });
  const released = studio.base[Symbol.asyncDispose]();
  while (workers[0].sent.at(-1)?.method !== "release") await new Promise(setImmediate);
  workers[0].answer({});
  await released;
  await studio[Symbol.asyncDispose]();
  assert.ok(workers[0].isTerminated);
  assert.equal((await studio.ended).code, "closed");
  const microphone = new Microphone(/** @type {any} */ ({ close: () => closed.push("microphone") }));
  await microphone[Symbol.asyncDispose]();
  assert.deepEqual(closed, ["microphone"]);
});
