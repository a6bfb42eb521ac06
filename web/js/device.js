// Which device computes, and why, in words. Never a silent fallback.

import { OwnvoiceError } from "./rpc.js";

/**
 * @typedef {object} Device
 * @property {"webgpu" | "cpu"} kind
 * @property {string} name What the browser calls it.
 * @property {string} reason Why this one, in a sentence.
 * @property {"asked" | "adapter-found" | "no-webgpu" | "no-adapter" | "software-adapter" | "adapter-failed"} code The reason, for programs.
 */

const CPU = "CPU (WebAssembly SIMD)";

// Renderers that draw on the CPU: slower there than the CPU path itself.
const SOFTWARE = /swiftshader|llvmpipe|lavapipe|software|basic render|cpu/i;

/** @param {Device["code"]} code @param {string} reason @returns {Device} */
export const cpu = (code, reason) => ({ kind: "cpu", name: CPU, code, reason });

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
  if (wanted === "webgpu") return { kind: "webgpu", name, code: "asked", reason: "WebGPU was asked for." };
  const software = adapter.info?.isFallbackAdapter || adapter.isFallbackAdapter || SOFTWARE.test(`${name} ${architecture}`);
  if (software) return cpu("software-adapter", `The only graphics adapter is a software one (${name}). The CPU itself is faster and is used instead.`);
  return { kind: "webgpu", name, code: "adapter-found", reason: "A graphics adapter was found." };
}
