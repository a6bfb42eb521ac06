// The worker: the one owner of WebAssembly, of the device and of what is kept. It holds no maths; it fetches, calls the engine and answers.

import init, { Engine, check_clip, read_wav } from "../pkg/ownvoice_web.js";
import { chooseDevice, cpu } from "./device.js";
import { counted, get, verified } from "./download.js";
import { OwnvoiceError, Transfer, breathe, serve } from "./rpc.js";
import { Store } from "./store.js";

/** @import { Tuner, Voice } from "../pkg/ownvoice_web.js" */
/** @import { Context } from "./rpc.js" */
/** @typedef {{ samples: Float32Array, sampleRate: number, text: string }} Clip */

// A closed tab loses at most this much training.
const CHECKPOINT_ITERATIONS = 25;

/** @type {Engine} */
let engine;
/** @type {Store | null} */
let store = null;
/** @type {Map<number, Voice>} */
const voices = new Map();
let nextVoice = 1;

/** @param {Voice} voice */
function hold(voice) {
  const handle = nextVoice++;
  voices.set(handle, voice);
  return { handle, info: voice.info() };
}

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

/** Runs a fine-tuning to its end, early end or cancellation. The worker answers other calls between two iterations.
 * @param {Tuner} tuner @param {Context} context */
async function train(tuner, { signal, stopSignal, progress }) {
  try {
    for (;;) {
      const step = await tuner.step();
      progress({ status: "training", ...step });
      await breathe();
      if (signal.aborted) await store?.clear("run");
      check(signal);
      if (step.stop || stopSignal.aborted) break;
      if (store && step.iteration % CHECKPOINT_ITERATIONS === 0) {
        const { iteration, iterations } = step;
        await store.put("run", "checkpoint", { bytes: await tuner.checkpoint(), iteration, iterations });
      }
    }
  } catch (error) {
    tuner.free();
    throw error;
  }
  progress({ status: "finishing" });
  const voice = await tuner.finish(); // frees the tuner
  if (store) {
    await store.clear("run");
    await store.put("run", "voice", await voice.save());
  }
  return hold(voice);
}

