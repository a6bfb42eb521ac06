// The worker: owner of WebAssembly, device and storage. Each method here answers one call of the page.

import init, { Helper, __wbg_reset_state as forget, read_wav } from "../pkg/ownvoice_web.js";
import { compile, fetchBase, fetchManifest } from "./base.js";
import { chooseDevice, onDeviceLost, rejected } from "./device.js";
import { countDispatches } from "./dispatches.js";
import { get } from "./download.js";
import { OwnvoiceError, check, describe } from "./errors.js";
import { Helpers } from "./helpers.js";
import { Transfer, breathe, crash, serve } from "./rpc.js";
import { loadTested } from "./self-test.js";
import { Store } from "./store.js";
import { Trainer } from "./training.js";
import { each, hold, idOf, release, using } from "./voices.js";

/** @import { Engine } from "../pkg/ownvoice_web.js" */
/** @import { Context } from "./rpc.js" */
/** @import { Clip } from "./clip.js" */
/** @import { Delivery } from "./voice.js" */

/** @type {Engine} */
let engine;
/** @type {import("./device.js").Device} */
let chosen;
/** @type {Store | null} */
let store = null;
/** @type {Trainer} */
let trainer;
/** @type {Promise<void> | undefined} */
let prepared;
/** @type {WebAssembly.Memory} */
let memory;
/** @type {Helper | null} */
let helper = null;

/** @param {import("./training.js").Trained} trained */
const holdTrained = async ({ voice, bytes }) => hold(voice, await idOf(bytes));

