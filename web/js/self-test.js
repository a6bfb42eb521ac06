// Loads the engine on a device and compares its results with the CPU's.

import { Engine } from "../pkg/ownvoice_web.js";
import { rejected } from "./device.js";
import { OwnvoiceError } from "./errors.js";

/** @import { BaseParts } from "../pkg/ownvoice_web.js" */
/** @import { Device } from "./device.js" */

// Longest wait for an adapter that hangs, unless WebGPU was requested.
const SELF_TEST_SECONDS = 90;

/**
 * Returns the engine and its device. The CPU replaces an adapter that fails the self-test, unless WebGPU was requested. Throws `device-lost` where the adapter
 * is lost or hangs: a module that waits for it can compute nothing more, so that the CPU needs another worker.
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
