// Takes comments, long names and line breaks out of modules: pairs of a file and where the small one goes. Each stays a module of its own, with the names
// that it exports.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { minify } from "../page-libraries/node_modules/terser/main.js";

const places = process.argv.slice(2);
for (let i = 0; i < places.length; i += 2) {
  const { code } = await minify(readFileSync(places[i], "utf8"), { module: true, compress: { passes: 2 } });
  mkdirSync(dirname(places[i + 1]), { recursive: true });
  writeFileSync(places[i + 1], code);
}
