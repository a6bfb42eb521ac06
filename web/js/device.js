// Which device computes, and why, in words. Never a silent fallback.

import { OwnvoiceError } from "./rpc.js";

/**
 * @typedef {object} Device
 * @property {"webgpu" | "cpu"} kind
 * @property {string} name What the browser calls it.
 * @property {string} reason Why this one, in a sentence.
 * @property {"asked" | "adapter-found" | "no-webgpu" | "no-adapter" | "software-adapter" | "adapter-failed" | "adapter-wrong"} code The reason, for programs.
 * @property {string} adapter The graphics adapter that was found, whether or not it is used; empty without one.
 * @property {number} cores Of the CPU, on which voices are learnt; one where a graphics adapter learns.
 * @property {{ deviation: number, tolerance: number } | null} selfTest How far the adapter's results were from the CPU's before it was trusted; relative.
 */

const CPU = "CPU (WebAssembly SIMD)";

// Renderers that draw on the CPU: slower there than the CPU path itself.
const SOFTWARE = /swiftshader|llvmpipe|lavapipe|software|basic render|cpu/i;

/** @param {Device["code"]} code @param {string} reason @param {string} [adapter] @returns {Device} */
export const cpu = (code, reason, adapter = "") => ({ kind: "cpu", name: CPU, code, reason, adapter, cores: 1, selfTest: null });

/** Why a graphics adapter that was found is not used. @param {string} name @param {unknown} error @returns {Device} */
export function distrusted(name, error) {
  const { code, message } = /** @type {{ code?: string, message: string }} */ (error);
  return code === "device-wrong"
    ? cpu("adapter-wrong", `The graphics adapter ${name} failed the self-test (${message}). The CPU is used instead.`, name)
    : cpu("adapter-failed", `The graphics adapter ${name} did not work (${message}). The CPU is used instead.`, name);
}

/** Hears when a device of this thread is lost. The program keeps its device to itself, so it is met where it is made. @param {(message: string) => void} onLost */
export function hearLosses(onLost) {
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
 * @param {"auto" | "webgpu" | "cpu"} wanted
 * @returns {Promise<Device>}
 */
export async function chooseDevice(wanted) {
  if (wanted === "cpu") return cpu("asked", "The CPU was asked for.");
  if (wanted !== "auto" && wanted !== "webgpu") throw new OwnvoiceError("option-invalid", `device ${JSON.stringify(wanted)} is none of auto, webgpu, cpu`);

  const gpu = /** @type {any} */ (navigator).gpu;
  const adapter = await gpu?.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter) {
    const [code, reason] = gpu
      ? /** @type {const} */ (["no-adapter", "This browser has WebGPU but found no graphics adapter for it."])
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
