// Seconds of one fine-tuning iteration in other libraries, in the Chromium that ownvoice is measured in: the shipped base's sizes, 8 x 128 frames.
// `cargo xtask bench` installs them and runs this. Each kind of device is measured where the library has it; what a library cannot do is a
// line on stderr. An array of rows is the last thing printed.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { open } from "../browser/harness.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const { model } = JSON.parse(readFileSync(join(HERE, "../../models/base/manifest.json"), "utf8"));
const [BATCH, WINDOW] = [8, 128];
/** No library is waited for longer, in milliseconds. */
const PATIENCE = 240_000;
const ORIGIN = "http://127.0.0.1/peers/";

/** Opens the library on a device, in the page; returns `iteration`'s first arguments. */
const TFJS = (/** @type {string} */ backend) => `
  for (const file of ["tfjs/dist/tf.min.js", "tfjs-backend-wasm/dist/tf-backend-wasm.min.js", "tfjs-backend-webgpu/dist/tf-backend-webgpu.min.js"]) {
    await new Promise((done, failed) => {
      const script = document.createElement("script");
      Object.assign(script, { src: "node_modules/@tensorflow/" + file, onload: done, onerror: failed });
      document.head.append(script);
    });
  }
  tf.wasm.setWasmPaths("node_modules/@tensorflow/tfjs-backend-wasm/dist/");
  if (!(await tf.setBackend("${backend}"))) throw new Error("it does not start here");
  await tf.ready();
  const { iteration } = await import("./tfjs.js");
  const prepared = iteration(model, batch, window);`;
const JAX = (/** @type {string} */ device) => `
  const jax = await import("./node_modules/@jax-js/jax/dist/index.js");
  await jax.init("${device}");
  jax.defaultDevice("${device}");
  const { iteration } = await import("./jax.js");
  const prepared = iteration(jax, model, batch, window);`;

/** @type {{ name: string, device: "cpu" | "webgpu", opened: string, runs: number }[]} */
const PEERS = [
  { name: "tfjs.wasm", device: "cpu", opened: TFJS("wasm"), runs: 3 },
  { name: "tfjs.cpu", device: "cpu", opened: TFJS("cpu"), runs: 1 },
  { name: "jax.wasm", device: "cpu", opened: JAX("wasm"), runs: 5 },
  { name: "tfjs.webgpu", device: "webgpu", opened: TFJS("webgpu"), runs: 3 },
  { name: "jax.webgpu", device: "webgpu", opened: JAX("webgpu"), runs: 3 },
];

/** The median of some runs, as ours is, after one that warms up. @param {(typeof PEERS)[number]} peer */
async function measure({ device, opened, runs }) {
  const session = await open({ device, url: ORIGIN });
  try {
    await session.page.route(`${ORIGIN}**`, async (route) => {
      const path = new URL(route.request().url()).pathname.slice("/peers/".length);
      await (path ? route.fulfill({ path: join(HERE, path) }) : route.fulfill({ contentType: "text/html", body: "<!doctype html>" }));
    });
    await session.page.goto(ORIGIN);
    const body = `(async () => {
      const [model, batch, window] = ${JSON.stringify([model, BATCH, WINDOW])};
      ${opened}
      const seconds = [], losses = [];
      for (let run = 0; run <= ${runs}; run++) {
        const begun = performance.now();
        losses.push(await prepared());
        seconds.push((performance.now() - begun) / 1000);
      }
      return { seconds, losses };
    })()`;
    const tooLong = new Promise((_, failed) => setTimeout(() => failed(new Error(`longer than ${PATIENCE / 1000} s`)), PATIENCE).unref());
    const { seconds, losses } = /** @type {any} */ (await Promise.race([session.page.evaluate(body), tooLong]));
    // Training that does not learn is no peer.
    if (!(losses.at(-1) < losses[0])) throw new Error(`its loss does not fall: ${losses}`);
    const steady = seconds.slice(1).sort((/** @type {number} */ a, /** @type {number} */ b) => a - b);
    return steady[steady.length >> 1];
  } finally {
    await session.close();
  }
}

const asked = process.argv.slice(2);
const rows = [];
for (const peer of PEERS.filter(({ name }) => !asked.length || asked.includes(name))) {
  try {
    const value = await measure(peer);
    rows.push({ name: `train.${peer.name}.s_per_iter`, value, unit: "s", what: peer.device === "webgpu" ? "SwiftShader, not a GPU" : "one thread" });
  } catch (error) {
    console.error(`${peer.name}: ${error instanceof Error ? error.message.split("\n")[0] : error}`);
  }
}
console.log(`\n${JSON.stringify(rows, null, 1)}`);
process.exit();
