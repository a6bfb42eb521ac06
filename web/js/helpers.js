// The other cores: workers that take a share of each iteration of a training on the CPU. They keep nothing from one iteration to the next, so nothing is
// lost with them: where one fails, all are let go, and the training goes on alone.

import { Remote } from "./rpc.js";

/** @import { Tuner } from "../pkg/ownvoice_web.js" */

// An iteration is shared window by window: eight are learnt, four rehearsed.
const MOST_CORES = 4;
// Each helper holds a program and a share of a training; a phone with less memory has none to spare. In GiB, as browsers tell it.
const LEAST_MEMORY = 4;

/** On how many cores a training may run, this worker's among them. @param {number | undefined} wanted */
export function coresFor(wanted) {
  const { hardwareConcurrency = 1, deviceMemory = LEAST_MEMORY } = /** @type {Navigator & { deviceMemory?: number }} */ (navigator);
  return Math.min(wanted ?? (deviceMemory < LEAST_MEMORY ? 1 : hardwareConcurrency), MOST_CORES);
}

export class Helpers {
  #remotes;
  /** @type {(Float32Array<ArrayBuffer> | null)[]} Go to the helpers with weights and come back with gradients: nothing is copied on the way, nor made anew. */
  #exchanges;

  /** @param {Remote[]} remotes */
  constructor(remotes) {
    this.#remotes = remotes;
    this.#exchanges = remotes.map(() => null);
  }

  /** As many as are wanted, ready to begin; none where one of them is not to be had. @param {number} count @param {WebAssembly.Module} module @param {Tuner} tuner */
  static async hire(count, module, tuner) {
    // This very script, wherever it lies and however it was bundled.
    const start = () => new Remote(new Worker(self.location.href, { type: "module", name: "ownvoice helper" }));
    const helpers = new Helpers(count >= 1 ? Array.from({ length: count }, start) : []);
    try {
      const kit = helpers.count ? await tuner.kit() : null;
      await Promise.all(helpers.#remotes.map((remote) => remote.call("help", { module, kit })));
    } catch {
      helpers.leave();
    }
    return helpers;
  }

  /** How many there are. */
  get count() {
    return this.#remotes.length;
  }

  /** Begins the tuner's next iteration: what each will find in its share of it, or null where one failed. @param {Tuner} tuner */
  async begin(tuner) {
    const { iteration } = tuner;
    await tuner.weights(this.#exchanges);
    return { helped: this.#gradients(iteration) };
  }

  /** @param {number} iteration @returns {Promise<Float32Array[] | null>} */
  async #gradients(iteration) {
    const of = this.count + 1;
    const ask = (/** @type {Remote} */ remote, /** @type {number} */ index) => {
      const exchange = /** @type {Float32Array<ArrayBuffer>} */ (this.#exchanges[index]);
      return remote.call("gradients", { iteration, exchange, number: index + 1, of }, { transfer: [exchange.buffer] });
    };
    try {
      return (this.#exchanges = await Promise.all(this.#remotes.map(ask)));
    } catch {
      this.leave();
      return null;
    }
  }

  leave() {
    for (const remote of this.#remotes) remote.close();
    this.#remotes = [];
  }
}
