// Minifies JavaScript modules. Arguments: pairs of input and output file. Each module keeps its exported names.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { minify } from "../page-libraries/node_modules/terser/main.js";

const paths = process.argv.slice(2);
for (let i = 0; i < paths.length; i += 2) {
  const { code } = await minify(readFileSync(paths[i], "utf8"), { module: true, compress: { passes: 2 } });
  mkdirSync(dirname(paths[i + 1]), { recursive: true });
  writeFileSync(paths[i + 1], code);
}
