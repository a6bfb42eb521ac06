// Shortens the names of a module's imports, in the module and in the JavaScript that wasm-bindgen made for it, as terser shortens all other names: each ends
// with a random hash, so that the names would be a third of the gzipped JavaScript. Arguments: the module and the JavaScript.

import { readFileSync, writeFileSync } from "node:fs";

const IMPORTS = 2;
const FUNCTION = 0;

/** Writes a number as WebAssembly does (LEB128). @param {number} value @returns {number[]} */
const leb = (value) => (value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >>> 7)]);

const [modulePath, gluePath] = process.argv.slice(2);
const wasm = readFileSync(modulePath);
let at = 8; // after the magic number and the version
function number() {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = wasm[at++];
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}
const bytes = (/** @type {number} */ count) => wasm.subarray(at, (at += count));

let begin = at;
let kind = wasm[at++];
let end = number() + at;
while (kind !== IMPORTS) {
  begin = at = end;
  kind = wasm[at++];
  end = number() + at;
}

/** @type {Map<string, string>} */
const names = new Map();
const count = number();
const section = [...leb(count)];
for (let i = 0; i < count; i++) {
  const from = bytes(number());
  const name = `${bytes(number())}`;
  if (bytes(1)[0] !== FUNCTION) throw new Error(`the import ${name} is no function`);
  const short = `i${i.toString(36)}`;
  names.set(name, short);
  section.push(...leb(from.length), ...from, ...leb(short.length), ...Buffer.from(short), FUNCTION, ...leb(number()));
}

writeFileSync(modulePath, Buffer.concat([wasm.subarray(0, begin), Buffer.from([IMPORTS, ...leb(section.length), ...section]), wasm.subarray(end)]));
const renamed = new Set();
const glue = readFileSync(gluePath, "utf8").replace(/\b__wb\w+(?=:)/g, (name) => {
  renamed.add(name);
  return names.get(name) ?? name;
});
const missing = [...names.keys()].filter((name) => !renamed.has(name));
if (missing.length) throw new Error(`${gluePath} lacks ${missing.join(", ")}`);
writeFileSync(gluePath, glue);
