// Loads the engine, and reloads it after a crash or a lost device.

import { OwnvoiceError, load } from "./js/index.js";
import { endSpeaking } from "./speaking.js";
import { CONSENT, SENTENCES, STORAGE, checked, initial, isLost, measureUsage, state, update } from "./state.js";
import { number, t } from "./strings.js";
import { train } from "./training.js";

/** @import { LoadProgress, Studio } from "./js/index.js" */
/** @import { Failure, State } from "./state.js" */

/** Failures in a row, without a checkpoint between them, after which the engine is not restarted. */
const MAX_ENDS = 3;
/** Lost graphics adapters after which the CPU is used. */
const MAX_LOSSES = 2;

/** @type {Record<"program" | "base", { loaded: number, total: number }>} The size of the program is known only at its end. */
const fetched = { program: { loaded: 0, total: 0 }, base: { loaded: 0, total: 0 } };

/** @param {LoadProgress} progress */
function loading(progress) {
  if (progress.status === "starting") return update({ load: { status: "loading", words: t("load.starting"), part: null } });
  const mb = (/** @type {number} */ bytes) => number(bytes / 1e6, 1);
  fetched[progress.what] = { loaded: progress.loadedBytes, total: "totalBytes" in progress ? progress.totalBytes : 0 };
  const { program, base } = fetched;
  if (base.loaded < base.total) {
    update({ load: { status: "loading", words: t("load.base", { mb: mb(base.loaded), total: mb(base.total) }), part: base.loaded / base.total } });
  } else {
    update({ load: { status: "loading", words: t("load.program", { mb: mb(program.loaded) }), part: null } });
  }
}

/** A worker obeys the policy of its own response, which many hosts do not send; one that is imported by a script of the page's own inherits the page's policy. */
const workerUrl = URL.createObjectURL(new Blob([`import ${JSON.stringify(new URL("js/worker.js", document.baseURI))};`], { type: "text/javascript" }));

/** The base of the page's address, which anybody can write: a folder of this host only. @param {string} asked */
function baseUrl(asked) {
  const url = new URL(asked, document.baseURI);
  if (url.origin !== location.origin) throw new OwnvoiceError("base-elsewhere", `${url.host} is another host`);
  return url;
}

const stopping = new AbortController();
let started = Promise.resolve();

/** Ends a running load. */
export function stopLoading() {
  if (state.load.status === "loading") stopping.abort();
  return started;
}

export const start = () => (started = begin());

async function begin() {
  const asked = new URLSearchParams(location.search);
  const device = /** @type {"auto" | "webgpu" | "cpu"} */ (asked.get("device") ?? "auto");
  /** @type {Studio | undefined} */
  let studio;
  try {
    const base = baseUrl(asked.get("base") ?? "models/base/");
    const { signal } = stopping;
    studio = await load({ base, device, prompts: "models/prompts.json", microphone: true, storage: STORAGE, workerUrl, onProgress: loading, signal });
    update({ studio });
    await restore(studio);
    studio.ended.then(recover);
  } catch (error) {
    if (stopping.signal.aborted) studio?.close();
    update({ load: { status: "failed", error: stopping.signal.aborted ? { code: "deleted", message: "" } : /** @type {Failure} */ (error) } });
    await measureUsage();
  }
}

/** Restores recordings, training and voice of an earlier visit. @param {Studio} studio */
async function restore(studio) {
  const recordings = new Map();
  /** @type {Partial<State>} */
  let left = {};
  let { training } = state;
  if (studio.storage) {
    try {
      for (const recording of await studio.storage.recordings()) {
        recordings.set(recording.id, await checked(recording, "recording"));
        stopping.signal.throwIfAborted();
      }
      const { checkpoint, voice: file, otherVoices } = await studio.storage.training();
      training = { ...training, resumable: checkpoint };
      left = { otherVoices };
      if (file) {
        left = { ...left, voice: await studio.open(file), voiceFile: file };
        training = { ...training, status: "opened" };
      }
    } catch (error) {
      // What cannot be read now may be read by the next visit: the page works without it.
      if (isLost(/** @type {Failure} */ (error))) throw error;
      training = { ...training, error: /** @type {Failure} */ (error) };
    }
  }
  stopping.signal.throwIfAborted();
  const prompts = studio.prompts.length ? [CONSENT, ...studio.prompts.slice(0, SENTENCES)] : [];
  const firstOpen = prompts.findIndex(({ id }) => !recordings.get(id)?.report);
  update({ ...left, prompts, recordings, training, current: Math.max(0, firstOpen), load: { status: "ready" } });
  await measureUsage();
}

let ends = 0;
let losses = 0;
let lastIteration = 0;

/** Replaces an engine that has ended, and restores its voice and training. @param {Failure} reason */
async function recover(reason) {
  if (!isLost(reason)) return;
  await new Promise((resolve) => setTimeout(resolve)); // pending calls reject first
  const { studio: old, training } = state;
  if (!old) return;
  const iteration = training.step?.iteration ?? 0;
  // A checkpoint was reached since the last failure: it is not the same one again.
  if (iteration >= lastIteration + 25) ends = 0;
  lastIteration = iteration;
  ends += 1;
  losses += reason.code === "device-lost" ? 1 : 0;
  const code = reason.code ?? "";
  const toCpu = losses >= MAX_LOSSES && old.device.kind === "webgpu";
  if (ends > MAX_ENDS) return update({ engine: { status: "failed", code, toCpu }, training: { ...state.training, status: "idle" } });
  update({ engine: { status: "restarting", code, toCpu } });
  try {
    const studio = await old.restart(toCpu ? { device: "cpu" } : {});
    update({ studio });
    studio.ended.then(recover);
    const { deletions, voiceFile } = state;
    const stored = await studio.storage?.training();
    const checkpoint = stored?.checkpoint ?? null;
    // Its checkpoint was deleted when it was complete.
    const learned = state.training.status === "learned" && !checkpoint ? stored?.voice : null;
    const file = learned ?? voiceFile;
    const voice = file && (await studio.open(file));
    if (deletions !== state.deletions) {
      await voice?.close();
      return update({ engine: { status: "restarted", code, toCpu } });
    }
    update({ voice, voiceFile: file, engine: { status: "restarted", code, toCpu }, training: { ...state.training, resumable: checkpoint } });
    if (learned) {
      endSpeaking("mine");
      update({ likeness: initial.likeness, training: { ...state.training, status: "done" } });
    }
    await checkInterrupted();
    if (["interrupted", "learned"].includes(state.training.status)) await train(checkpoint ? "resume" : "clone");
  } catch (error) {
    // Lost again while it started: the new studio, if there is one, calls `recover`.
    if (!isLost(/** @type {Failure} */ (error))) console.error(error);
    update({ engine: { status: "failed", code, toCpu }, training: { ...state.training, status: "idle" } });
  }
}

/** Repeats checks that the old engine did not finish. */
async function checkInterrupted() {
  for (const clip of state.recordings.values()) {
    if (isLost(clip.error)) update({ recordings: new Map(state.recordings).set(clip.id, await checked(clip, "recording")) });
  }
  for (const clip of state.files) {
    if (!isLost(clip.error)) continue;
    const verdict = await checked(clip, "file");
    update({ files: state.files.map((now) => (now.id === clip.id ? verdict : now)) });
  }
}
