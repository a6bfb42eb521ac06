// Checks the current page with axe: WCAG 2.2, A and AA, and best practices.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./harness.mjs";

/** @import { Session } from "./harness.mjs" */

const AXE = readFileSync(join(ROOT, "tests/node_modules/axe-core/axe.min.js"), "utf8");

/** Asserts that axe finds nothing, in light and dark. The rule that is new in WCAG 2.2, target size, has to be enabled in axe. @param {Session} session @param {string} stage */
export async function clean({ page }, stage) {
  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    await page.emulateMedia({ colorScheme });
    const { found, looked } = await page.evaluate(`(async () => {
      if (!globalThis.axe) { ${AXE} }
      const { violations, passes } = await axe.run(document, { rules: { "target-size": { enabled: true } } });
      return {
        found: violations.map(({ id, nodes }) => id + ": " + nodes.map(({ target, failureSummary }) => target.join(" ") + " " + failureSummary).join("; ")),
        looked: [...passes, ...violations].map(({ id }) => id),
      };
    })()`);
    assert.deepEqual(found, [], `${stage}, ${colorScheme}`);
    for (const rule of ["color-contrast", "target-size", "button-name"]) assert.ok(looked.includes(rule), `${stage}: ${rule} was looked at`);
  }
  await page.emulateMedia({ colorScheme: "light" });
}