serve({
  /** @param {{ base: string, device: "auto" | "webgpu" | "cpu", prompts?: string, wasmUrl: string, keep?: string }} args @param {Context} context */
  async load({ base, device: wanted, prompts, wasmUrl, keep }, { signal, progress }) {
    const device = chooseDevice(wanted);
    device.catch(() => {}); // looked at below: a missing adapter need not wait for the download, nor go unhandled during it
    const manifestText = await (await get(new URL("manifest.json", base), signal)).text();
    const manifest = parseManifest(manifestText);
    await device;

    const parts = /** @type {const} */ (["weights", "lexicon", "aligner"]);
    const loaded = new Map();
    const totalBytes = parts.reduce((sum, part) => sum + manifest.files[part].bytes, 0);
    const count = (/** @type {string} */ part) => (/** @type {number} */ loadedBytes) => {
      loaded.set(part, loadedBytes);
      progress({ status: "fetching", what: "base", loadedBytes: [...loaded.values()].reduce((a, b) => a + b, 0), totalBytes });
    };
    const [module, promptList, weights, lexicon, aligner] = await Promise.all([
      compile(wasmUrl, signal, (loadedBytes) => progress({ status: "fetching", what: "program", loadedBytes })),
      prompts ? get(prompts, signal).then((response) => response.json()) : [],
      ...parts.map((part) => verified(new URL(manifest.files[part].path, base), manifest.files[part], signal, count(part))),
    ]);

    progress({ status: "starting" });
    await init({ module_or_path: module });
    const files = { manifest: manifestText, weights, lexicon, aligner };
    let chosen = await device;
    try {
      engine = await Engine.load(files, chosen.kind);
    } catch (error) {
      if (chosen.kind === "cpu" || wanted === "webgpu") throw error;
      chosen = cpu("adapter-failed", `The graphics adapter ${chosen.name} did not work (${/** @type {Error} */ (error).message}). The CPU is used instead.`);
      engine = await Engine.load(files, "cpu");
    }
    check(signal);

    let keepReason = null;
    try {
      if (keep) store = await Store.open(keep);
    } catch (error) {
      keepReason = /** @type {Error} */ (error).message;
    }
    return { device: chosen, hash: engine.hash, base: hold(engine.base_voice()), prompts: promptList, module, keeps: store !== null, keepReason };
  },

  /** @param {{ clips: Clip[], iterations?: number, seed?: number }} args @param {Context} context */
  async clone({ clips, iterations, seed }, context) {
    context.progress({ status: "aligning" });
    await breathe();
    check(context.signal);
    const tuner = await engine.tuner(clips, iterations, seed);
    if (store) {
      await store.clear("run");
      await store.put("run", "clips", clips);
    }
    return train(tuner, context);
  },

  /** Goes on from the last checkpoint that was kept. @param {{}} _ @param {Context} context */
  async resume(_, context) {
    const [clips, checkpoint] = await Promise.all([store?.get("run", "clips"), store?.get("run", "checkpoint")]);
    if (!clips || !checkpoint) throw new OwnvoiceError("nothing-kept", "no training is kept to go on with");
    context.progress({ status: "aligning" });
    await breathe();
    return train(await engine.resume(clips, checkpoint.bytes), context);
  },

  /** @param {{ voice: number, text: string, seed?: number }} args @param {Context} context */
  async say({ voice, text, seed }, { signal, progress }) {
    const goOn = async (/** @type {number} */ done, /** @type {number} */ sentences) => {
      progress({ status: "speaking", sentence: done + 1, sentences });
      await breathe();
      return !signal.aborted;
    };
    const speech = await held(voice).say(text, seed, goOn);
    check(signal);
    return new Transfer(speech, [speech.samples.buffer, speech.mel.data.buffer, speech.durations.buffer]);
  },

  /** @param {{ voice: number }} args */
  async save({ voice }) {
    const bytes = await held(voice).save();
    return new Transfer(bytes, [bytes.buffer]);
  },

  /** @param {{ bytes: Uint8Array }} args */
  open: ({ bytes }) => hold(engine.open(bytes)),

  /** @param {{ voice: number }} args */
  release({ voice }) {
    voices.get(voice)?.free();
    voices.delete(voice);
  },

  /** @param {{ samples: Float32Array, sampleRate: number }} args */
  checkClip: ({ samples, sampleRate }) => check_clip(samples, sampleRate),

  /** @param {{ bytes: Uint8Array }} args */
  readWav({ bytes }) {
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
    return { checkpoint: checkpoint ? { iteration: checkpoint.iteration, iterations: checkpoint.iterations } : null, voice: voice ?? null };
  },

  async forgetAll() {
    await Promise.all([store?.clear("recordings"), store?.clear("run")]);
  },
});

/** @param {string} text */
function parseManifest(text) {
  try {
    const manifest = JSON.parse(text);
    for (const part of ["weights", "lexicon", "aligner"]) {
      const { path, bytes, sha256: hash } = manifest.files[part];
      if (typeof path !== "string" || typeof bytes !== "number" || typeof hash !== "string") throw new Error(`files.${part} lacks path, bytes or sha256`);
    }
    return manifest;
  } catch (error) {
    throw new OwnvoiceError("base-corrupt", `the manifest of the base voice cannot be read: ${/** @type {Error} */ (error).message}`);
  }
}

/** The response itself goes to the compiler, so that the browser may keep the machine code; a copy of it is counted.
 * @param {string} url @param {AbortSignal} signal @param {(loadedBytes: number) => void} onBytes */
async function compile(url, signal, onBytes) {
  const response = await get(url, signal);
  const counting = counted(response.clone(), onBytes).arrayBuffer();
  try {
    const [module] = await Promise.all([WebAssembly.compileStreaming(response), counting]);
    return module;
  } catch (error) {
    check(signal);
    throw new OwnvoiceError("download-failed", `the program could not be compiled: ${/** @type {Error} */ (error).message}`);
  }
}
