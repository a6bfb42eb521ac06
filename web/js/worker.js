// The worker: the one owner of WebAssembly, of the device and of what is kept. It holds no maths; it fetches, calls the engine and answers.

import init, { Engine, read_wav } from "../pkg/ownvoice_web.js";
import { chooseDevice, distrusted, hearLosses } from "./device.js";
import { Shelf, counted, get, sha256, verified } from "./download.js";
import { OwnvoiceError, Transfer, breathe, crash, describe, serve } from "./rpc.js";
import { Store } from "./store.js";
import { wavBlob } from "./wav.js";

/** @import { Tuner, Voice } from "../pkg/ownvoice_web.js" */
/** @import { Context } from "./rpc.js" */
/** @typedef {{ samples: Float32Array, sampleRate: number, text: string }} Clip */
/** @typedef {{ text: string, recordingSha256?: string }} Consent */
/** @typedef {{ paused: boolean, preview: string | null }} Steering What may change while a training runs. */

// A closed tab loses at most this much training; as often, a preview is spoken.
const CHECKPOINT_ITERATIONS = 25;

// A graphics card that gives no answer must not keep a page from starting. One that was asked for by name is waited for.
const SELF_TEST_SECONDS = 90;

/** @type {Engine} */
let engine;
/** @type {Store | null} */
let store = null;
/** @type {import("./device.js").Device} */
let chosen;
/** @type {Promise<void> | undefined} */
let prepared;
/** @type {Map<number, Voice>} */
const voices = new Map();
let nextVoice = 1;
/** @type {WebAssembly.Memory} */
let memory;
/** @type {Steering} */
let steering = { paused: false, preview: null };
/** Whether there was no room for the training under way: half of one is of no use. */
let runUnkept = false;

/** @param {Voice} voice @param {string} id */
function hold(voice, id) {
  const handle = nextVoice++;
  voices.set(handle, voice);
  return { handle, info: { ...voice.info(), id } };
}

/** Names a voice by the hash of its file, so that a file can be matched with speech: the first 16 digits of `sha256sum me.ownvoice`.
 * @param {Uint8Array<ArrayBuffer>} bytes */
const idOf = async (bytes) => (await sha256(bytes)).slice(0, 16);

/** @param {number} handle @returns {Voice} */
function held(handle) {
  const voice = voices.get(handle);
  if (!voice) throw new OwnvoiceError("closed", "this voice has been released");
  return voice;
}

/** @param {AbortSignal} signal */
function check(signal) {
  if (signal.aborted) throw new OwnvoiceError("cancelled", "cancelled");
}

/** What is asked before each sentence: tells of it, listens, and says whether to go on. @param {Context} context */
const each = ({ signal, progress }) => async (/** @type {number} */ done, /** @type {number} */ sentences) => {
  progress({ status: "speaking", sentence: done + 1, sentences });
  await breathe();
  return !signal.aborted;
};

/** The voice as it stands speaks, and the training goes on. @param {Tuner} tuner @param {string} text @param {AbortSignal} signal */
async function speakPreview(tuner, text, signal) {
  const voice = tuner.preview();
  try {
    return await voice.say(text, undefined, each({ signal, stopSignal: signal, progress() {} }));
  } finally {
    voice.free();
  }
}

/**
 * Keeps a part of a training, if there is room. A full disk is told, once, and ends nothing: the training itself needs no disk.
 * @param {string} key @param {unknown} value @param {Context} context
 */
async function keepOfRun(key, value, { progress }) {
  if (!store || runUnkept) return;
  try {
    await store.put("run", key, value);
  } catch (error) {
    runUnkept = true;
    const { code, message } = describe(error);
    progress({ status: "not-kept", code, message });
  }
}
/** Runs a fine-tuning to its end, early end or cancellation. The worker answers other calls between two iterations.
 * @param {Tuner} tuner @param {Consent | null} consent @param {boolean} pictures @param {Context} context */