serve({
  /** @param {{ base: string, device: "auto" | "webgpu" | "cpu", prompts?: string, wasmUrl: string, module?: WebAssembly.Module, storage?: string, cache: boolean, cores: number,
   *   failed?: { adapter: string, message: string } }} args `failed` is the adapter that ended the previous worker.
   * @param {Context} context */
  async load({ base, device: wanted, prompts, wasmUrl, module: compiled, storage, cache, cores, failed }, { signal, progress }) {
    /** @type {(error: OwnvoiceError) => void} */
    let failTest = () => {};
    /** @type {Promise<never>} */
    const lost = new Promise((_, reject) => (failTest = reject));
    lost.catch(() => {}); // awaited only during the self-test
    onDeviceLost((message) => {
      const error = new OwnvoiceError("device-lost", `the graphics adapter was lost: ${message}`);
      if (!chosen) failTest(error);
      else if (chosen.kind === "webgpu") crash(error.code, error.message);
    });
    const device = failed ? Promise.resolve(rejected(failed.adapter, failed)) : chooseDevice(wanted);
    device.catch(() => {}); // awaited below
    const { text, manifest } = await fetchManifest(base, signal);
    await device;

    const [module, promptList, { parts, cached }] = await Promise.all([
      compiled ?? compile(wasmUrl, signal, (loadedBytes) => progress({ status: "fetching", what: "program", loadedBytes })),
      prompts ? get(prompts, signal).then((response) => response.json()) : [],
      fetchBase(base, manifest, cache, signal, (loadedBytes, totalBytes) => progress({ status: "fetching", what: "base", loadedBytes, totalBytes })),
    ]);

    progress({ status: "starting" });
    memory = (await init({ module_or_path: module })).memory;
    const found = await device;
    if (found.kind === "webgpu") progress({ status: "testing", adapter: found.name });
    ({ engine, device: chosen } = await loadTested({ manifest: text, ...parts }, found, wanted === "webgpu", lost));
    check(signal);

    let storageError = null;
    try {
      if (storage) store = await Store.open(storage);
    } catch (error) {
      storageError = describe(error);
    }
    const helpers = await Helpers.start(chosen.kind === "cpu" ? cores - 1 : 0);
    chosen = { ...chosen, cores: 1 + helpers.started };
    trainer = new Trainer(engine, store, module, helpers);
    const voice = hold(engine.base_voice(), engine.hash.slice(0, 16));
    return { device: chosen, hash: engine.hash, base: voice, prompts: promptList, module, storage: store?.name ?? null, storageError, cached: await cached };
  },

  /** @param {Parameters<Trainer["clone"]>[0]} args @param {Context} context */
  clone: async (args, context) => holdTrained(await trainer.clone(args, context)),

  /** @param {Parameters<Trainer["resume"]>[0]} args @param {Context} context */
  resume: async (args, context) => holdTrained(await trainer.resume(args, context)),

  /** @param {Parameters<Trainer["updateTraining"]>[0]} change */
  updateTraining: (change) => trainer.updateTraining(change),

  /** Compiles the pipelines of a training, on a GPU. @param {{}} _ @param {Context} context */
  async prepare(_, { signal }) {
    if (chosen.kind !== "webgpu") return;
    prepared ??= engine.prepare();
    await Promise.race([prepared, new Promise((resolve) => signal.addEventListener("abort", resolve))]);
  },

  /** @param {{ runs: number }} args @param {Context} context */
  async profile({ runs }, { signal, progress }) {
    const counter = chosen.kind === "webgpu" ? countDispatches() : null;
    try {
      return await engine.profile(runs, () => counter && [counter.dispatches, counter.bytes], async (module, modules) => {
        progress({ module, modules });
        await breathe();
        return !signal.aborted;
      });
    } finally {
      counter?.end();
    }
  },

  /** @param {{ precision?: "f32" | "mixed", cosine: number }} args @param {Context} context */
  precision: ({ precision, cosine }, { signal, progress }) =>
    engine.precision(chosen.name, precision, cosine, [], async (done, of) => {
      progress({ done, of });
      await breathe();
      return !signal.aborted;
    }),

  /** @param {{ voice: number, text: string, delivery: Delivery }} args @param {Context} context */
  async say({ voice, text, delivery }, context) {
    const speech = await using(voice, (voice) => voice.say(text, delivery, each(context)));
    check(context.signal);
    return new Transfer({ ...speech, warnings: engine.warnings(text) }, [speech.samples.buffer, speech.mel.data.buffer, speech.durations.buffer]);
  },

  /** @param {{ text: string }} args */
  parts: ({ text }) => ({ parts: engine.parts(text), warnings: engine.warnings(text) }),

  /** @param {{ voice: number, clips: Clip[] }} args @param {Context} context */
  similarity: ({ voice, clips }, context) => using(voice, (voice) => voice.similarity(clips, each(context))),

  /** @param {{ voice: number }} args @param {Context} context */
  async save({ voice }, { signal }) {
    await breathe();
    check(signal);
    const bytes = await using(voice, (voice) => voice.save());
    return new Transfer(bytes, [bytes.buffer]);
  },

  /** @param {{ bytes: Uint8Array<ArrayBuffer> }} args @param {Context} context */
  async open({ bytes }, { signal }) {
    const id = await idOf(bytes);
    await breathe();
    check(signal);
    return hold(engine.open(bytes), id);
  },

  /** @param {{ voice: number }} args */
  release: ({ voice }) => release(voice),

  /** @param {{ samples: Float32Array, sampleRate: number, text?: string }} args @param {Context} context */
  async checkClip({ samples, sampleRate, text }, { signal }) {
    await breathe();
    check(signal);
    return engine.checkClip(samples, sampleRate, text);
  },

  /** Bytes of WebAssembly memory, which never shrinks. */
  memory: () => memory.buffer.byteLength,

  deviceMemory: () => engine.deviceMemory(),

  /** @param {{ bytes: Uint8Array }} args @param {Context} context */
  async readWav({ bytes }, { signal }) {
    await breathe();
    check(signal);
    const audio = read_wav(bytes);
    return new Transfer(audio, [audio.samples.buffer]);
  },

  /** @param {{ id: string, text: string, samples: Float32Array, sampleRate: number }} recording */
  putRecording: (recording) => store?.put("recordings", recording.id, recording),
  /** @param {{ id: string }} args */
  removeRecording: ({ id }) => store?.remove("recordings", id),
  recordings: () => store?.all("recordings") ?? [],

  storedTraining: () => trainer.stored(),

  /** Makes this worker the helper of another. @param {{ module: WebAssembly.Module, workerInit: Uint8Array }} args */
  async startHelper({ module, workerInit }) {
    await init({ module_or_path: module });
    helper = new Helper(workerInit);
  },

  /** Frees the helper and its memory: WebAssembly memory never shrinks, so the module is reset. */
  stopHelper() {
    if (helper) forget();
    helper = null;
  },

  /**
   * A helper's shard of an iteration: receives weights, returns gradients.
   * @param {{ iteration: number, inCooldown: boolean, buffer: Float32Array<ArrayBuffer>, rank: number, worldSize: number }} args
   */
  async gradients({ iteration, inCooldown, buffer, rank, worldSize }) {
    if (!helper) throw new OwnvoiceError("internal", "this worker is no helper");
    await helper.gradients(iteration, inCooldown, buffer, rank, worldSize);
    return new Transfer(buffer, [buffer.buffer]);
  },
});
