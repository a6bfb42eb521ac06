// The other cores: workers that take a share of each iteration of a training on the CPU. They keep nothing from one iteration to the next, so nothing is
// lost with them: where one fails, all are let go, and the training goes on alone.
//
// They are started with the studio, since a page that has loaded asks for nothing more, and hold no program until there is something to learn.

import { Remote } from "./rpc.js";

/** @import { Tuner } from "../pkg/ownvoice_web.js" */

export class Helpers {
  /** @type {Remote[]} */
  #remotes = [];
  /** @type {(Float32Array<ArrayBuffer> | null)[]} Go to the helpers with weights and come back with gradients: nothing is copied on the way, nor made anew. */
  #exchanges = [];
  /** The training that they know, if any. @type {Tuner | null} */
  #tuner = null;

  /** So many, their scripts fetched; none where one of them is not to be had. @param {number} count */
  static async start(count) {
    const helpers = new Helpers();
    // This very script, wherever it lies and however it was bundled.
    for (let i = 0; i < count; i++) helpers.#remotes.push(new Remote(new Worker(self.location.href, { type: "module", name: "ownvoice helper" })));
    await helpers.#rest();
    return helpers;
  }

  /** Equips them for a training, if it can be shared and none is under way. @param {WebAssembly.Module} module @param {Tuner} tuner */
  async equip(module, tuner) {
    if (!this.#remotes.length || this.#tuner) return;
    this.#tuner = tuner;
    const kit = await tuner.kit().catch(() => null);
    if (kit) await this.#all("help", () => ({ module, kit }));
    else this.#tuner = null;
  }

  /** Lets go of a training, if it was theirs, and of the memory that it took. @param {Tuner} tuner */
  async leave(tuner) {
    if (this.#tuner !== tuner) return;
    await this.#rest();
    this.#tuner = null;
  }

  async #rest() {
    this.#exchanges = this.#remotes.map(() => null);
    await this.#all("rest", () => ({}));
  }

  /** How many there are. */
  get started() {
    return this.#remotes.length;
  }

  /** How many take their share of a training. @param {Tuner} tuner */
  sharing(tuner) {
    return this.#tuner === tuner ? this.#remotes.length : 0;
  }

  /** Begins the tuner's next iteration: what each will find in its share of it, or null where one failed. @param {Tuner} tuner */
  async begin(tuner) {
    const { iteration, settles } = tuner;
    const of = this.#remotes.length + 1;
    await tuner.weights(this.#exchanges);
    const exchanges = /** @type {Float32Array<ArrayBuffer>[]} */ (this.#exchanges);
    const shares = this.#all("gradients", (i) => ({ iteration, settles, exchange: exchanges[i], number: i + 1, of }), (i) => [exchanges[i].buffer]);
    return { helped: shares.then((found) => found && (this.#exchanges = found)) };
  }

  /** Asks each of them; null where one fails, and with it all end. @param {string} method @param {(i: number) => object} args @param {(i: number) => Transferable[]} [transfer] */
  async #all(method, args, transfer) {
    try {
      return await Promise.all(this.#remotes.map((remote, i) => remote.call(method, args(i), { transfer: transfer?.(i) })));
    } catch {
      for (const remote of this.#remotes) remote.close();
      this.#remotes = [];
      return null;
    }
  }
}