async function train(tuner, consent, pictures, context) {
  const { signal, stopSignal, progress } = context;
  const show = async (/** @type {number} */ iteration) => pictures && progress({ status: "picture", iteration, picture: await tuner.picture() });
  try {
    await show(tuner.iteration);
    for (;;) {
      const step = await tuner.step();
      progress({ status: "training", ...step });
      await breathe();
      while (steering.paused && !signal.aborted && !stopSignal.aborted) await new Promise((resolve) => setTimeout(resolve, 50));
      check(signal);
      const { iteration, iterations } = step;
      const ends = step.stop || stopSignal.aborted;
      if (ends || iteration % CHECKPOINT_ITERATIONS === 0) await show(iteration);
      if (ends) break;
      if (iteration % CHECKPOINT_ITERATIONS !== 0) continue;
      if (store && !runUnkept) await keepOfRun("checkpoint", { bytes: await tuner.checkpoint(), iteration, iterations }, context);
      const text = steering.preview;
      if (text) progress({ status: "preview", iteration, text, speech: await speakPreview(tuner, text, signal) });
    }
  } catch (error) {
    tuner.free();
    if (signal.aborted) await forgetTraining();
    throw error;
  }
  progress({ status: "finishing" });
  const voice = await tuner.finish(); // frees the tuner
  if (consent) voice.setConsent(consent.text, consent.recordingSha256);
  const bytes = /** @type {Uint8Array<ArrayBuffer>} */ (await voice.save());
  await keepOfRun("voice", { bytes }, context);
  await forgetTraining();
  return hold(voice, await idOf(bytes));
}

/** Its checkpoint first: without its clips it would be of no use. */
async function forgetTraining() {
  await store?.remove("run", "checkpoint");
  await store?.remove("run", "clips");
}

/** What of a consent goes into the voice file. @param {{ text: string, recording?: Omit<Clip, "text"> } | undefined} given @returns {Promise<Consent | null>} */
async function consentOf(given) {
  if (!given) return null;
  const { text, recording } = given;
  if (!recording) return { text };
  const wav = await wavBlob(recording.samples, recording.sampleRate).arrayBuffer();
  return { text, recordingSha256: await sha256(wav) };
}

