// The worker of the page of lips: owner of its WebAssembly. Each method answers one call of the page.

import { compile } from "../js/base.js";
import { BaseCache, get, verified } from "../js/download.js";
import { OwnvoiceError } from "../js/errors.js";
import { Transfer, serve } from "../js/rpc.js";
import init, { LipReader } from "./pkg/ownvoice_web_lips.js";

/** @import { Promised } from "../js/download.js" */
/** @import { Context } from "../js/rpc.js" */

/** @type {LipReader} */
let reader;

/** The part of a manifest that is read here. @param {string} text @returns {{ weights: Promised, vocoder?: Promised }} */
function files(text) {
  try {
    const { weights, vocoder } = JSON.parse(text).files;
    for (const { path, bytes, sha256 } of vocoder ? [weights, vocoder] : [weights]) {
      if (typeof path !== "string" || typeof bytes !== "number" || typeof sha256 !== "string") throw new Error("a file lacks path, bytes or sha256");
    }
    return { weights, vocoder };
  } catch (error) {
    throw new OwnvoiceError("base-corrupt", `the manifest cannot be read: ${/** @type {Error} */ (error).message}`);
  }
}

serve({
  /** Returns the names of the voices. @param {{ base: string, wasmUrl: string }} args Folder and address. @param {Context} context */
  async load({ base, wasmUrl }, { signal, progress }) {
    const manifest = await (await get(new URL("manifest.json", base), signal)).text();
    const { weights, vocoder } = files(manifest);
    const cache = await BaseCache.open(base);
    const totalBytes = weights.bytes + (vocoder?.bytes ?? 0);
    const loaded = new Map();
    /** @param {Promised} file */
    const fetched = (file) =>
      verified(base, file, cache, signal, (bytes) => {
        loaded.set(file, bytes);
        progress({ status: "fetching", what: "base", loadedBytes: [...loaded.values()].reduce((a, b) => a + b, 0), totalBytes });
      });
    const [module, weightBytes, vocoderBytes] = await Promise.all([
      compile(wasmUrl, signal, (loadedBytes) => progress({ status: "fetching", what: "program", loadedBytes })),
      fetched(weights),
      vocoder && fetched(vocoder),
    ]);
    await cache?.tidy([weights, ...(vocoder ? [vocoder] : [])].map(({ sha256 }) => sha256)).catch(() => false);
    progress({ status: "starting" });
    await init({ module_or_path: module });
    reader = new LipReader(manifest, weightBytes, vocoderBytes);
    return reader.speakers;
  },

  clear: () => reader.clear(),

  /** @param {import("./pictures.js").Picture} picture */
  look: ({ width, height, rgba }) => reader.look(width, height, new Uint8Array(rgba.buffer)),

  /** @param {{ speaker: string }} args */
  async speak({ speaker }) {
    const speech = await reader.speak(speaker);
    return new Transfer(speech, [speech.samples.buffer]);
  },
});
