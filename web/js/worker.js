// The worker: the one owner of WebAssembly, of the device and of what is kept. It holds no maths; here is how each call of the page is answered.

import init, { Helper, __wbg_reset_state as forget, read_wav } from "../pkg/ownvoice_web.js";
import { compile, fetchBase, fetchManifest } from "./base.js";
import { chooseDevice, distrusted, hearLosses } from "./device.js";
import { get } from "./download.js";
import { Helpers } from "./helpers.js";
import { countLaunches } from "./launches.js";
import { OwnvoiceError, Transfer, breathe, check, crash, describe, serve } from "./rpc.js";
import { Store } from "./store.js";
import { Trainer } from "./training.js";
import { trusted } from "./trust.js";
import { each, hold, idOf, release, using } from "./voices.js";

/** @import { Engine } from "../pkg/ownvoice_web.js" */
/** @import { Context } from "./rpc.js" */
/** @import { Clip } from "./training.js" */
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

/** @param {import("./training.js").Learned} learned */
const learned = async ({ voice, bytes }) => hold(voice, await idOf(bytes));

serve({
  /** @param {{ base: string, device: "auto" | "webgpu" | "cpu", prompts?: string, wasmUrl: string, module?: WebAssembly.Module, keep?: string, cache: boolean, cores: number,
   *   failed?: { adapter: string, message: string } }} args `failed` is an adapter that took the worker before this one with it.
   * @param {Context} context */
  async load({ base, device: wanted, prompts, wasmUrl, module: compiled, keep, cache, cores, failed }, { signal, progress }) {
    /** @type {(error: OwnvoiceError) => void} */
    let failTest = () => {};
    /** @type {Promise<never>} */
    const lost = new Promise((_, reject) => (failTest = reject));
    lost.catch(() => {}); // of interest only while the adapter is tested
    hearLosses((message) => {
      const error = new OwnvoiceError("device-lost", `the graphics adapter was lost: ${message}`);
      if (!chosen) failTest(error);
      else if (chosen.kind === "webgpu") crash(error.code, error.message);
    });
    const device = failed ? Promise.resolve(distrusted(failed.adapter, failed)) : chooseDevice(wanted);
    device.catch(() => {}); // looked at below: a missing adapter need not wait for the download, nor go unhandled during it
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
    ({ engine, device: chosen } = await trusted({ manifest: text, ...parts }, found, wanted === "webgpu", lost));
    check(signal);

    let keepReason = null;
    try {
      if (keep) store = await Store.open(keep);
    } catch (error) {
      keepReason = describe(error);
    }
    const helpers = await Helpers.start(chosen.kind === "cpu" ? cores - 1 : 0);
    chosen = { ...chosen, cores: 1 + helpers.started };
    trainer = new Trainer(engine, store, module, helpers);
    const voice = hold(engine.base_voice(), engine.hash.slice(0, 16));
    return { device: chosen, hash: engine.hash, base: voice, prompts: promptList, module, keeps: store?.name ?? null, keepReason, cached };
  },

  /** @param {Parameters<Trainer["clone"]>[0]} args @param {Context} context */
  clone: async (args, context) => learned(await trainer.clone(args, context)),

  /** @param {Parameters<Trainer["resume"]>[0]} args @param {Context} context */
  resume: async (args, context) => learned(await trainer.resume(args, context)),

  /** @param {Parameters<Trainer["steer"]>[0]} change */
  steer: (change) => trainer.steer(change),

  /** Compiles what a training runs, on a graphics card: the CPU has nothing to prepare. @param {{}} _ @param {Context} context */
  async prepare(_, { signal }) {
    if (chosen.kind !== "webgpu") return;
    prepared ??= engine.prepare();
    await Promise.race([prepared, new Promise((resolve) => signal.addEventListener("abort", resolve))]);
  },

  /** @param {{ runs: number }} args @param {Context} context */
  async profile({ runs }, { signal, progress }) {
    const counter = chosen.kind === "webgpu" ? countLaunches() : null;
    try {
      return await engine.profile(runs, () => counter && [counter.launches, counter.bytes], async (module, modules) => {
        progress({ module, modules });
        await breathe();
        return !signal.aborted;
      });
    } finally {
      counter?.end();
    }
  },

  /** @param {{ voice: number, text: string, delivery: Delivery }} args @param {Context} context */
  async say({ voice, text, delivery }, context) {
    const speech = await using(voice, (voice) => voice.say(text, delivery, each(context)));
    check(context.signal);
    return new Transfer(speech, [speech.samples.buffer, speech.mel.data.buffer, speech.durations.buffer]);
  },

  /** @param {{ text: string }} args */
  parts: ({ text }) => engine.parts(text),

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

  /** Bytes of the program's memory, which never shrinks. */
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
  keepRecording: (recording) => store?.put("recordings", recording.id, recording),
  /** @param {{ id: string }} args */
  forgetRecording: ({ id }) => store?.remove("recordings", id),
  recordings: () => store?.all("recordings") ?? [],

  run: () => trainer.kept(),

  /** Makes this worker the helper of another. @param {{ module: WebAssembly.Module, kit: Uint8Array }} args */
  async help({ module, kit }) {
    await init({ module_or_path: module });
    helper = new Helper(kit);
  },

  /** Lets go of what was learnt, and of the memory: a program's own never shrinks. */
  rest() {
    if (helper) forget();
    helper = null;
  },

  /**
   * A helper's share of an iteration: weights come, gradients go.
   * @param {{ iteration: number, settles: boolean, exchange: Float32Array<ArrayBuffer>, number: number, of: number }} args
   */
  async gradients({ iteration, settles, exchange, number, of }) {
    if (!helper) throw new OwnvoiceError("internal", "no training was shared with this worker");
    await helper.gradients(iteration, settles, exchange, number, of);
    return new Transfer(exchange, [exchange.buffer]);
  },
});
