// The Content-Security-Policy forbids what the pages never do, on any host.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "./harness.mjs";
import { heard, ready, speak, visit } from "./steps.mjs";

const MINUTE = 60_000;

test("all pages have the same policy", () => {
  const [voice, ...others] = ["index.html", "lips.html", "nets.html"].map((page) => readFileSync(join(ROOT, "www", page), "utf8").match(/http-equiv="Content-Security-Policy" content="([^"]+)"/)?.[1]);
  assert.ok(voice?.startsWith("default-src 'none'"), voice);
  assert.deepEqual(others, [voice, voice]);
});

test("the policy forbids what the page never does", async (t) => {
  const session = await visit({ device: "cpu", tiny: true });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  const blocked = await page.evaluate(async () => {
    // Page and server both state the policy, so each refusal raises two events: those of the next half second are collected.
    const refusals = async (/** @type {() => unknown} */ act) => {
      const directives = new Set();
      const listener = (/** @type {SecurityPolicyViolationEvent} */ event) => directives.add(event.effectiveDirective);
      document.addEventListener("securitypolicyviolation", listener);
      try {
        await act();
      } catch {
        // refused as expected; the event names the directive
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
      document.removeEventListener("securitypolicyviolation", listener);
      return [...directives].join(" ") || "allowed";
    };
    return [
      await refusals(() => fetch("https://example.com/")),
      await refusals(() => navigator.sendBeacon("https://example.com/", "x")),
      await refusals(() => new Image().setAttribute("src", "https://example.com/x.png")),
      await refusals(() => document.head.append(Object.assign(document.createElement("script"), { src: "https://example.com/x.js" }))),
      await refusals(() => document.head.append(Object.assign(document.createElement("script"), { textContent: "1" }))),
    ];
  });
  assert.deepEqual(blocked, ["connect-src", "connect-src", "img-src", "script-src-elem", "script-src-elem"]);
  session.assertNothingLeft();
});

/** Another host, which answers whatever it is asked and counts what reached it. @param {import("node:test").TestContext} t */
async function listener(t) {
  /** @type {string[]} */
  const reached = [];
  const server = createServer((asked, answer) => {
    reached.push(asked.url ?? "");
    answer.writeHead(200, { "access-control-allow-origin": "*", "content-type": "text/javascript" }).end("1");
  });
  server.on("upgrade", (asked, socket) => {
    reached.push(asked.url ?? "");
    socket.destroy();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  t.after(() => server.close());
  const address = server.address();
  assert.ok(address && typeof address === "object");
  return { host: `127.0.0.1:${address.port}`, reached };
}

for (const path of ["", "lips.html", "nets.html"]) {
  test(`the policy holds in the worker of ${path || "index.html"}, on a host that sends none`, { timeout: 2 * MINUTE }, async (t) => {
    const { host, reached } = await listener(t);
    const session = await visit({ device: "cpu", tiny: true, path, prepare: (session) => session.servePlainly() });
    t.after(() => session.close());
    const { page } = session;
    await ready(session);
    const [worker] = page.workers();
    // All means by which a worker could send data: none of them may get a response.
    const answers = await worker.evaluate(async (host) => {
      const outcome = (/** @type {Promise<unknown>} */ promise) => promise.then(() => "sent", () => "refused");
      const socket = new Promise((resolve, reject) => {
        try {
          const opened = new WebSocket(`ws://${host}/socket`);
          opened.onopen = resolve;
          opened.onerror = reject;
        } catch (error) {
          reject(error);
        }
      });
      const nested = new Promise((resolve, reject) => {
        const blob = URL.createObjectURL(new Blob([`fetch("http://${host}/nested").then(() => postMessage("sent"), () => postMessage("refused"))`], { type: "text/javascript" }));
        const helper = new Worker(blob);
        helper.onmessage = ({ data }) => (data === "sent" ? resolve(data) : reject(data));
        helper.onerror = reject;
      });
      return Promise.all([outcome(fetch(`http://${host}/fetch`)), outcome(import(`http://${host}/x.js`)), outcome(socket), outcome(nested)]);
    }, host);
    assert.deepEqual(answers, ["refused", "refused", "refused", "refused"]);
    assert.deepEqual(reached, []);
    if (!path) assert.ok(heard(await speak(page, "base")).seconds > 0.5, "the page works there");
    session.assertNothingLeft();
  });
}

test("a base voice of another host is refused without a request to that host", { timeout: MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", path: `?base=${encodeURIComponent("https://example.com/base/")}`, prepare: (session) => session.servePlainly() });
  t.after(() => session.close());
  const { page } = session;
  await page.waitForSelector("body[data-phase=failed]");
  assert.match((await page.textContent("#loading-error")) ?? "", /another host.*base-elsewhere/);
  session.assertNothingLeft();
});
