// Offline use: the second visit, newer versions, and files with a wrong hash. In these tests the browser has service workers.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { chooseFiles, download, heard, inOrder, learned, openSteps, ready, record, run, speak, visit } from "./steps.mjs";

/** @import { Session } from "./harness.mjs" */

const MINUTE = 60_000;

/** @param {Session} session */
async function firstVisit(session) {
  await ready(session);
  await session.page.waitForSelector("#offline-words:not([hidden])", { timeout: MINUTE });
}

test("the second visit needs no network: it records, learns, speaks and saves", { timeout: 8 * MINUTE }, async (t) => {
  const { path: microphone, parts } = inOrder(1);
  const session = await visit({ device: "cpu", serviceWorker: true, microphone });
  t.after(() => session.close());
  const { page } = session;
  await firstVisit(session);
  const fetched = session.requests.filter(({ url }) => url.endsWith("weights.safetensors")).length;
  assert.equal(fetched, 1, "the base voice is fetched once, and not again for the cache");

  session.setOffline(true);
  const mark = session.mark();
  await page.reload();
  await firstVisit(session);
  await record(page, parts);
  await session.screenshot("offline");
  await page.click("#train-start");
  await page.waitForFunction(() => /^Iteration \d/.test(document.querySelector("#train-iteration")?.textContent ?? ""), null, { timeout: 2 * MINUTE });
  await page.click("#train-stop");
  await learned(page, 2 * MINUTE);
  for (const which of /** @type {const} */ (["base", "mine"])) {
    const { seconds, peak } = heard(await speak(page, which));
    assert.ok(seconds > 1 && peak > 0.05, `${which}: ${seconds} s, peak ${peak}`);
  }
  assert.ok((await download(page, "#save")).length > 1e6);
  // At each visit the browser looks for a newer service worker some time after the load: it requests these two files and nothing else.
  const asked = session.requests.slice(mark).map(({ url }) => new URL(url).pathname);
  assert.deepEqual(asked.filter((path) => !["/sw.js", "/pkg/site-files.js"].includes(path)), [], "no request through recording, learning, speaking and saving");
  session.assertNothingLeft();
});

test("a file that was changed in the cache is fetched again", { timeout: 5 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", serviceWorker: true });
  t.after(() => session.close());
  const { page } = session;
  await firstVisit(session);
  /** Changes the cached file of a hash. @param {string} cache @param {string} hash */
  const tamper = (cache, hash) =>
    page.evaluate(
      async ({ cache, hash }) => {
        const kept = await caches.open(cache);
        const key = (await kept.keys()).find(({ url }) => url.endsWith(hash));
        if (!key) throw new Error(`${hash} is not kept`);
        const body = new Uint8Array(await (await kept.match(key))?.arrayBuffer() ?? []);
        body[body.length >> 1] ^= 1;
        await kept.put(key, new Response(body, { headers: { "content-type": "text/javascript" } }));
      },
      { cache, hash },
    );
  const list = await (await fetch(new URL("pkg/site-files.js", session.url))).text();
  const manifest = JSON.parse(await (await fetch(new URL("models/base/manifest.json", session.url))).text());
  await tamper("ownvoice-site", list.match(/"shared\/player.js": "([0-9a-f]{32})"/)?.[1] ?? "none");
  await tamper("ownvoice-base", manifest.files.weights.sha256);
  const mark = session.mark();
  await page.reload();
  await ready(session);
  const asked = session.requests.slice(mark).map(({ url }) => new URL(url).pathname).filter((path) => !/sw\.js|site-files/.test(path));
  assert.deepEqual(asked.sort(), [`/models/base/${manifest.files.weights.path}`, "/shared/player.js"].sort(), "these two and nothing else");
  session.setOffline(true);
  await page.reload();
  await ready(session);
  assert.ok(heard(await speak(page, "base")).seconds > 1, "and the fetched files are cached");
  session.assertQuiet();
});

