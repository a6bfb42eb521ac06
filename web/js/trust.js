// An engine on the device that was chosen, if it computes what the CPU computes.

import { Engine } from "../pkg/ownvoice_web.js";
import { distrusted } from "./device.js";

/** @import { BaseParts } from "../pkg/ownvoice_web.js" */
/** @import { Device } from "./device.js" */

// A graphics card that gives no answer must not keep a page from starting. One that was asked for by name is waited for.
const SELF_TEST_SECONDS = 90;

/**
 * The engine, and the device that it is on in the end: the CPU takes the place of an adapter that fails, unless that one was asked for.
 * @param {BaseParts} parts @param {Device} device @param {boolean} asked @returns {Promise<{ engine: Engine, device: Device }>}
 */
export async function trusted(parts, device, asked) {
  if (device.kind === "cpu") return { engine: await Engine.load(parts, "cpu"), device };
  const tested = test(parts);
  try {
    const { engine, selfTest } = await (asked ? tested : inTime(tested, SELF_TEST_SECONDS));
    return { engine, device: { ...device, selfTest } };
  } catch (error) {
    if (asked) throw error;
    return { engine: await Engine.load(parts, "cpu"), device: distrusted(device, error) };
  }
}

/** @param {BaseParts} parts */
async function test(parts) {
  const engine = await Engine.load(parts, "webgpu");
  return { engine, selfTest: await engine.selfTest(parts) };
}

/** @template T @param {Promise<T>} promise @param {number} seconds @returns {Promise<T>} */
function inTime(promise, seconds) {
  const late = new Promise((_, reject) => setTimeout(() => reject(new Error(`it gave no answer within ${seconds} s`)), seconds * 1000));
  return Promise.race([promise, /** @type {Promise<never>} */ (late)]);
}
