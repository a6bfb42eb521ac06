// One worker with a base loaded in it.

import { inFolder } from "./download.js";
import { OwnvoiceError, isLost, throwIfAborted } from "./errors.js";
import { Microphone } from "./microphone.js";
import { Remote } from "./rpc.js";
import { startWorker } from "./start.js";

/** @import { Addresses } from "./download.js" */
/** @import { FailedAdapter, LeaderMethods, Testing } from "./leader.js" */
/** @import { BaseFiles, LoadOptions } from "./options.js" */
/** @import { LoadProgress } from "./reports.js" */
/** @import { Result } from "./rpc.js" */

/**
 * @typedef {object} Session
 * @property {Remote<LeaderMethods>} remote
 * @property {Result<LeaderMethods, "load">} loaded
 * @property {Microphone | null} microphone
 */
/**
 * What a new session takes over from the one before.
 * @typedef {object} Inherited
 * @property {WebAssembly.Module} [module]
 * @property {Microphone | null} [microphone]
 * @property {FailedAdapter} [failed] An adapter that is not to be used again.
 */

/** Starts a worker and loads the base in it. @param {LoadOptions & { baseHash?: string }} options `baseHash` names a kept base in place of `base`. @param {Inherited} [inherited] @returns {Promise<Session>} */
export async function startSession(options, inherited = {}) {
  const { base, device = "auto", prompts, microphone = false, storage, baseHash, cores, cache = true, onProgress, signal, workerUrl, wasmUrl, workletUrl } = options;
  const pageUrl = globalThis.document?.baseURI ?? import.meta.url;
  const absolute = (/** @type {string | URL} */ url) => new URL(url, pageUrl).href;
  // Bundlers look for exactly these expressions. What they make of them may be a path, which a worker from a blob cannot resolve.
  const wasm = absolute(wasmUrl ?? new URL("../pkg/ownvoice_web_bg.wasm.gz", import.meta.url).href);
  // Without the query, Vite would inline so small a file as a data: URL, which policies forbid.
  const worklet = absolute(workletUrl ?? new URL("./capture-worklet.js?no-inline", import.meta.url).href);

  const files = addresses(base ?? (await installedBase()), absolute);
  throwIfAborted(signal);
  const { worker, started } = startWorker(workerUrl && absolute(workerUrl));
  /** @type {Remote<LeaderMethods>} */
  const remote = new Remote(worker);
  /** The adapter under test. @type {string | null} */
  let adapter = null;
  const report = (/** @type {LoadProgress | Testing} */ progress) => (progress.status === "testing" ? (adapter = progress.adapter) : onProgress?.(progress));
  try {
    const { module, failed } = inherited;
    const args = { base: files, device, prompts: prompts && absolute(prompts), wasmUrl: wasm, module, storage, baseHash, cache, cores: coresFor(cores, navigator), failed };
    const loaded = await remote.call("load", args, { signal, onProgress: report });
    const capture = inherited.microphone ?? (microphone ? await Microphone.prepare(loaded.module, worklet) : null);
    throwIfAborted(signal);
    return { remote, loaded, microphone: capture };
  } catch (error) {
    remote.close();
    // An adapter that is lost while it is tested leaves the CPU, which needs another worker.
    if (device === "auto" && adapter !== null && isLost(error)) return startSession(options, { ...inherited, failed: { adapter, message: /** @type {OwnvoiceError} */ (error).message } });
    throw error;
  } finally {
    started();
  }
}

/** Returns the files of the package `ownvoice-base`; fails with `base-missing` where it is not installed. @returns {Promise<BaseFiles>} */
async function installedBase() {
  let reason = "an empty module is in its place";
  try {
    // A literal within `try`, for which bundlers look: where the package is not installed, they build nevertheless, and it fails here.
    // @ts-ignore
    const { default: files } = await import("ownvoice-base");
    if (files?.manifest) return files;
  } catch (error) {
    reason = /** @type {Error} */ (error).message;
  }
  throw new OwnvoiceError("base-missing", `there is no base voice: install the package ownvoice-base, or pass the option base to load (${reason})`);
}

/** Returns the absolute addresses of the files of a base. @param {string | URL | BaseFiles} base @param {(url: string | URL) => string} absolute @returns {Addresses} */
function addresses(base, absolute) {
  if (typeof base === "string" || base instanceof URL) return inFolder(absolute(`${base}`.replace(/\/?$/, "/")));
  if (!base.manifest) throw new OwnvoiceError("option-invalid", "the option base is neither the address of a folder nor the addresses of files, among them the manifest");
  const given = Object.entries(base).filter(([, url]) => url !== undefined);
  return /** @type {Addresses} */ (Object.fromEntries(given.map(([part, url]) => [part, absolute(url)])));
}

// The eight windows of an iteration are divided among the cores. Each helper holds a WebAssembly module and a shard in memory, of which phones and tablets have
// little; with less than MIN_MEMORY GiB there are no helpers.
const MAX_CORES = 4;
const MAX_CORES_OF_A_PHONE = 2;
const MIN_MEMORY = 4;

/** The properties of `navigator` that decide. @typedef {{ hardwareConcurrency?: number, deviceMemory?: number, userAgent?: string, maxTouchPoints?: number }} Machine */

/** Returns the number of cores that train, the worker's own included. It is determined on the page: a worker has no access to the kind of the screen. @param {number | undefined} wanted @param {Machine} machine */
export function coresFor(wanted, { hardwareConcurrency = 1, deviceMemory = MIN_MEMORY, userAgent = "", maxTouchPoints = 0 }) {
  if (wanted !== undefined) return Math.min(wanted, MAX_CORES);
  if (deviceMemory < MIN_MEMORY) return 1;
  // An iPad reports itself as a Mac, and no Mac has a touch screen.
  const mobile = /Mobi|Android/.test(userAgent) || (/Macintosh/.test(userAgent) && maxTouchPoints > 1);
  return Math.min(hardwareConcurrency, mobile ? MAX_CORES_OF_A_PHONE : MAX_CORES);
}
