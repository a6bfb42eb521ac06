// The types that the package ships are made from its source, documented, and without internals. `npm run types` in web/ writes them anew.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../browser/harness.mjs";

const SHIPPED = join(ROOT, "web/js/types");
const files = readdirSync(SHIPPED).sort();
const text = (/** @type {string} */ file) => readFileSync(join(SHIPPED, file), "utf8");

test("web/js/types is made of web/js", () => {
  const made = mkdtempSync(join(tmpdir(), "ownvoice-types-"));
  execFileSync("node", [join(ROOT, "web/types.mjs"), made], { stdio: "inherit" });
  assert.deepEqual(files, readdirSync(made).sort());
  for (const file of files) assert.equal(text(file), readFileSync(join(made, file), "utf8"), file);
});

test("they hold the public interface and nothing else", () => {
  assert.deepEqual(files, ["device", "errors", "index", "microphone", "options", "reports", "speech-synthesis", "speech", "storage", "voice", "wav", "words"].map((name) => `${name}.d.ts`));
  for (const file of files) assert.doesNotMatch(text(file), /Remote|pkg\/|: any\b|@internal|@typedef/, file);
  const made = files.filter((file) => /\bconstructor\(/.test(text(file)));
  assert.deepEqual(made, ["errors.d.ts", "speech-synthesis.d.ts"], "embedders make errors, and what they make of the Web Speech API; no other objects");
});

test("each type has its documentation", () => {
  for (const file of files) {
    const undocumented = [...text(file).matchAll(/(.*)\nexport (?:declare )?(?:type|class|const|function) (\w+).*[{|]$/gm)].filter(([, before]) => !before.endsWith("*/"));
    assert.deepEqual(undocumented.map(([, , name]) => name), [], file);
  }
});

test("each type that the WebAssembly declares is compared with the shipped one", () => {
  const declared = [...readFileSync(join(ROOT, "web/pkg/ownvoice_web.d.ts"), "utf8").matchAll(/^export interface (\w+) /gm)].map(([, name]) => name);
  // Types that the worker converts, and parts of others.
  const internal = ["BaseParts", "InitOutput", "Part", "PrecisionFault", "PrecisionOptions", "StoredConsent"];
  const compared = readFileSync(join(ROOT, "tests/js/boundary.ts"), "utf8");
  assert.ok(declared.length > 15, declared.join(" "));
  assert.deepEqual(declared.filter((name) => !internal.includes(name) && !compared.includes(`wasm.${name}`)), []);
});

test("progress is narrowed by its status, errors by their code, and studios can be disposed of", () => {
  const folder = mkdtempSync(join(tmpdir(), "ownvoice-narrowed-"));
  const file = join(folder, "narrowed.ts");
  writeFileSync(
    file,
    `import type { CloneProgress, ErrorCode, LoadProgress, OwnvoiceError, Studio } from ${JSON.stringify(join(SHIPPED, "index.js"))};
export function trained(progress: CloneProgress): number | string {
  switch (progress.status) {
    case "aligning": case "finishing": return progress.status;
    case "training": return progress.stop === "held-out" ? progress.loss : progress.iteration;
    case "preview": return progress.speech.samples.length + progress.speech.toBlob().size;
    case "picture": return progress.picture.mels;
    case "not-stored": case "left-out": return progress.code;
    default: { const none: never = progress; return none; }
  }
}
export function loaded(progress: LoadProgress): number {
  if (progress.status === "starting") return 1;
  return progress.what === "base" ? progress.loadedBytes / progress.totalBytes : progress.loadedBytes;
}
export function isQuiet(error: OwnvoiceError): boolean {
  // @ts-expect-error No error has this code.
  if (error.code === "clip-silent") return false;
  const code: ErrorCode = error.code;
  return code === "clip-too-quiet";
}
export async function use(loading: Promise<Studio>): Promise<void> {
  await using studio = await loading;
  await using voice = await studio.open(new Blob());
  await using microphone = studio.microphone;
}
`,
  );
  const tsc = join(ROOT, "tests/node_modules/typescript/bin/tsc");
  const options = "--ignoreConfig --noEmit --strict --target es2023 --lib es2023,dom,dom.asynciterable --module esnext --moduleResolution bundler --types";
  execFileSync("node", [tsc, file, ...options.split(" "), ""], { stdio: "inherit" });
});
