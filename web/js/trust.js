// An engine on the device that was chosen, if it computes what the CPU computes.

import { Engine } from "../pkg/ownvoice_web.js";
import { distrusted } from "./device.js";
import { OwnvoiceError } from "./rpc.js";

/** @import { BaseParts } from "../pkg/ownvoice_web.js" */
/** @import { Device } from "./device.js" */

// A graphics card that gives no answer must not keep a page from starting. One that was asked for by name is waited for.
const SELF_TEST_SECONDS = 90;

/**
 * The engine, and the device that it is on in the end: the CPU takes the place of an adapter that computes wrongly, unless that one was asked for. Fails with
 * `device-lost` where the adapter is lost meanwhile or gives no answer: what runs on it hangs, or has panicked, and the CPU is for another worker.
 * @param {BaseParts} parts @param {Device} device @param {boolean} asked @param {Promise<never>} lost Rejects when the adapter is.
 * @returns {Promise<{ engine: Engine, device: Device }>}
 */
export async function trusted(parts, device, asked, lost) {
  if (device.kind === "cpu") return { engine: await Engine.load(parts, "cpu"), device };
  try {
    const { engine, selfTest } = await Promise.race([test(parts), lost, ...(asked ? [] : [late(SELF_TEST_SECONDS)])]);
    return { engine, device: { ...device, selfTest } };
  } catch (error) {
    if (asked || /** @type {{ code?: string }} */ (error).code === "device-lost") throw error;
    return { engine: await Engine.load(parts, "cpu"), device: distrusted(device.name, error) };
  }
}

/** @param {BaseParts} parts */
async function test(parts) {
  const engine = await Engine.load(parts, "webgpu");
  return { engine, selfTest: await engine.selfTest(parts) };
}

/** @param {number} seconds @returns {Promise<never>} */
const late = (seconds) => new Promise((_, reject) => setTimeout(() => reject(new OwnvoiceError("device-lost", `it gave no answer within ${seconds} s`)), seconds * 1000));
