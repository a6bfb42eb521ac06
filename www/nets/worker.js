// The worker of the page of things, which owns its WebAssembly and its storage. Each method answers one call of the page.

import { compile, fetchBase, fetchManifest, inFolder } from "../js/download.js";
import { OwnvoiceError } from "../js/errors.js";
import { Transfer, betweenParts, serve, yieldToMessages } from "../js/rpc.js";
import { Store, trainingLock } from "../js/store.js";
import init, { NetBase } from "./pkg/ownvoice_web_nets.js";
import { STORE } from "./store.js";

/** @import { Context } from "../js/rpc.js" */
/** @import { NetNamed, NetTuning, TunedNet } from "./pkg/ownvoice_web_nets.js" */
/** @import { Picture } from "./pictures.js" */

/** A thing with its pictures as the net sees them, three bytes per pixel. @typedef {{ id: string, name: string, pictures: Uint8Array<ArrayBuffer>[] }} Thing */
/** What a thing is called. @typedef {{ id: string, name: string }} Called */
/** A net that has learned. @typedef {{ tuning: NetTuning, bytes: Uint8Array<ArrayBuffer> }} Learned */
/** What the last visit left. @typedef {{ side: number, isKept: boolean, things: Thing[], learned: Learned | null, interrupted: Called[] | null }} Stored */

/** A learning that may be interrupted, with the last state of it. @typedef {{ called: Called[], checkpoint: Uint8Array<ArrayBuffer> | null }} Run */

/** Iterations between two checkpoints. */
const CHECKPOINT_EVERY = 25;
/** The least time between two reports. */
const REPORT_MS = 50;
const NET = "net";
const RUN = "run";

/** @type {NetBase} */
let base;
/** @type {Store | null} */
let store = null;
/** @type {Map<string, Thing>} */
const things = new Map();
/** The net that has learned. @type {TunedNet | null} */
let tuned = null;

const methods = {
  /** Starts, and returns what was stored. @param {{ base: string, wasmUrl: string }} args Folder of the weights, address of the program. @param {Context} context @returns {Promise<Stored>} */
  async load({ base: folder, wasmUrl }, { signal, progress }) {
    const files = inFolder(folder);
    const manifest = await fetchManifest(files, signal);
    const [module, { parts, cached }] = await Promise.all([
      compile(wasmUrl, signal, (loadedBytes) => progress({ status: "fetching", what: "program", loadedBytes })),
      fetchBase(files, manifest, ["weights"], true, [], signal, (loadedBytes, totalBytes) => progress({ status: "fetching", what: "base", loadedBytes, totalBytes })),
    ]);
    await cached;
    progress({ status: "starting" });
    await init({ module_or_path: module });
    base = new NetBase(parts.weights);
    store = await Store.open(STORE).catch(() => null);
    for (const thing of (await store?.all("recordings")) ?? []) things.set(thing.id, thing);
    /** @type {Run | undefined} */
    const run = await store?.get("run", RUN);
    return { side: base.side, isKept: store !== null, things: [...things.values()], learned: await storedNet(), interrupted: run?.called ?? null };
  },

  /** Names a thing, which may be new. @param {Called} called */
  async call({ id, name }) {
    await change({ ...(things.get(id) ?? { pictures: [] }), id, name });
  },

  /** Adds pictures to a thing, and returns them as the net sees them. @param {{ id: string, pictures: Picture[] }} args */
  async addPictures({ id, pictures }) {
    const added = pictures.map(({ width, height, rgba }) => /** @type {Uint8Array<ArrayBuffer>} */ (base.picture(width, height, new Uint8Array(rgba.buffer))));
    const thing = things.get(id) ?? { id, name: "", pictures: [] };
    await change({ ...thing, pictures: [...thing.pictures, ...added] });
    return added;
  },

  /** @param {{ id: string }} args */
  async remove({ id }) {
    await store?.remove("recordings", id);
    things.delete(id);
  },

  /**
   * Learns to name things; where it is stopped early, the best net so far is kept.
   * @param {{ called: Called[], isResumed: boolean }} args `isResumed` continues the learning that was interrupted. @param {Context} context @returns {Promise<Transfer<Learned>>}
   */
  async learn({ called, isResumed }, context) {
    const learned = await locked(() => learn(called, isResumed, context));
    return new Transfer(learned, [learned.bytes.buffer]);
  },

  /** Names a picture; null where nothing has learned yet. @param {Picture} picture @returns {Promise<NetNamed | null>} */
  look: async ({ width, height, rgba }) => tuned && tuned.name(width, height, new Uint8Array(rgba.buffer)),

  /** Opens a net that has learned. @param {{ bytes: Uint8Array<ArrayBuffer> }} args @returns {Promise<Transfer<Learned>>} */
  async open({ bytes }) {
    const opened = base.open(bytes);
    await store?.put("kept", NET, bytes).catch(unlessFull);
    tuned?.free();
    tuned = opened;
    return new Transfer({ tuning: opened.tuning, bytes }, [bytes.buffer]);
  },

  /** Forgets everything; the page has deleted what was stored. */
  forget() {
    things.clear();
    tuned?.free();
    tuned = null;
  },
};
/** @typedef {typeof methods} NetMethods */

