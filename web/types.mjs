// Writes the types that the package ships: `node types.mjs FOLDER`. The type checker derives them from the JSDoc of the public scripts, without parts marked
// `@internal`, and only files that the public interface refers to are kept. The checker drops the descriptions of typedefs, which are added again here.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

const web = import.meta.dirname;
const out = process.argv[2] ?? join(web, "js/types");
const made = mkdtempSync(join(tmpdir(), "ownvoice-declarations-"));
const tsc = join(web, "../tests/node_modules/typescript/bin/tsc");
/** The scripts whose types are public, and then those that they refer to. */
const wanted = ["index", "speech-synthesis"];
const options = "--ignoreConfig --allowJs --declaration --emitDeclarationOnly --stripInternal --strict --target es2023 --module esnext --moduleResolution bundler";
execFileSync("node", [tsc, ...wanted.map((name) => join(web, `js/${name}.js`)), ...options.split(" "), "--lib", "es2023,dom,dom.iterable,esnext.disposable", "--types", "", "--outDir", made], { stdio: "inherit" });

/** Returns the descriptions of the typedefs of a script, by name. @param {string} source @returns {Map<string, string>} */
function descriptions(source) {
  const found = new Map();
  for (const [, comment] of source.matchAll(/\/\*\*([^]*?)\*\//g)) {
    const [, words, definition] = comment.match(/^([^@]*)@typedef ([^]*)$/) ?? [];
    const name = definition?.match(/^\{object\} (\w+)/)?.[1] ?? definition?.match(/\} (\w+)\s*$/)?.[1];
    const lines = (words ?? "").split("\n").map((line) => line.replace(/^\s*\* ?/, "").trim()).filter(Boolean);
    if (name && lines.length) found.set(name, lines.join("\n * "));
  }
  return found;
}

/** Returns the declarations of a script. @param {string} name */
function declaration(name) {
  const about = descriptions(readFileSync(join(web, "js", `${name}.js`), "utf8"));
  const text = readFileSync(join(made, `${name}.d.ts`), "utf8");
  // The default libraries of TypeScript lack this symbol.
  const reference = text.includes("[Symbol.asyncDispose]") ? '/// <reference lib="esnext.disposable" />\n' : "";
  return reference + text
    .replace(/^\/\*\*(?:(?!\*\/)[^])*@(?:typedef|import)\b[^]*?\*\/\n/gm, "") // already declared
    .replace(/^ *\/\*\* @type .*\*\/\n|\n *\*\n *\* @type .*$| @type \{.*\}(?= \*\/)/gm, "") // declared below each
    .replace(/^export type (\w+) /gm, (line, type) => (about.has(type) ? `/**\n * ${about.get(type)}\n */\n${line}` : line));
}

/** @type {Map<string, string>} */
const files = new Map();
for (const name of wanted) {
  if (files.has(name)) continue;
  const text = declaration(name);
  files.set(name, text);
  wanted.push(...[...text.matchAll(/"\.\/([\w-]+)\.js"/g)].map(([, other]) => other));
}
rmSync(made, { recursive: true });
mkdirSync(out, { recursive: true });
for (const old of readdirSync(out)) if (!files.has(basename(old, ".d.ts"))) rmSync(join(out, old));
for (const [name, text] of files) writeFileSync(join(out, `${name}.d.ts`), text);
