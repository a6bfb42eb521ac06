// When a worker that has ended is replaced, and what is reported of it.

/**
 * The worker crashed or its GPU was lost: a new worker is being started, is ready, or could not be started. What was under way continues in the new one.
 * @typedef {object} Recovery
 * @property {"restarting" | "restarted" | "failed"} status After `failed`, every call rejects with the code.
 * @property {string} code `worker-crashed` or `device-lost`; after `failed`, any code of `load` too.
 * @property {string} message
 * @property {boolean} toCpu Whether the GPU was lost for the second time, so that the CPU is used from now on.
 */

/** Restarts in a row, without progress between them, after which there are no more. */
const MAX_RESTARTS = 3;
/** Losses of a GPU after which the CPU is used. */
const MAX_DEVICE_LOSSES = 2;

/** Decides whether a worker that has ended is replaced, and on which device. @internal */
export class RestartPolicy {
  #interval;
  #restarts = 0;
  #deviceLosses = 0;
  /** The iteration that the running training has reached, and the one that it had reached at the last failure. */
  #reached = 0;
  #reachedBefore = 0;

  /** @param {number} checkpointIterations */
  constructor(checkpointIterations) {
    this.#interval = checkpointIterations;
  }

  /** Notes the progress of a training; 0 when a training begins or ends. @param {number} iteration */
  reach(iteration) {
    this.#reached = iteration;
    if (iteration === 0) this.#reachedBefore = 0;
  }

  /** Notes that the worker completed a speech or a training. While a training runs, only its iterations count as progress. */
  completed() {
    if (this.#reached === 0) this.#restarts = 0;
  }

  /** Notes that a worker has ended. @param {string} code @param {"webgpu" | "cpu"} device It ran on this one. @returns {{ restarts: boolean, toCpu: boolean }} */
  fail(code, device) {
    if (code === "device-lost") this.#deviceLosses += 1;
    // A checkpoint has been stored since the last failure, so that the training does not fail at the same iteration again and again.
    if (this.#reached >= this.#reachedBefore + this.#interval) this.#restarts = 0;
    this.#reachedBefore = this.#reached;
    this.#restarts += 1;
    return { restarts: this.#restarts <= MAX_RESTARTS, toCpu: this.#deviceLosses >= MAX_DEVICE_LOSSES && device === "webgpu" };
  }
}
