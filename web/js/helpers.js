// Data-parallel training on the CPU: workers that each compute the gradients of one shard of every iteration. They hold no state between iterations; where
// one fails, all are ended and the training continues alone.
//
// They start with the studio, because a loaded page fetches nothing more, and load the module when a training begins.

import { Remote } from "./rpc.js";

/** @import { Tuner } from "../pkg/ownvoice_web.js" */

export class Helpers {
  /** @type {Remote[]} */
  #remotes = [];
  /** Transferred to the helpers with weights and back with gradients, so that nothing is copied or allocated anew. @type {(Float32Array<ArrayBuffer> | null)[]} */
  #buffers = [];
  /** The training that they share, if any. @type {Tuner | null} */
  #tuner = null;

  /** Starts helpers and waits for their scripts; none where one of them fails. @param {number} count */
  static async start(count) {
    const helpers = new Helpers();
    // This very script, wherever it is and however it was bundled: Turbopack makes classic workers.
    for (const type of /** @type {const} */ (["module", "classic"])) {
      try {
        while (helpers.started < count) helpers.#remotes.push(new Remote(new Worker(self.location.href, { type, name: "ownvoice helper" })));
      } catch {
        helpers.#close(); // the browser gives no more workers: one core trains
      }
      await helpers.#stop();
    }
    return helpers;
  }

  /** Prepares them for a training, if it can be sharded and none is running. @param {WebAssembly.Module} module @param {Tuner} tuner */
  async join(module, tuner) {
    if (!this.#remotes.length || this.#tuner) return;
    this.#tuner = tuner;
    const workerInit = await tuner.workerInit().catch(() => null);
    if (workerInit) await this.#all("startHelper", () => ({ module, workerInit }));
    else this.#tuner = null;
  }

  /** Ends their part in a training, if they have one, and frees its memory. @param {Tuner} tuner */
  async leave(tuner) {
    if (this.#tuner !== tuner) return;
    await this.#stop();
    this.#tuner = null;
  }

  async #stop() {
    this.#buffers = this.#remotes.map(() => null);
    await this.#all("stopHelper", () => ({}));
  }

  /** How many there are. */
  get started() {
    return this.#remotes.length;
  }

  /** How many take part in a training. @param {Tuner} tuner */
  sharing(tuner) {
    return this.#tuner === tuner ? this.#remotes.length : 0;
  }

  /** Begins the tuner's next iteration. `helped` resolves to the gradients of each shard, or to null where one failed. @param {Tuner} tuner */
  async begin(tuner) {
    const { iteration, inCooldown } = tuner;
    const worldSize = this.#remotes.length + 1;
    await tuner.weights(this.#buffers);
    const buffers = /** @type {Float32Array<ArrayBuffer>[]} */ (this.#buffers);
    const gradients = this.#all("gradients", (i) => ({ iteration, inCooldown, buffer: buffers[i], rank: i + 1, worldSize }), (i) => [buffers[i].buffer]);
    return { helped: gradients.then((found) => found && (this.#buffers = found)) };
  }

  /** Calls each of them; null where one fails, and then all end. @param {string} method @param {(i: number) => object} args @param {(i: number) => Transferable[]} [transfer] */
  async #all(method, args, transfer) {
    try {
      return await Promise.all(this.#remotes.map((remote, i) => remote.call(method, args(i), { transfer: transfer?.(i) })));
    } catch {
      this.#close();
      return null;
    }
  }

  #close() {
    for (const remote of this.#remotes) remote.close();
    this.#remotes = [];
  }
}
