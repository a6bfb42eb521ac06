// Lighthouse: accessibility and best practices of each page. That it can be installed is tested in app.test.mjs, since Lighthouse no longer looks at it.

import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import lighthouse from "lighthouse";
import { visit } from "./steps.mjs";

const MINUTE = 60_000;

/** @returns {Promise<number>} A port that nothing listens on. */
const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });

for (const path of ["", "lips.html", "nets.html"]) {
  test(`Lighthouse finds nothing to mend on ${path || "index.html"}`, { timeout: 3 * MINUTE }, async (t) => {
    const port = await freePort();
    const session = await visit({ device: "cpu", tiny: true, path: "icon.svg", flags: [`--remote-debugging-port=${port}`] });
    t.after(() => session.close());
    const found = await lighthouse(new URL(path, session.url).href, { port, onlyCategories: ["accessibility", "best-practices"], logLevel: "error", maxWaitForLoad: MINUTE });
    assert.ok(found);
    const { categories, audits } = found.lhr;
    for (const { title, score, auditRefs } of Object.values(categories)) {
      const failed = auditRefs.map(({ id }) => audits[id]).filter(({ score }) => score !== null && score < 1);
      assert.equal(score, 1, `${title}: ${failed.map(({ id, title, details }) => `${id}, ${title} ${JSON.stringify(details)}`).join("\n")}`);
    }
  });
}
