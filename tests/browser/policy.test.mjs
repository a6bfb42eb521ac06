// The policy: what the page never does is forbidden to it, on any host.

import assert from "node:assert/strict";
import { test } from "node:test";
import { heard, ready, speak, visit } from "./steps.mjs";

const MINUTE = 60_000;

test("the policy forbids what the page never does", async (t) => {
  const session = await visit({ device: "cpu", tiny: true });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  const blocked = await page.evaluate(async () => {
    // Page and server both send the policy, so each refusal raises two events: all within half a second count.
    const asked = async (/** @type {() => unknown} */ act) => {
      const told = new Set();
      const note = (/** @type {SecurityPolicyViolationEvent} */ event) => told.add(event.effectiveDirective);
      document.addEventListener("securitypolicyviolation", note);
      try {
        await act();
      } catch {
        // refused, as it should be; the event names the directive
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
      document.removeEventListener("securitypolicyviolation", note);
      return [...told].join(" ") || "allowed";
    };
    return [
      await asked(() => fetch("https://example.com/")),
      await asked(() => navigator.sendBeacon("https://example.com/", "x")),
      await asked(() => new Image().setAttribute("src", "https://example.com/x.png")),
      await asked(() => document.head.append(Object.assign(document.createElement("script"), { src: "https://example.com/x.js" }))),
      await asked(() => document.head.append(Object.assign(document.createElement("script"), { textContent: "1" }))),
    ];
  });
  assert.deepEqual(blocked, ["connect-src", "connect-src", "img-src", "script-src-elem", "script-src-elem"]);
  session.assertNothingLeft();
});

test("the policy holds in the worker, on a host that sends none", { timeout: 2 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", tiny: true, prepare: (session) => session.servePlainly() });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  const [worker] = page.workers();
  // What a worker could send with: an answer of any kind would be one too many.
  const answers = await worker.evaluate(async () => {
    const elsewhere = "https://example.com/";
    const outcome = (/** @type {Promise<unknown>} */ promise) => promise.then(() => "sent", () => "refused");
    const socket = new Promise((resolve, reject) => {
      try {
        const opened = new WebSocket("wss://example.com/");
        opened.onopen = resolve;
        opened.onerror = reject;
      } catch (error) {
        reject(error);
      }
    });
    const nested = new Promise((resolve, reject) => {
      const blob = URL.createObjectURL(new Blob(["fetch('https://example.com/nested').then(() => postMessage('sent'), () => postMessage('refused'))"], { type: "text/javascript" }));
      const helper = new Worker(blob);
      helper.onmessage = ({ data }) => (data === "sent" ? resolve(data) : reject(data));
      helper.onerror = reject;
    });
    return Promise.all([outcome(fetch(elsewhere)), outcome(import(`${elsewhere}x.js`)), outcome(socket), outcome(nested)]);
  });
  assert.deepEqual(answers, ["refused", "refused", "refused", "refused"]);
  assert.ok(heard(await speak(page, "base")).seconds > 0.5, "and it works there");
  session.assertNothingLeft();
});

test("a base voice of another host is refused before anything is asked of it", { timeout: MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", path: `?base=${encodeURIComponent("https://example.com/base/")}`, prepare: (session) => session.servePlainly() });
  t.after(() => session.close());
  const { page } = session;
  await page.waitForSelector("body[data-phase=failed]");
  assert.match((await page.textContent("#loading-error")) ?? "", /another host.*base-elsewhere/);
  session.assertNothingLeft();
});
