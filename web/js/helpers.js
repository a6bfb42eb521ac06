// Data-parallel training on the CPU: helper workers each compute the gradients of one shard of every iteration. They keep nothing from one iteration to the
// next; where one fails, all are ended and the training continues without them.
//
// They start with the studio, because a loaded page fetches nothing more, and load the module when a training begins.

import init, { Helper, __wbg_reset_state as resetModule } from "../pkg/ownvoice_web.js";
import { OwnvoiceError } from "./errors.js";
import { Remote, Transfer } from "./rpc.js";

/** @import { Tuner } from "../pkg/ownvoice_web.js" */
/** @import { Arguments, MethodName, Result } from "./rpc.js" */

export class Helpers {
  /** @type {Remote<HelperMethods>[]} */
  #remotes = [];
  /** One for each helper, transferred to it with weights and back with gradients, so that nothing is copied or allocated anew. @type {(Float32Array<ArrayBuffer> | null)[]} */
  #buffers = [];
  /** The training that they take part in, if any. @type {Tuner | null} */
  #tuner = null;

  /** Starts helpers and waits for their scripts. Where one fails, there are none. @param {number} count */
  static async start(count) {
    const helpers = new Helpers();
    // The script is that of this worker, wherever it is. A bundler may have made a classic worker of it, as Turbopack does.
    for (const type of /** @type {const} */ (["module", "classic"])) {
      try {
        while (helpers.started < count) helpers.#remotes.push(new Remote(new Worker(self.location.href, { type, name: "ownvoice helper" })));
      } catch {
        helpers.#close(); // the browser allows no more workers, so that one core trains
      }
      await helpers.#stop();
    }
    return helpers;
  }

  /** Prepares the helpers for a training, if it can be sharded and they take part in no other. @param {WebAssembly.Module} module @param {Tuner} tuner */
  async join(module, tuner) {
    if (!this.#remotes.length || this.#tuner) return;
    this.#tuner = tuner;
    const workerInit = await tuner.workerInit().catch(() => null);
    if (workerInit) await this.#all("startHelper", () => ({ module, workerInit }));
    else this.#tuner = null;
  }

  /** Ends their part in a training, if they take part in it, and frees its memory. @param {Tuner} tuner */
  async leave(tuner) {
    if (this.#tuner !== tuner) return;
    await this.#stop();
    this.#tuner = null;
  }

  async #stop() {
    this.#buffers = this.#remotes.map(() => null);
    await this.#all("stopHelper", () => ({}));
  }

  /** The number of helpers. */
  get started() {
    return this.#remotes.length;
  }

  /** Returns how many take part in a training. @param {Tuner} tuner */
  sharing(tuner) {
    return this.#tuner === tuner ? this.#remotes.length : 0;
  }

  /** Starts the tuner's next iteration in the helpers. `gradients` resolves to those of each shard, or to null where one failed. @param {Tuner} tuner */
  async startIteration(tuner) {
    const { iteration, inCooldown } = tuner;
    const worldSize = this.#remotes.length + 1;
    await tuner.weights(this.#buffers);
    const buffers = /** @type {Float32Array<ArrayBuffer>[]} */ (this.#buffers);
    const gradients = this.#all("gradients", (i) => ({ iteration, inCooldown, buffer: buffers[i], rank: i + 1, worldSize }), (i) => [buffers[i].buffer]);
    return { gradients: gradients.then((found) => found && (this.#buffers = found)) };
  }

  /**
   * Calls each helper. Where one fails, ends all and returns null.
   * @template {MethodName<HelperMethods>} K
   * @param {K} method @param {(i: number) => Arguments<HelperMethods, K>} args @param {(i: number) => Transferable[]} [transfer]
   * @returns {Promise<Result<HelperMethods, K>[] | null>}
   */
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

/** @typedef {ReturnType<typeof helperMethods>} HelperMethods */

/** The methods of a helper. */
export function helperMethods() {
  /** @type {Helper | null} */
  let helper = null;

  return {
    /** Loads the module and builds the model. @param {{ module: WebAssembly.Module, workerInit: Uint8Array }} args */
    async startHelper({ module, workerInit }) {
      await init({ module_or_path: module });
      helper = new Helper(workerInit);
    },

    /** Frees the model and the memory: WebAssembly memory never shrinks, so the module is reset. */
    stopHelper() {
      if (helper) resetModule();
      helper = null;
    },

    /**
     * Computes a shard of an iteration: receives weights in the buffer, returns gradients in it.
     * @param {{ iteration: number, inCooldown: boolean, buffer: Float32Array<ArrayBuffer>, rank: number, worldSize: number }} args
     */
    async gradients({ iteration, inCooldown, buffer, rank, worldSize }) {
      if (!helper) throw new OwnvoiceError("internal", "this worker is no helper");
      await helper.gradients(iteration, inCooldown, buffer, rank, worldSize);
      return new Transfer(buffer, [buffer.buffer]);
    },
  };
}
