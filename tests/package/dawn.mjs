// Runs the package on a GPU without a browser: in Node with Dawn, Chrome's WebGPU. It clones a voice that nothing was trained on from a minute of speech, and
// speaks. It prints a line of JSON for each figure.
//
//     npm install --prefix FOLDER webgpu
//     node tests/package/dawn.mjs FOLDER/node_modules/webgpu/index.js [feature]..
//
// Features are Dawn's, for example `enable-dawn-features=vulkan_enable_f16_on_nvidia`. `TINY=1` uses the base voice of the tests and two iterations.

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker as Thread } from "node:worker_threads";
import { ROOT } from "../browser/harness.mjs";
import { SENTENCES, spokenSamples } from "../browser/steps.mjs";
import { baseFile, serve } from "./consumer.mjs";

const [dawn, ...features] = process.argv.slice(2);
const tiny = process.env.TINY === "1";
const TEXT = "This sentence is spoken to be measured, and so is the next one.";

/** The package's worker, in a thread. */
class DawnWorker {
  /** @type {((event: { data: any }) => void) | undefined} */
  onmessage;
  /** @type {((event: { message: string, preventDefault: () => void }) => void) | undefined} */
  onerror;

  /** @param {string | URL} url */
  constructor(url) {
    const workerData = { url: `${url}`, dawn: pathToFileURL(resolve(dawn)).href, features };
    this.thread = new Thread(new URL("./dawn-worker.mjs", import.meta.url), { workerData });
    this.thread.on("message", (data) => this.onmessage?.({ data }));
    this.thread.on("error", ({ message }) => this.onerror?.({ message, preventDefault() {} }));
  }

  /** @param {unknown} message @param {import("node:worker_threads").TransferListItem[]} transfer */
  postMessage(message, transfer) {
    this.thread.postMessage(message, transfer);
  }

  terminate() {
    this.thread.terminate();
  }
}

Object.assign(globalThis, { Worker: DawnWorker });
Object.defineProperty(globalThis, "navigator", { value: { locks: { request: async () => {} } } });

const site = await serve(ROOT, tiny ? baseFile : () => null);

const clips = (tiny ? [0] : [...SENTENCES.keys()]).map((index) => {
  const { text, samples } = spokenSamples(index);
  return { text, sampleRate: 16_000, samples: Float32Array.from({ length: samples.length / 2 }, (_, at) => samples.readInt16LE(2 * at) / 32_768) };
});

/** Returns the result and the seconds that it took. @template T @param {Promise<T>} work @returns {Promise<[T, number]>} */
async function timed(work) {
  const begun = performance.now();
  const result = await work;
  return [result, (performance.now() - begun) / 1000];
}
const print = (/** @type {object} */ row) => console.log(JSON.stringify(row));

const { load } = await import("../../web/js/index.js");
const [studio, loading] = await timed(load({ base: `${site.url}models/base/`, wasmUrl: `${site.url}web/pkg/ownvoice_web_bg.wasm.gz`, device: "webgpu", cache: false }));
const [, preparing] = await timed(studio.prepare());
print({ loading, preparing, device: studio.device });

for (const precision of /** @type {const} */ (["f32", "f32", "mixed"])) {
  /** @type {any} */
  let last;
  const options = { ...(tiny && { iterations: 2 }), seed: 1, precision, onStep: (/** @type {any} */ step) => step.status === "training" && (last = step) };
  try {
    const [voice, cloning] = await timed(studio.clone(clips, options));
    const [speech, speaking] = await timed(voice.say(TEXT));
    const { iteration, seconds, loss, overflows } = last;
    const memory = await studio.deviceMemory();
    print({ precision, cloning, iteration, seconds, loss, overflows, ...memory, speaking, heard: speech.samples.length / speech.sampleRate });
  } catch (error) {
    if (/** @type {any} */ (error).code !== "precision-unsupported") throw error;
    console.error("this adapter has no shader-f16: mixed precision was not measured");
  }
}
if (!tiny) print(await studio.profile({ runs: 20 }));
print({ precision: (await studio.precision()).verdict });
studio.close();
site.stop();