/** The English strings, minified or not, with another tagline. @param {Buffer} body */
const retitled = (body) => Buffer.from(body.toString().replace(/(?<=tagline"?: ?)"[^"]*"|(?<=tagline: ?)`[^`]*`/, '"Another tagline."'));

test("a newer version is used as a whole, and when the visitor wants it", { timeout: 5 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", serviceWorker: true });
  t.after(() => session.close());
  const { page } = session;
  await firstVisit(session);
  const title = () => page.textContent(".tagline");
  const before = await title();

  // The server changes the strings, and with them its list.
  session.change("strings/en.js", retitled);
  session.change("pkg/site-files.js", await listWith(session, { "strings/en.js": retitled }));
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

test("a version with a file of a wrong hash is not installed", { timeout: 5 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", serviceWorker: true });
  t.after(() => session.close());
  const { page } = session;
  await firstVisit(session);
  // The list is new, but one of its files is wrong: an incomplete update, or an attack.
  const newer = (/** @type {Buffer} */ body) => Buffer.concat([body, Buffer.from("// newer\n")]);
  session.change("pkg/site-files.js", await listWith(session, { "shared/player.js": newer, "draw.js": newer }));
  session.change("draw.js", newer);
  session.change("shared/player.js", (body) => Buffer.concat([body, Buffer.from("// tampered with\n")]));
  await page.reload();
  await ready(session);
  await page.evaluate(async () => {
    const registration = await navigator.serviceWorker.ready;
    // The update fails as expected.
    await registration.update().catch(() => {});
    while (registration.installing) await new Promise((resolve) => setTimeout(resolve, 50));
  });
  assert.equal(await page.isHidden("#newer"), true, "no newer version is offered");
  session.setOffline(true);
  await page.reload();
  await ready(session);
});

test("the program is cached too where a host declares its gzip as Content-Encoding, so that the browser unpacks it", { timeout: 3 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", serviceWorker: true, prepare: (session) => session.declare("pkg/ownvoice_web_bg.wasm.gz", "gzip") });
  t.after(() => session.close());
  await firstVisit(session);
  assert.match((await session.page.textContent("#offline-words")) ?? "", /works without the internet/);
  const [first, encoding] = await run(
    session,
    `const answer = await fetch("pkg/ownvoice_web_bg.wasm.gz", { cache: "reload" });
    return [new Uint8Array(await answer.arrayBuffer())[0], answer.headers.get("content-encoding")]`,
  );
  assert.deepEqual([first, encoding], [0, "gzip"], "the browser has unpacked it");
  session.setOffline(true);
  await session.page.reload();
  await ready(session);
  assert.ok(heard(await speak(session.page, "base")).seconds > 1);
  session.assertQuiet();
});

/** A prefix of the service worker whose cache fails on demand: when it is opened, read or written. */
const BREAKABLE = `{
  let broken = "";
  self.addEventListener("message", ({ data }) => data.breaks !== undefined && ({ breaks: broken } = data));
  for (const [type, method] of [[CacheStorage, "open"], [Cache, "match"], [Cache, "put"]]) {
    const original = type.prototype[method];
    type.prototype[method] = async function (...args) {
      if (broken === method) throw new DOMException("it is broken", "InvalidStateError");
      return original.apply(this, args);
    };
  }
}
`;

test("the page comes from the network where the cache of the service worker fails", { timeout: 5 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", serviceWorker: true, prepare: (session) => session.change("sw.js", (body) => Buffer.concat([Buffer.from(BREAKABLE), body])) });
  t.after(() => session.close());
  const { page } = session;
  await firstVisit(session);
  for (const method of ["open", "match", "put"]) {
    await page.evaluate(async (method) => {
      // All files have to be fetched and cached again.
      const cache = await caches.open("ownvoice-site");
      for (const key of await cache.keys()) await cache.delete(key);
      (await navigator.serviceWorker.ready).active?.postMessage({ breaks: method });
    }, method);
    const mark = session.mark();
    await page.reload();
    await ready(session);
    assert.ok(session.requests.slice(mark).some(({ url }) => !/sw\.js|site-files/.test(url)), `${method}: something was fetched`);
    assert.ok(heard(await speak(page, "base")).seconds > 1, method);
  }
  session.assertQuiet();
});

test("a page that cannot be cached reports it", { timeout: 2 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", serviceWorker: true, prepare: (session) => session.change("pkg/site-files.js", (body) => Buffer.from(body.toString().replace(/"shared\/player.js": "[0-9a-f]{2}/, '"shared/player.js": "zz'))) });
  t.after(() => session.close());
  await firstVisit(session);
  assert.match((await session.page.textContent("#offline-words")) ?? "", /could not be saved/);
});

test("a newer version takes over in every tab, but in a busy one when the visitor wants it", { timeout: 5 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", serviceWorker: true });
  t.after(() => session.close());
  await firstVisit(session);
  const { page } = session;
  const before = await page.textContent(".tagline");
  const [idle, busy] = [await session.context.newPage(), await session.context.newPage()];
  for (const tab of [page, idle, busy]) {
    await tab.goto(session.url);
    await ready({ page: tab });
  }
  openSteps(busy);
  await chooseFiles(busy, 1);
  session.change("strings/en.js", retitled);
  session.change("pkg/site-files.js", await listWith(session, { "strings/en.js": retitled }));
  await page.reload();
  await ready(session);
  await page.waitForSelector("#newer:not([hidden])", { timeout: MINUTE });
  await page.click("#update");
  const another = (/** @type {import("playwright-core").Page} */ tab) => tab.waitForFunction(() => document.querySelector(".tagline")?.textContent === "Another tagline.", null, { timeout: MINUTE });
  await Promise.all([another(page), another(idle)]);
  await busy.waitForSelector("#newer:not([hidden])");
  assert.equal(await busy.locator("#file-list li").count(), 1, "the files of the busy tab stay");
  assert.equal(await busy.textContent(".tagline"), before);
  await busy.click("#update");
  await another(busy);
});

/** Removes files from the cache of the service worker, as a browser does that needs space. @param {Session} session @param {string[]} paths */
async function evict(session, paths) {
  const list = await (await fetch(new URL("pkg/site-files.js", session.url))).text();
  const hashes = paths.map((path) => list.match(new RegExp(`"${path}": "([0-9a-f]{32})"`))?.[1] ?? "none");
  const removed = await session.page.evaluate(async (hashes) => {
    const cache = await caches.open("ownvoice-site");
    return Promise.all(hashes.map((hash) => cache.delete(new URL(`sha256/${hash}`, location.href).href)));
  }, hashes);
  assert.deepEqual(removed, paths.map(() => true));
}

test("where a file is missing and there is no network, the page says so, and works again later", { timeout: 4 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", serviceWorker: true });
  t.after(() => session.close());
  const { page } = session;
  await firstVisit(session);
  for (const path of ["shared/player.js", "index.html"]) {
    await evict(session, [path]);
    session.setOffline(true);
    for (let visits = 0; visits < 2; visits++) {
      await page.goto(session.url);
      assert.match((await page.textContent("body")) ?? "", /A part of this page is missing.*still here.*Connect to the internet/s, `without ${path}`);
    }
    await session.screenshot("part-missing");
    session.setOffline(false);
    await Promise.all([page.waitForEvent("load"), page.click("a")]);
    await ready(session);
    session.setOffline(true);
    await page.goto(session.url);
    await ready(session);
    session.setOffline(false);
  }
  assert.equal(await page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length), 1, "the service worker stays");
});

test("a file that only some visits need is fetched again, and until then the page does not claim to work without the internet", { timeout: 4 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", serviceWorker: true });
  t.after(() => session.close());
  const { page } = session;
  await firstVisit(session);
  await evict(session, ["pkg/third-party.txt"]);
  session.setOffline(true);
  await page.goto(session.url);
  await firstVisit(session);
  assert.match((await page.textContent("#offline-words")) ?? "", /could not be saved/);
  session.setOffline(false);
  await page.goto(session.url);
  await firstVisit(session);
  assert.match((await page.textContent("#offline-words")) ?? "", /works without the internet/);
  session.setOffline(true);
  await page.goto(session.url);
  await firstVisit(session);
  assert.match((await page.textContent("#offline-words")) ?? "", /works without the internet/);
});

test("a missing file of which the server has another version by now: the next visit has the other version", { timeout: 4 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", serviceWorker: true });
  t.after(() => session.close());
  const { page } = session;
  await firstVisit(session);
  await evict(session, ["strings/en.js"]);
  session.change("strings/en.js", retitled);
  session.change("pkg/site-files.js", await listWith(session, { "strings/en.js": retitled }));
  await page.goto(session.url);
  await ready(session);
  assert.match((await page.textContent(".tagline")) ?? "", /^Another tagline/);
});

test("what other sites of the same origin have cached stays, also when everything is deleted", { timeout: 4 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", serviceWorker: true });
  t.after(() => session.close());
  const { page } = session;
  await firstVisit(session);
  const others = await page.evaluate(async () => {
    const copy = new URL("copy/", location.href).href;
    const entries = [["ownvoice-site", `${copy}sha256/0123`], ["ownvoice-base", `${copy}models/base/sha256/4567`], ["ownvoice-reader", `${copy}book`]];
    for (const [name, url] of entries) await (await caches.open(name)).put(url, new Response("of another site"));
    return entries;
  });
  const left = () =>
    page.evaluate(async () => {
      const found = [];
      for (const name of await caches.keys()) for (const { url } of await (await caches.open(name)).keys()) found.push([name, url]);
      return found.filter(([, url]) => url.includes("/copy/"));
    });

  // Another version of this site replaces its own files only.
  const newer = (/** @type {Buffer} */ body) => Buffer.concat([body, Buffer.from("// newer\n")]);
  session.change("draw.js", newer);
  session.change("pkg/site-files.js", await listWith(session, { "draw.js": newer }));
  await page.reload();
  await ready(session);
  await page.waitForSelector("#newer:not([hidden])", { timeout: MINUTE });
  await Promise.all([page.waitForEvent("load"), page.click("#update")]);
  await firstVisit(session);
  assert.deepEqual((await left()).sort(), others.sort());

  page.once("dialog", (dialog) => dialog.accept());
  await page.click("#delete-all");
  await page.waitForFunction(() => document.querySelector("#deletion-words")?.textContent === "Everything has been deleted.", null, { timeout: MINUTE });
  assert.deepEqual((await left()).sort(), others.sort());
  const own = await page.evaluate(async () => (await (await caches.open("ownvoice-site")).keys()).length + (await (await caches.open("ownvoice-base")).keys()).length);
  assert.equal(own, 2, "of this site nothing is left");
});

/** Returns a function that updates the list of files for changed ones. @param {Session} session @param {{ [path: string]: (body: Buffer) => Buffer }} changes */
async function listWith(session, changes) {
  const hashes = await Promise.all(
    Object.entries(changes).map(async ([path, change]) => {
      const body = Buffer.from(await (await fetch(new URL(path, session.url))).arrayBuffer());
      return /** @type {const} */ ([path, createHash("sha256").update(change(body)).digest("hex").slice(0, 32)]);
    }),
  );
  return (/** @type {Buffer} */ body) => Buffer.from(hashes.reduce((list, [path, hash]) => list.replace(new RegExp(`("${path}": )"[0-9a-f]{32}"`), `$1"${hash}"`), body.toString()));
}
