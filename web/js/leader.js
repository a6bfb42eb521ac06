// The methods of the page's worker, which owns WebAssembly, device and storage. Each answers one call of the page.

import init, { checkpointIterations, readWav } from "../pkg/ownvoice_web.js";
import { chooseDevice, loadTested, onDeviceLost, rejected } from "./device.js";
import { countDispatches } from "./dispatches.js";
import { compile, fetchBase, fetchManifest, fetchPrompts } from "./download.js";
import { OwnvoiceError, describe, unlessAborted } from "./errors.js";
import { Helpers } from "./helpers.js";
import { Transfer, betweenParts, crash, yieldToMessages } from "./rpc.js";
import { Store } from "./store.js";
import { Trainer } from "./training.js";
import { Voices, idOf, reportSentences } from "./voices.js";

/** @import { Engine } from "../pkg/ownvoice_web.js" */
/** @import { Addresses } from "./download.js" */
/** @import { Clip, Recording } from "./options.js" */
/** @import { Device } from "./device.js" */
/** @import { LoadProgress } from "./reports.js" */
/** @import { Context } from "./rpc.js" */
/** @import { Delivery, SayProgress } from "./speech.js" */
/** @import { Trained } from "./training.js" */

/** The parts of a base beside its vocoder, without which Griffin-Lim is used. */
const PARTS = /** @type {const} */ (["weights", "lexicon", "aligner"]);

/** An adapter that failed, and why. @typedef {{ adapter: string, message: string }} FailedAdapter */
/**
 * @typedef {object} LoadArguments
 * @property {Addresses} base
 * @property {"auto" | "webgpu" | "cpu"} device
 * @property {string} [prompts]
 * @property {string} wasmUrl
 * @property {WebAssembly.Module} [module] The module, where an earlier worker compiled it.
 * @property {string} [storage]
 * @property {string} [baseHash] A base that the storage has kept, in place of `base`.
 * @property {boolean} cache
 * @property {number} cores
 * @property {FailedAdapter} [failed] The adapter that ended the previous worker; the CPU takes its place.
 */
/** An adapter is about to be tested. @typedef {{ status: "testing", adapter: string }} Testing */

/**
 * The state of a loaded worker.
 * @typedef {object} State
 * @property {Engine} engine
 * @property {Device} device
 * @property {WebAssembly.Memory} memory
 * @property {Store | null} store
 * @property {string} manifest Text of the base's manifest.
 * @property {Trainer} trainer
 * @property {Voices} voices
 * @property {Promise<void> | null} pipelines The compilation of a training's pipelines, once it has begun.
 */

/** @typedef {ReturnType<typeof leaderMethods>} LeaderMethods */