serve(methods);

/** Stores a thing, then changes it here. @param {Thing} thing */
async function change(thing) {
  await store?.put("recordings", thing.id, thing);
  things.set(thing.id, thing);
}

/** The net can be saved as a file where it cannot be stored. @param {unknown} error */
function unlessFull(error) {
  if (/** @type {OwnvoiceError} */ (error).code !== "storage-full") throw error;
}

/** Opens the net that was stored. @returns {Promise<Learned | null>} */
async function storedNet() {
  const bytes = await store?.get("kept", NET);
  if (!bytes) return null;
  try {
    tuned = base.open(bytes);
    return { tuning: tuned.tuning, bytes };
  } catch (error) {
    console.info(error); // of another version of this page
    return null;
  }
}

/** Calls `work` while no other tab learns; fails with `training-elsewhere` where one does. @template T @param {() => Promise<T>} work @returns {Promise<T>} */
function locked(work) {
  return navigator.locks.request(trainingLock(STORE), { ifAvailable: true }, (lock) => {
    if (!lock) throw new OwnvoiceError("training-elsewhere", "another tab is learning");
    return work();
  });
}

/** @param {Called[]} called @param {boolean} isResumed @param {Context} context @returns {Promise<Learned>} */
async function learn(called, isResumed, { signal, stopSignal, progress }) {
  const lessons = base.lessons(called.map(({ name }) => name));
  called.forEach(({ id }, index) => things.get(id)?.pictures.forEach((picture) => lessons.add(index, picture)));
  /** @type {Run | undefined} */
  const run = isResumed ? await store?.get("run", RUN) : undefined;
  const keep = async (/** @type {Uint8Array | null} */ checkpoint) => {
    await yieldToMessages(signal);
    await store?.put("run", RUN, { called, checkpoint }).catch(unlessFull);
  };
  try {
    if (!run) await keep(null);
    await yieldToMessages(signal);
    const tuner = await base.tuner(lessons, betweenParts({ signal, progress }, (done, of) => ({ status: "looking", done, of })));
    try {
      if (run?.checkpoint) tuner.restore(run.checkpoint);
      progress({ status: "begun", before: tuner.before });
      let reportedMs = 0;
      /** The losses since the last report. @type {number[]} */
      let losses = [];
      for (let stop = null; !stop && !stopSignal.aborted; ) {
        const step = await tuner.step();
        ({ stop } = step);
        losses.push(step.loss);
        await yieldToMessages(signal);
        if (stop || step.heldOut || performance.now() - reportedMs > REPORT_MS) {
          reportedMs = performance.now();
          progress({ status: "step", ...step, losses });
          losses = [];
        }
        if (step.iteration % CHECKPOINT_EVERY === 0) await keep(/** @type {Uint8Array<ArrayBuffer>} */ (await tuner.checkpoint()));
      }
    } catch (error) {
      tuner.free();
      throw error;
    }
    const net = await tuner.finish();
    const bytes = /** @type {Uint8Array<ArrayBuffer>} */ (await net.save());
    await yieldToMessages(signal);
    await store?.put("kept", NET, bytes).catch(unlessFull);
    tuned?.free();
    tuned = net;
    return { tuning: net.tuning, bytes };
  } finally {
    // A closed tab does not get here: its learning is resumed.
    await store?.remove("run", RUN);
  }
}
