// Chooses the device, compares its results with the CPU's, and states the reason: no fallback is silent.

import { Engine } from "../pkg/ownvoice_web.js";
import { OwnvoiceError } from "./errors.js";

/** @import { BaseParts } from "../pkg/ownvoice_web.js" */

/**
 * The outcome of an adapter's self-test.
 * @typedef {object} SelfTest
 * @property {number} deviation The largest relative difference from the CPU's results.
 * @property {number} tolerance The largest that is accepted.
 */
/**
 * The device in use, and the reason for it.
 * @typedef {object} Device
 * @property {"webgpu" | "cpu"} kind
 * @property {string} name The browser's name for it.
 * @property {string} reason Why it was chosen, in a sentence.
 * @property {"asked" | "adapter-found" | "no-webgpu" | "no-adapter" | "software-adapter" | "adapter-failed" | "adapter-wrong"} code The reason, for programs.
 * @property {string} adapter The graphics adapter that was found, used or not; empty without one.
 * @property {number} cores CPU cores that train; 1 on a GPU.
 * @property {SelfTest | null} selfTest Null on the CPU.
 */

const CPU = "CPU (WebAssembly SIMD)";

// Renderers on the CPU are slower than the CPU path itself.
const SOFTWARE = /swiftshader|llvmpipe|lavapipe|software|basic render|cpu/i;

/** @param {Device["code"]} code @param {string} reason @param {string} [adapter] @returns {Device} */
const cpu = (code, reason, adapter = "") => ({ kind: "cpu", name: CPU, code, reason, adapter, cores: 1, selfTest: null });

/** Returns the CPU, chosen in place of an adapter that failed. @internal @param {string} name @param {unknown} error @returns {Device} */
export function rejected(name, error) {
  const { code, message } = /** @type {{ code?: string, message: string }} */ (error);
  return code === "device-wrong"
    ? cpu("adapter-wrong", `The graphics adapter ${name} failed the self-test (${message}). The CPU is used instead.`, name)
    : cpu("adapter-failed", `The graphics adapter ${name} did not work (${message}). The CPU is used instead.`, name);
}

/** Calls `onLost` when a GPU device of this thread is lost. The device is internal to the WebAssembly module, so that its creation is intercepted. @internal @param {(message: string) => void} onLost */
export function onDeviceLost(onLost) {
  const adapter = /** @type {any} */ (globalThis).GPUAdapter?.prototype;
  if (!adapter) return;
  const { requestDevice } = adapter;
  adapter.requestDevice = async function (/** @type {any[]} */ ...options) {
    const device = await requestDevice.apply(this, options);
    device.lost.then((/** @type {{ reason: string, message: string }} */ { reason, message }) => onLost(message || reason));
    return device;
  };
}

/**
 * Chooses the device; fails with `no-adapter` where WebGPU is wanted and there is none.
 * @internal
 * @param {"auto" | "webgpu" | "cpu"} wanted
 * @returns {Promise<Device>}
 */
export async function chooseDevice(wanted) {
  if (wanted === "cpu") return cpu("asked", "The CPU was asked for.");
  if (wanted !== "auto" && wanted !== "webgpu") throw new OwnvoiceError("option-invalid", `device is ${JSON.stringify(wanted)}, but must be auto, webgpu or cpu`);

  const gpu = /** @type {any} */ (navigator).gpu;
  let adapter = null;
  let failure = "";
  try {
    adapter = await gpu?.requestAdapter({ powerPreference: "high-performance" });
  } catch (error) {
    failure = ` (${/** @type {Error} */ (error).message})`;
  }
  if (!adapter) {
    const [code, reason] = gpu
      ? /** @type {const} */ (["no-adapter", `This browser has WebGPU but found no graphics adapter for it${failure}.`])
      : /** @type {const} */ (["no-webgpu", "This browser does not offer WebGPU."]);
    if (wanted === "webgpu") throw new OwnvoiceError("no-adapter", reason);
    return cpu(code, `${reason} The CPU is used instead.`);
  }

  const { vendor = "", architecture = "", device = "", description = "" } = adapter.info ?? {};
  const name = description || [vendor, architecture, device].filter(Boolean).join(" ") || "WebGPU adapter";
  const webgpu = (/** @type {Device["code"]} */ code, /** @type {string} */ reason) => ({ kind: /** @type {const} */ ("webgpu"), name, code, reason, adapter: name, cores: 1, selfTest: null });
  if (wanted === "webgpu") return webgpu("asked", "WebGPU was asked for.");
  const software = adapter.info?.isFallbackAdapter || adapter.isFallbackAdapter || SOFTWARE.test(`${name} ${architecture}`);
  if (software) return cpu("software-adapter", `The only graphics adapter is a software one (${name}). The CPU itself is faster and is used instead.`, name);
  return webgpu("adapter-found", "A graphics adapter was found.");
}

// Longest wait for an adapter that hangs, unless WebGPU was requested.
const SELF_TEST_SECONDS = 90;

/**
 * Returns the engine and its device. The CPU replaces an adapter that fails the self-test, unless WebGPU was requested. Throws `device-lost` where the adapter
 * is lost or hangs: a module that waits for it can compute nothing more, so that the CPU needs another worker.
 * @internal
 * @param {BaseParts} parts @param {Device} device @param {boolean} requested Whether WebGPU was requested. @param {Promise<never>} lost Rejects when the adapter is lost.
 * @returns {Promise<{ engine: Engine, device: Device }>}
 */
export async function loadTested(parts, device, requested, lost) {
  if (device.kind === "cpu") return { engine: await Engine.load(parts, "cpu"), device };
  try {
    const { engine, selfTest } = await Promise.race([test(parts), lost, ...(requested ? [] : [timeout(SELF_TEST_SECONDS)])]);
    return { engine, device: { ...device, selfTest } };
  } catch (error) {
    if (requested || /** @type {{ code?: string }} */ (error).code === "device-lost") throw error;
    return { engine: await Engine.load(parts, "cpu"), device: rejected(device.name, error) };
  }
}

/** @param {BaseParts} parts */
async function test(parts) {
  const engine = await Engine.load(parts, "webgpu");
  return { engine, selfTest: await engine.selfTest(parts) };
}

/** @param {number} seconds @returns {Promise<never>} */
const timeout = (seconds) => new Promise((_, reject) => setTimeout(() => reject(new OwnvoiceError("device-lost", `the adapter did not answer within ${seconds} s`)), seconds * 1000));