export function leaderMethods() {
  /** @type {State | null} */
  let state = null;

  function loaded() {
    if (!state) throw new OwnvoiceError("internal", "the worker has not loaded a base");
    return state;
  }

  /** @param {Trained} trained */
  async function holdTrained({ voice, bytes }) {
    const held = loaded().voices.hold(voice, await idOf(bytes));
    return new Transfer({ ...held, bytes }, [bytes.buffer]);
  }

  return {
    /** @param {LoadArguments} args @param {Context<LoadProgress | Testing>} context */
    async load({ base, device: wanted, prompts, wasmUrl, module: compiled, storage, baseHash, cache, cores, failed }, { signal, progress }) {
      /** The device, once it has passed the self-test. @type {Device | null} */
      let tested = null;
      /** @type {(error: OwnvoiceError) => void} */
      let failTest = () => {};
      /** @type {Promise<never>} */
      const lost = new Promise((_, reject) => (failTest = reject));
      lost.catch(() => {}); // awaited only during the self-test
      onDeviceLost((message) => {
        const error = new OwnvoiceError("device-lost", `the graphics adapter was lost: ${message}`);
        if (!tested) failTest(error);
        else if (tested.kind === "webgpu") crash(error.code, error.message);
      });
      const chosen = failed ? rejected(failed.adapter, failed) : await chooseDevice(wanted);
      const fetching = baseHash === undefined ? fetchManifest(base, signal) : null;
      fetching?.catch(() => {}); // awaited below
      /** @type {Store | null} */
      let store = null;
      let storageError = null;
      /** @type {{ hash: string, text: string }[]} */
      let kept = [];
      try {
        if (storage) store = await Store.open(storage);
        kept = (await store?.all("bases")) ?? [];
      } catch (error) {
        store = null;
        storageError = describe(error);
      }
      const manifest = (await fetching) ?? kept.find(({ hash }) => hash === baseHash)?.text;
      if (manifest === undefined) throw new OwnvoiceError("base-missing", `the base ${baseHash} is not kept here`);
      // A kept base that is loaded beside the page's own leaves the cache as it is.
      const others = fetching && kept.map(({ text }) => text);

      const [module, promptList, { parts, cached }] = await Promise.all([
        compiled ?? compile(wasmUrl, signal, (loadedBytes) => progress({ status: "fetching", what: "program", loadedBytes })),
        prompts ? fetchPrompts(prompts, signal) : [],
        fetchBase(base, manifest, PARTS, cache, others, signal, (loadedBytes, totalBytes) => progress({ status: "fetching", what: "base", loadedBytes, totalBytes })),
      ]);

      progress({ status: "starting" });
      const { memory } = await init({ module_or_path: module });
      if (chosen.kind === "webgpu") progress({ status: "testing", adapter: chosen.name });
      const { engine, device: working } = await loadTested({ manifest, ...parts }, chosen, wanted === "webgpu", lost);
      tested = working;
      signal.throwIfAborted();

      const helpers = await Helpers.start(working.kind === "cpu" ? cores - 1 : 0);
      const device = { ...working, cores: 1 + helpers.started };
      const voices = new Voices();
      state = { engine, device, memory, store, manifest, voices, trainer: new Trainer(engine, store, module, helpers), pipelines: null };
      return {
        device,
        hash: engine.hash,
        base: voices.hold(engine.baseVoice(), engine.hash.slice(0, 16)),
        prompts: promptList,
        module,
        storage: store?.name ?? null,
        storageError,
        cached: (await cached) ?? false,
        checkpointIterations: checkpointIterations(),
      };
    },

    /** @param {Parameters<Trainer["clone"]>[0]} args @param {Parameters<Trainer["clone"]>[1]} context */
    clone: async (args, context) => holdTrained(await loaded().trainer.clone(args, context)),

    /** @param {Parameters<Trainer["resume"]>[0]} args @param {Parameters<Trainer["resume"]>[1]} context */
    resume: async (args, context) => holdTrained(await loaded().trainer.resume(args, context)),

    /** @param {Parameters<Trainer["updateTraining"]>[0]} change */
    updateTraining: (change) => loaded().trainer.updateTraining(change),

    trainingClips: () => loaded().trainer.clips(),

    storedTraining: () => loaded().trainer.stored(),

    /** Removes a stored training that was cancelled while no worker ran it. @param {{ run: string }} args */
    discardTraining: ({ run }) => loaded().trainer.discard(run),

    /** Compiles the pipelines of a training, on a GPU. @param {{}} _ @param {Context<never>} context */
    async prepare(_, { signal }) {
      const { engine, device } = loaded();
      if (device.kind !== "webgpu") return;
      await unlessAborted((loaded().pipelines ??= engine.prepare()), signal);
    },

    /** @param {{ runs: number }} args @param {Context<{ module: number, modules: number }>} context */
    async profile({ runs }, context) {
      const { engine, device } = loaded();
      const counter = device.kind === "webgpu" ? countDispatches() : null;
      try {
        return await engine.profile(runs, () => counter && [counter.dispatches, counter.bytes], betweenParts(context, (module, modules) => ({ module, modules })));
      } finally {
        counter?.end();
      }
    },

    /** @param {{ precision?: "f32" | "mixed", cosine: number }} args @param {Context<{ done: number, of: number }>} context */
    precision({ precision, cosine }, context) {
      const { engine, device } = loaded();
      return engine.precision({ name: device.name, precision, cosine, faults: [] }, betweenParts(context, (done, of) => ({ done, of })));
    },

    /** @param {{ voice: number, text: string, delivery: Delivery }} args @param {Context<SayProgress>} context */
    async say({ voice, text, delivery }, context) {
      const { engine, voices } = loaded();
      const speech = await voices.using(voice, (voice) => voice.say(text, delivery, reportSentences(context)));
      context.signal.throwIfAborted();
      return new Transfer({ ...speech, warnings: engine.warnings(text) }, [speech.samples.buffer, speech.mel.data.buffer, speech.durations.buffer]);
    },

    /** @param {{ text: string }} args */
    parts: ({ text }) => ({ parts: loaded().engine.parts(text), warnings: loaded().engine.warnings(text) }),

    /** @param {{ voice: number, clips: Clip[] }} args @param {Context<SayProgress>} context */
    similarity: ({ voice, clips }, context) => loaded().voices.using(voice, (voice) => voice.similarity(clips, reportSentences(context))),

    /** @param {{ voice: number }} args @param {Context<never>} context */
    async save({ voice }, { signal }) {
      await yieldToMessages(signal);
      const bytes = /** @type {Uint8Array<ArrayBuffer>} */ (await loaded().voices.using(voice, (voice) => voice.save()));
      return new Transfer(bytes, [bytes.buffer]);
    },

    /** @param {{ bytes: Uint8Array<ArrayBuffer> }} args @param {Context<never>} context */
    async open({ bytes }, { signal }) {
      const id = await idOf(bytes);
      await yieldToMessages(signal);
      const { engine, voices } = loaded();
      return voices.hold(engine.open(bytes), id);
    },

    /** @param {{ voice: number }} args */
    release: ({ voice }) => loaded().voices.release(voice),

    /** @param {{ samples: Float32Array, sampleRate: number, text?: string }} args @param {Context<never>} context */
    async checkClip({ samples, sampleRate, text }, { signal }) {
      await yieldToMessages(signal);
      return loaded().engine.checkClip(samples, sampleRate, text);
    },

    /** Returns the bytes of WebAssembly memory. */
    memory: () => loaded().memory.buffer.byteLength,

    deviceMemory: () => loaded().engine.deviceMemory() ?? null,

    /** @param {{ bytes: Uint8Array }} args @param {Context<never>} context */
    async readWav({ bytes }, { signal }) {
      await yieldToMessages(signal);
      const audio = readWav(bytes);
      return new Transfer(audio, [audio.samples.buffer]);
    },

    /** @param {Recording} recording */
    async putRecording(recording) {
      await loaded().store?.put("recordings", recording.id, recording);
    },

    /** @param {{ id: string }} args */
    async removeRecording({ id }) {
      await loaded().store?.remove("recordings", id);
    },

    /** Deletes a finished voice of the stored training, or of another base. @param {{ id: string }} args */
    removeVoice: ({ id }) => loaded().trainer.removeVoice(id),

    /** @param {{ key: string, value: unknown }} args */
    async keep({ key, value }) {
      await loaded().store?.put("kept", key, value);
    },

    /** @param {{ key: string }} args */
    kept: ({ key }) => loaded().store?.get("kept", key),

    keptKeys: async () => (await loaded().store?.keys("kept")) ?? [],

    /** @param {{ key: string }} args */
    async removeKept({ key }) {
      await loaded().store?.remove("kept", key);
    },

    /** Keeps the loaded base: its files stay in the cache when a newer one is loaded. */
    async keepBase() {
      const { engine, store, manifest } = loaded();
      if (!(await store?.get("bases", engine.hash))) await store?.put("bases", engine.hash, { hash: engine.hash, text: manifest });
    },

    keptBases: async () => (await loaded().store?.keys("bases")) ?? [],

    /** @param {{ hash: string }} args */
    async removeBase({ hash }) {
      await loaded().store?.remove("bases", hash);
    },

    /** @returns {Promise<Recording[]>} */
    recordings: async () => (await loaded().store?.all("recordings")) ?? [],
  };
}
