// Runs each example of the documentation as it is: the code blocks of the READMEs, and the examples of `load`, `Device`, `Voice` and `Speech` in the types that
// the package ships. The type checker checks them against the installed package, and they run in Chromium.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { ROOT, open } from "../browser/harness.mjs";
import { CLIPS, IMPORT_MAP, install, serve } from "./consumer.mjs";

const MINUTE = 60_000;

/** A folder in which the tarballs are installed. */
const installed = install();
const shipped = join(installed, "node_modules/ownvoice");

/** @typedef {{ name: string, code: string }} Example */

/** Returns the code blocks of a Markdown file. @param {string} file @returns {Example[]} */
function blocks(file) {
  const text = readFileSync(join(ROOT, file), "utf8");
  return [...text.matchAll(/```js\n([^]*?)```/g)].map(([, code], index) => ({ name: `${file}, block ${index + 1}`, code }));
}

/** Returns the examples in a file of types: from `@example` to the next tag or the end of the comment, without the stars. @param {string} file @returns {Example[]} */
function examples(file) {
  const text = readFileSync(join(shipped, "js/types", file), "utf8");
  return [...text.matchAll(/@example\n([^]*?)(?=\n\s*\*\s*@|\n\s*\*\/)/g)].map(([, lines], index) => ({
    name: `${file}, example ${index + 1}`,
    code: lines.replace(/^\s*\* ?/gm, ""),
  }));
}

const all = [...blocks("README.md"), ...blocks("web/README.md"), ...blocks("web/base/README.md"), ...["index.d.ts", "speech.d.ts", "voice.d.ts"].flatMap(examples)];

/** Returns an example as a module, with the imports and values that it presumes.
 * @param {Example} example */
function script({ code }) {
  const imports = /^import .* from "ownvoice"/m.test(code) ? "" : 'import { load } from "ownvoice";\n';
  const onStep = /\bonStep\b/.test(code) ? "const onStep = () => {};\n" : "";
  return `${imports}import { clips } from "./clips.js";\n${onStep}${code}\nexport {};\ndocument.documentElement.dataset.done = "yes";\n`;
}

test("there are examples of each", () => {
  const names = all.map(({ name }) => name.replace(/, .*/, ""));
  for (const file of ["README.md", "web/README.md", "web/base/README.md", "index.d.ts", "speech.d.ts", "voice.d.ts"]) assert.ok(names.includes(file), file);
  for (const call of ["load(", ".clone(", ".say(", ".stream(", ".save(", ".open(", ".device", ".toBlob("]) assert.ok(all.some(({ code }) => code.includes(call)), call);
});

test("the type checker finds nothing wrong with them", () => {
  const folder = join(installed, "checked");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "clips.js"), CLIPS);
  all.forEach((example, index) => writeFileSync(join(folder, `${index}.js`), script(example)));
  const compilerOptions = { allowJs: true, checkJs: true, noEmit: true, strict: true, target: "es2023", lib: ["es2023", "dom"], module: "esnext", moduleResolution: "bundler", types: [] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.js"] }));
  const said = (() => {
    try {
      execFileSync("node", [join(ROOT, "tests/node_modules/typescript/bin/tsc"), "--project", folder], { encoding: "utf8" });
      return "";
    } catch (error) {
      return /** @type {{ stdout: string }} */ (error).stdout;
    }
  })();
  assert.equal(said.replace(/^(\d+)\.js/gm, (_, index) => all[index].name), "");
});

describe("in Chromium", () => {
  const folder = join(installed, "examples");
  /** @type {Awaited<ReturnType<typeof serve>>} */
  let site;
  before(async () => {
    mkdirSync(folder, { recursive: true });
    for (const name of ["ownvoice", "ownvoice-base"]) cpSync(join(installed, "node_modules", name), join(folder, name), { recursive: true });
    // With the default, an example would train for all iterations.
    const engine = join(folder, "ownvoice/js/index.js");
    writeFileSync(engine, readFileSync(engine, "utf8").replace("async clone(clips, { iterations,", "async clone(clips, { iterations = 3,"));
    writeFileSync(join(folder, "clips.js"), CLIPS);
    all.forEach((example, index) => {
      writeFileSync(join(folder, `${index}.js`), script(example));
      writeFileSync(join(folder, `${index}.html`), `<!doctype html><html lang="en"><head><title>${index}</title><link rel="icon" href="data:,">${IMPORT_MAP}<script type="module" src="${index}.js"></script></head></html>`);
    });
    site = await serve(folder);
  });
  all.forEach(({ name }, index) => {
    test(name, { timeout: 2 * MINUTE }, async (t) => {
      const session = await open({ device: "cpu", url: site.url });
      t.after(() => session.close());
      await session.goto(`${index}.html`);
      const done = session.page.waitForSelector("html[data-done]", { state: "attached", timeout: MINUTE });
      await done.catch(() => assert.fail(`it does not run to its end: ${JSON.stringify(session.problems)}`));
      session.assertNothingLeft();
      session.assertQuiet();
    });
  });
  after(() => site.stop());
});
