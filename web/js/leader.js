// The methods of the page's worker, which owns WebAssembly, device and storage. Each answers one call of the page.

import init, { checkpointIterations, readWav } from "../pkg/ownvoice_web.js";
import { compile, fetchBase, fetchManifest } from "./base.js";
import { chooseDevice, onDeviceLost, rejected } from "./device.js";
import { countDispatches } from "./dispatches.js";
import { get } from "./download.js";
import { OwnvoiceError, describe, throwIfAborted, unlessAborted } from "./errors.js";
import { Helpers } from "./helpers.js";
import { Transfer, crash, yieldToMessages } from "./rpc.js";
import { loadTested } from "./self-test.js";
import { Store } from "./store.js";
import { Trainer } from "./training.js";
import { Voices, idOf, reportSentences } from "./voices.js";

/** @import { Engine } from "../pkg/ownvoice_web.js" */
/** @import { Clip, Recording } from "./clip.js" */
/** @import { Device } from "./device.js" */
/** @import { Prompt } from "./options.js" */
/** @import { LoadProgress } from "./progress.js" */
/** @import { Context } from "./rpc.js" */
/** @import { Delivery, SayProgress } from "./speech.js" */
/** @import { Trained } from "./training.js" */

/** An adapter that failed, and why. @typedef {{ adapter: string, message: string }} FailedAdapter */
/**
 * @typedef {object} LoadArguments
 * @property {string} base Address of the base's folder.
 * @property {"auto" | "webgpu" | "cpu"} device
 * @property {string} [prompts]
 * @property {string} wasmUrl
 * @property {WebAssembly.Module} [module] The module, where an earlier worker compiled it.
 * @property {string} [storage]
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
    async load({ base, device: wanted, prompts, wasmUrl, module: compiled, storage, cache, cores, failed }, { signal, progress }) {
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
      const chosen = failed ? Promise.resolve(rejected(failed.adapter, failed)) : chooseDevice(wanted);
      chosen.catch(() => {}); // awaited below
      const { text, manifest } = await fetchManifest(base, signal);
      await chosen;

      const [module, promptList, { parts, cached }] = await Promise.all([
        compiled ?? compile(wasmUrl, signal, (loadedBytes) => progress({ status: "fetching", what: "program", loadedBytes })),
        /** @type {Promise<Prompt[]> | Prompt[]} */ (prompts ? get(prompts, signal).then((response) => response.json()) : []),
        fetchBase(base, manifest, cache, signal, (loadedBytes, totalBytes) => progress({ status: "fetching", what: "base", loadedBytes, totalBytes })),
      ]);

      progress({ status: "starting" });
      const { memory } = await init({ module_or_path: module });
      const untested = await chosen;
      if (untested.kind === "webgpu") progress({ status: "testing", adapter: untested.name });
      const { engine, device: working } = await loadTested({ manifest: text, ...parts }, untested, wanted === "webgpu", lost);
      tested = working;
      throwIfAborted(signal);

      /** @type {Store | null} */
      let store = null;
      let storageError = null;
      try {
        if (storage) store = await Store.open(storage);
      } catch (error) {
        storageError = describe(error);
      }
      const helpers = await Helpers.start(working.kind === "cpu" ? cores - 1 : 0);
      const device = { ...working, cores: 1 + helpers.started };
      const voices = new Voices();
      state = { engine, device, memory, store, voices, trainer: new Trainer(engine, store, module, helpers), pipelines: null };
      return {
        device,
        hash: engine.hash,
        base: voices.hold(engine.baseVoice(), engine.hash.slice(0, 16)),
        prompts: promptList,
        module,
        storage: store?.name ?? null,
        storageError,
        cached: await cached,
        checkpointIterations: checkpointIterations(),
      };
    },

    /** @param {Parameters<Trainer["clone"]>[0]} args @param {Parameters<Trainer["clone"]>[1]} context */
    clone: async (args, context) => holdTrained(await loaded().trainer.clone(args, context)),

    /** @param {Parameters<Trainer["resume"]>[0]} args @param {Parameters<Trainer["resume"]>[1]} context */
    resume: async (args, context) => holdTrained(await loaded().trainer.resume(args, context)),

    /** @param {Parameters<Trainer["updateTraining"]>[0]} change */
    updateTraining: (change) => loaded().trainer.updateTraining(change),

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
    async profile({ runs }, { signal, progress }) {
      const { engine, device } = loaded();
      const counter = device.kind === "webgpu" ? countDispatches() : null;
      try {
        return await engine.profile(runs, () => counter && [counter.dispatches, counter.bytes], async (module, modules) => {
          progress({ module, modules });
          await yieldToMessages();
          return !signal.aborted;
        });
      } finally {
        counter?.end();
      }
    },

    /** @param {{ precision?: "f32" | "mixed", cosine: number }} args @param {Context<{ done: number, of: number }>} context */
    precision({ precision, cosine }, { signal, progress }) {
      const { engine, device } = loaded();
      return engine.precision({ name: device.name, precision, cosine, faults: [] }, async (done, of) => {
        progress({ done, of });
        await yieldToMessages();
        return !signal.aborted;
      });
    },

    /** @param {{ voice: number, text: string, delivery: Delivery }} args @param {Context<SayProgress>} context */
    async say({ voice, text, delivery }, context) {
      const { engine, voices } = loaded();
      const speech = await voices.using(voice, (voice) => voice.say(text, delivery, reportSentences(context)));
      throwIfAborted(context.signal);
      return new Transfer({ ...speech, warnings: engine.warnings(text) }, [speech.samples.buffer, speech.mel.data.buffer, speech.durations.buffer]);
    },

    /** @param {{ text: string }} args */
    parts: ({ text }) => ({ parts: loaded().engine.parts(text), warnings: loaded().engine.warnings(text) }),

    /** @param {{ voice: number, clips: Clip[] }} args @param {Context<SayProgress>} context */
    similarity: ({ voice, clips }, context) => loaded().voices.using(voice, (voice) => voice.similarity(clips, reportSentences(context))),

    /** @param {{ voice: number }} args @param {Context<never>} context */
    async save({ voice }, { signal }) {
      await yieldToMessages();
      throwIfAborted(signal);
      const bytes = /** @type {Uint8Array<ArrayBuffer>} */ (await loaded().voices.using(voice, (voice) => voice.save()));
      return new Transfer(bytes, [bytes.buffer]);
    },

    /** @param {{ bytes: Uint8Array<ArrayBuffer> }} args @param {Context<never>} context */
    async open({ bytes }, { signal }) {
      const id = await idOf(bytes);
      await yieldToMessages();
      throwIfAborted(signal);
      const { engine, voices } = loaded();
      return voices.hold(engine.open(bytes), id);
    },

    /** @param {{ voice: number }} args */
    release: ({ voice }) => loaded().voices.release(voice),

    /** @param {{ samples: Float32Array, sampleRate: number, text?: string }} args @param {Context<never>} context */
    async checkClip({ samples, sampleRate, text }, { signal }) {
      await yieldToMessages();
      throwIfAborted(signal);
      return loaded().engine.checkClip(samples, sampleRate, text);
    },

    /** Returns the bytes of WebAssembly memory. */
    memory: () => loaded().memory.buffer.byteLength,

    deviceMemory: () => loaded().engine.deviceMemory() ?? null,

    /** @param {{ bytes: Uint8Array }} args @param {Context<never>} context */
    async readWav({ bytes }, { signal }) {
      await yieldToMessages();
      throwIfAborted(signal);
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

    /** @returns {Promise<Recording[]>} */
    recordings: async () => (await loaded().store?.all("recordings")) ?? [],
  };
}
