// Without the network: the second visit, newer versions, and files that are not what they should be. Here the browser has its service workers.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { heard, ready, speak, visit } from "./steps.mjs";

/** @import { Session } from "./harness.mjs" */

const MINUTE = 60_000;

/** @param {Session} session */
async function firstVisit(session) {
  await ready(session);
  await session.page.waitForSelector("#offline-words:not([hidden])", { timeout: MINUTE });
}

test("the second visit needs no network: it loads, and it speaks", { timeout: 5 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", serviceWorker: true });
  t.after(() => session.close());
  const { page } = session;
  await firstVisit(session);
  const fetched = session.requests.filter(({ url }) => url.endsWith("weights.safetensors")).length;
  assert.equal(fetched, 1, "the base voice is fetched once, and not again to be kept");

  session.setOffline(true);
  const mark = session.mark();
  await page.reload();
  await ready(session);
  await session.screenshot("offline");
  const { seconds, peak } = heard(await speak(page, "base"));
  assert.ok(seconds > 1 && peak > 0.05, `${seconds} s, peak ${peak}`);
  // The browser itself looks for a newer service worker at each visit; the page asks for nothing.
  const asked = session.requests.slice(mark).map(({ url }) => new URL(url).pathname);
  assert.deepEqual(asked.filter((path) => !["/sw.js", "/pkg/site-files.js"].includes(path)), []);
  session.assertNothingLeft();
});

test("a newer version comes whole, and when the visitor says so", { timeout: 5 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", serviceWorker: true });
  t.after(() => session.close());
  const { page } = session;
  await firstVisit(session);
  const title = () => page.textContent(".tagline");
  const before = await title();

  // The server changes the words, and so its list.
  const english = (/** @type {Buffer} */ body) => Buffer.from(body.toString().replace(before ?? "", "Another tagline."));
  session.change("strings/en.js", english);
  session.change("pkg/site-files.js", await listWith(session, { "strings/en.js": english }));
  await page.reload();
  await ready(session);
  assert.equal(await title(), before, "the old version, from first file to last");
  await page.waitForSelector("#newer:not([hidden])", { timeout: MINUTE });
  assert.equal(await title(), before);
  await session.screenshot("newer");
  await Promise.all([page.waitForEvent("load"), page.click("#update")]);
  await ready(session);
  assert.equal(await title(), "Another tagline.");
  assert.equal(await page.isHidden("#newer"), true);
});

test("a file that is not what the list says is not kept, nor is anything with it", { timeout: 5 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", serviceWorker: true });
  t.after(() => session.close());
  const { page } = session;
  await firstVisit(session);
  // The list is new, but one file of it is another: half of an update, or an attack.
  const newer = (/** @type {Buffer} */ body) => Buffer.concat([body, Buffer.from("// newer\n")]);
  session.change("pkg/site-files.js", await listWith(session, { "play.js": newer, "draw.js": newer }));
  session.change("draw.js", newer);
  session.change("play.js", (body) => Buffer.concat([body, Buffer.from("// tampered with\n")]));
  await page.reload();
  await ready(session);
  await page.evaluate(async () => {
    const registration = await navigator.serviceWorker.ready;
    // The update fails, as it should.
    await registration.update().catch(() => {});
    while (registration.installing) await new Promise((resolve) => setTimeout(resolve, 50));
  });
  assert.equal(await page.isHidden("#newer"), true, "no newer version is offered");
  session.setOffline(true);
  await page.reload();
  await ready(session);
});

/** The list as it is when files have changed. @param {Session} session @param {{ [path: string]: (body: Buffer) => Buffer }} changes */
async function listWith(session, changes) {
  const hashes = await Promise.all(
    Object.entries(changes).map(async ([path, change]) => {
      const body = Buffer.from(await (await fetch(new URL(path, session.url))).arrayBuffer());
      return /** @type {const} */ ([path, createHash("sha256").update(change(body)).digest("hex")]);
    }),
  );
  return (/** @type {Buffer} */ body) => Buffer.from(hashes.reduce((list, [path, hash]) => list.replace(new RegExp(`("${path}": )"[0-9a-f]{64}"`), `$1"${hash}"`), body.toString()));
}
