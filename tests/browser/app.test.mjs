// The page as an app: it can be installed, opens at the text without the internet, and speaks what another app shares.

import assert from "node:assert/strict";
import { test } from "node:test";
import { PHONE, ready, visit } from "./steps.mjs";

const MINUTE = 60_000;

test("the page can be installed, and its icons are what the manifest says", { timeout: 3 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", serviceWorker: true });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  const devtools = await session.context.newCDPSession(page);
  const { errors, data } = await devtools.send("Page.getAppManifest");
  assert.deepEqual(errors, []);
  const { installabilityErrors } = await devtools.send("Page.getInstallabilityErrors");
  assert.deepEqual(installabilityErrors.filter(({ errorId }) => errorId !== "in-incognito"), []);
  for (const { src, sizes } of JSON.parse(data ?? "{}").icons) {
    const size = await page.evaluate(async (src) => {
      const image = await createImageBitmap(await (await fetch(src)).blob());
      return `${image.width}x${image.height}`;
    }, src);
    assert.equal(size, sizes, src);
  }
  session.assertQuiet();
});

test("as an app it opens at the text without the internet, and speaks what is shared", { timeout: 4 * MINUTE }, async (t) => {
  const session = await visit({ device: "cpu", serviceWorker: true, viewport: PHONE });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await page.waitForSelector("#offline-words:not([hidden])", { timeout: MINUTE });
  session.setOffline(true);
  await page.goto("about:blank");
  await page.goto(new URL("./#speak", session.url).href);
  await ready(session);
  assert.equal(await page.evaluate(() => document.activeElement?.id), "text");
  assert.ok(await page.evaluate(() => { const box = document.querySelector("#text")?.getBoundingClientRect(); return box && box.top >= 0 && box.bottom <= innerHeight; }), "the text is on the screen");

  // As the system shares a text. `form-action` forbids forms of the page, so that it comes from a page without a policy.
  const mark = session.mark();
  const shared = "The kettle is on & ready, isn't it?";
  await page.goto("about:blank");
  await Promise.all([
    page.waitForURL((url) => url.href.startsWith(session.url)),
    page.setContent(`<form method="post" enctype="multipart/form-data" action="${session.url}share"><input name="title" value="A title"><input name="text"></form>`).then(async () => {
      await page.fill("[name=text]", shared);
      await page.evaluate(() => document.querySelector("form")?.submit());
    }),
  ]);
  await ready(session);
  assert.equal(await page.inputValue("#text"), shared);
  await page.waitForSelector("#base[data-first-audio-ms]", { timeout: MINUTE });
  assert.equal(page.url(), session.url, "the address does not keep the text");
  const asked = session.requests.slice(mark).map(({ method, url }) => `${method} ${url}`);
  assert.deepEqual(asked.filter((request) => /share|kettle|POST/.test(request)), [], "no server sees the text");
});
