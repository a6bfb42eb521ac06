// Lighthouse: accessibility and best practices of each page. That it can be installed is tested in app.test.mjs, since Lighthouse no longer looks at it.

import assert from "node:assert/strict";
import { test } from "node:test";
import lighthouse from "lighthouse";
import { freePort } from "./harness.mjs";
import { visit } from "./steps.mjs";

const MINUTE = 60_000;

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
