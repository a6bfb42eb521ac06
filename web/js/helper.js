// The methods of a data-parallel helper: it computes the gradients of one shard of each iteration, for a training that the leader runs.

import init, { Helper, __wbg_reset_state as resetModule } from "../pkg/ownvoice_web.js";
import { OwnvoiceError } from "./errors.js";
import { Transfer } from "./rpc.js";

/** @typedef {ReturnType<typeof helperMethods>} HelperMethods */

export function helperMethods() {
  /** @type {{ helper: Helper | null }} */
  const state = { helper: null };

  return {
    /** Loads the module and builds the model. @param {{ module: WebAssembly.Module, workerInit: Uint8Array }} args */
    async startHelper({ module, workerInit }) {
      await init({ module_or_path: module });
      state.helper = new Helper(workerInit);
    },

    /** Frees the model and the memory: WebAssembly memory never shrinks, so the module is reset. */
    stopHelper() {
      if (state.helper) resetModule();
      state.helper = null;
    },

    /**
     * Computes a shard of an iteration: receives weights in the buffer, returns gradients in it.
     * @param {{ iteration: number, inCooldown: boolean, buffer: Float32Array<ArrayBuffer>, rank: number, worldSize: number }} args
     */
    async gradients({ iteration, inCooldown, buffer, rank, worldSize }) {
      if (!state.helper) throw new OwnvoiceError("internal", "this worker is no helper");
      await state.helper.gradients(iteration, inCooldown, buffer, rank, worldSize);
      return new Transfer(buffer, [buffer.buffer]);
    },
  };
}
