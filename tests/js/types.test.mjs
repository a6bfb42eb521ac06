// The types that the package ships are those of its source. Written anew by `npm run types` in web/.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../browser/harness.mjs";

test("web/js/types is what the type checker makes of web/js", () => {
  const made = mkdtempSync(join(tmpdir(), "ownvoice-types-"));
  execFileSync("npm", ["run", "--silent", "types", "--", "--outDir", made], { cwd: join(ROOT, "web"), stdio: "inherit" });
  const shipped = join(ROOT, "web/js/types");
  const files = readdirSync(made).sort();
  assert.ok(files.includes("index.d.ts"));
  assert.deepEqual(readdirSync(shipped).sort(), files);
  for (const file of files) {
    const text = readFileSync(join(made, file), "utf8");
    assert.equal(readFileSync(join(shipped, file), "utf8"), text, file);
    assert.ok(!text.includes("pkg/"), `${file} stands without the generated code`);
  }
});