serve({
  /** @param {{ base: string, device: "auto" | "webgpu" | "cpu", prompts?: string, wasmUrl: string, module?: WebAssembly.Module, keep?: string, cache: boolean }} args
   * @param {Context} context */
  async load({ base, device: wanted, prompts, wasmUrl, module: compiled, keep, cache }, { signal, progress }) {
    hearLosses((message) => chosen?.kind === "webgpu" && crash("device-lost", `the graphics adapter was lost: ${message}`));
    const device = chooseDevice(wanted);
    device.catch(() => {}); // looked at below: a missing adapter need not wait for the download, nor go unhandled during it
    const manifestText = await (await get(new URL("manifest.json", base), signal)).text();
    const manifest = parseManifest(manifestText);
    await device;

    const shelf = cache ? await Shelf.open(base) : null;
    /** @type {import("./download.js").Promised[]} */
    const files = [manifest.files.weights, manifest.files.lexicon, manifest.files.aligner, manifest.files.vocoder].filter(Boolean);
    const loaded = new Map();
    const totalBytes = files.reduce((sum, { bytes }) => sum + bytes, 0);
    const count = (/** @type {string} */ path) => (/** @type {number} */ loadedBytes) => {
      loaded.set(path, loadedBytes);
      progress({ status: "fetching", what: "base", loadedBytes: [...loaded.values()].reduce((a, b) => a + b, 0), totalBytes });
    };
    const [module, promptList, weights, lexicon, aligner, vocoder] = await Promise.all([
      compiled ?? compile(wasmUrl, signal, (loadedBytes) => progress({ status: "fetching", what: "program", loadedBytes })),
      prompts ? get(prompts, signal).then((response) => response.json()) : [],
      ...files.map((file) => verified(base, file, shelf, signal, count(file.path))),
    ]);
    const cached = (await shelf?.tidy(files.map(({ sha256: hash }) => hash))) ?? false;

    progress({ status: "starting" });
    memory = (await init({ module_or_path: module })).memory;
    const parts = { manifest: manifestText, weights, lexicon, aligner, vocoder };
    chosen = await device;
    if (chosen.kind === "webgpu") {
      try {
        const tested = trusted(parts);
        const [trustedEngine, selfTest] = await (wanted === "webgpu" ? tested : inTime(tested, SELF_TEST_SECONDS));
        engine = trustedEngine;
        chosen = { ...chosen, selfTest };
      } catch (error) {
        if (wanted === "webgpu") throw error;
        chosen = distrusted(chosen, error);
      }
    }
    if (chosen.kind === "cpu") engine = await Engine.load(parts, "cpu");
    check(signal);

    let keepReason = null;
    try {
      if (keep) store = await Store.open(keep);
    } catch (error) {
      keepReason = describe(error);
    }
    const voice = hold(engine.base_voice(), engine.hash.slice(0, 16));
    return { device: chosen, hash: engine.hash, base: voice, prompts: promptList, module, keeps: store !== null, keepReason, cached };
  },

  /** @param {{ clips: Clip[], consent?: { text: string, recording?: Omit<Clip, "text"> }, iterations?: number, seed?: number, precision?: string, preview?: string, pictures?: boolean }} args
   * @param {Context} context */
  async clone({ clips, consent: given, iterations, seed, precision, preview, pictures = false }, context) {
    steering = { paused: false, preview: preview ?? null };
    runUnkept = false;
    context.progress({ status: "aligning" });
    await breathe();
    check(context.signal);
    const consent = await consentOf(given);
    const tuner = await engine.tuner(clips, iterations, seed, precision);
    await forgetTraining(); // the voice of the last one stays until this one's is there
    await keepOfRun("clips", { clips, consent }, context);
    return train(tuner, consent, pictures, context);
  },

  /** Goes on from the last checkpoint that was kept. @param {{ preview?: string, pictures?: boolean }} args @param {Context} context */
  async resume({ preview, pictures = false }, context) {
    const [kept, checkpoint] = await Promise.all([store?.get("run", "clips"), store?.get("run", "checkpoint")]);
    if (!kept || !checkpoint) throw new OwnvoiceError("nothing-kept", "no training is kept to go on with");
    steering = { paused: false, preview: preview ?? null };
    runUnkept = false;
    context.progress({ status: "aligning" });
    await breathe();
    return train(await engine.resume(kept.clips, checkpoint.bytes), kept.consent, pictures, context);
  },

  /** Compiles what a training runs, on a graphics card: the CPU has nothing to prepare. */
  async prepare() {
    if (chosen.kind === "webgpu") await (prepared ??= engine.prepare());
  },

  /** @param {{ runs: number }} args @param {Context} context */
  async profile({ runs }, context) {
    const counter = chosen.kind === "webgpu" ? countLaunches() : null;
    try {
      return await engine.profile(runs, () => counter?.launches ?? null, async (module, modules) => {
        context.progress({ module, modules });
        await breathe();
        return !context.signal.aborted;
      });
    } finally {
      counter?.end();
    }
  },

  /** Changes a training under way. @param {Partial<Steering>} change */
  steer: (change) => void Object.assign(steering, change),

  /** @param {{ voice: number, text: string, seed?: number }} args @param {Context} context */
  async say({ voice, text, seed }, context) {
    const speech = await held(voice).say(text, seed, each(context));
    check(context.signal);
    return new Transfer(speech, [speech.samples.buffer, speech.mel.data.buffer, speech.durations.buffer]);
  },

  /** @param {{ text: string }} args */
  parts: ({ text }) => engine.parts(text),

  /** @param {{ voice: number, clips: Clip[] }} args @param {Context} context */
  similarity: ({ voice, clips }, context) => held(voice).similarity(clips, each(context)),

  /** @param {{ voice: number }} args @param {Context} context */
  async save({ voice }, { signal }) {
    await breathe();
    check(signal);
    const bytes = await held(voice).save();
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
  release({ voice }) {
    voices.get(voice)?.free();
    voices.delete(voice);
  },

  /** @param {{ samples: Float32Array, sampleRate: number, text?: string }} args @param {Context} context */
  async checkClip({ samples, sampleRate, text }, { signal }) {
    await breathe();
    check(signal);
    return engine.checkClip(samples, sampleRate, text);
  },

  /** Bytes of the program's memory, which never shrinks. */
  memory: () => memory.buffer.byteLength,

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

  /** What is left of the last training: where it stood, or the voice it made. */
  async run() {
    const [checkpoint, voice] = await Promise.all([store?.get("run", "checkpoint"), store?.get("run", "voice")]);
    return { checkpoint: checkpoint ? { iteration: checkpoint.iteration, iterations: checkpoint.iterations } : null, voice: voice?.bytes ?? null };
  },

  keptBytes: () => store?.bytes() ?? 0,


  async forgetAll() {
    await Promise.all([store?.clear("recordings"), store?.clear("run")]);
  },
});

/** Counts what is launched on the graphics card from now on. */
function countLaunches() {
  const names = /** @type {const} */ (["dispatchWorkgroups", "dispatchWorkgroupsIndirect"]);
  const { prototype } = GPUComputePassEncoder;
  const before = names.map((name) => prototype[name]);
  const counter = { launches: 0, end: () => names.forEach((name, index) => Object.assign(prototype, { [name]: before[index] })) };
  for (const name of names) {
    const launch = /** @type {(...args: any[]) => undefined} */ (prototype[name]);
    prototype[name] = function (/** @type {any[]} */ ...args) {
      counter.launches += 1;
      return launch.apply(this, args);
    };
  }
  return counter;
}

/** An engine on the graphics card that has computed what the CPU computes. @param {import("../pkg/ownvoice_web.js").BaseParts} parts */
async function trusted(parts) {
  const candidate = await Engine.load(parts, "webgpu");
  return /** @type {const} */ ([candidate, await candidate.selfTest(parts)]);
}

/** @template T @param {Promise<T>} promise @param {number} seconds @returns {Promise<T>} */
function inTime(promise, seconds) {
  const late = new Promise((_, reject) => setTimeout(() => reject(new Error(`it gave no answer within ${seconds} s`)), seconds * 1000));
  return Promise.race([promise, /** @type {Promise<never>} */ (late)]);
}

/** @param {string} text */
function parseManifest(text) {
  try {
    const manifest = JSON.parse(text);
    for (const part of ["weights", "lexicon", "aligner", "vocoder"]) {
      if (part === "vocoder" && !manifest.files.vocoder) continue; // a base without one speaks through Griffin-Lim
      const { path, bytes, sha256: hash } = manifest.files[part];
      if (typeof path !== "string" || typeof bytes !== "number" || typeof hash !== "string") throw new Error(`files.${part} lacks path, bytes or sha256`);
    }
    return manifest;
  } catch (error) {
    throw new OwnvoiceError("base-corrupt", `the manifest of the base voice cannot be read: ${/** @type {Error} */ (error).message}`);
  }
}

/** The program comes as its gzip, so that it is small on every host; one that a host has unpacked already is as good.
 * @param {string} url @param {AbortSignal} signal @param {(loadedBytes: number) => void} onBytes */
async function compile(url, signal, onBytes) {
  const response = await get(url, signal);
  try {
    const packed = await counted(response, onBytes).blob();
    const [first] = new Uint8Array(await packed.slice(0, 1).arrayBuffer());
    const GZIP = 0x1f;
    const stream = first === GZIP ? packed.stream().pipeThrough(new DecompressionStream("gzip")) : packed.stream();
    return await WebAssembly.compileStreaming(new Response(stream, { headers: { "content-type": "application/wasm" } }));
  } catch (error) {
    check(signal);
    throw new OwnvoiceError("download-failed", `the program could not be compiled: ${/** @type {Error} */ (error).message}`);
  }
}
