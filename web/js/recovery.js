// The policy by which a worker that has ended is replaced, and the events that report it.

/**
 * A worker crashed or its GPU was lost: a new worker is being started, is ready, or could not be started. Calls that were under way continue in the new worker.
 * @typedef {object} Recovery
 * @property {"restarting" | "restarted" | "failed"} status After `failed`, every call rejects with the code.
 * @property {string} code `worker-crashed` or `device-lost`; after `failed`, any code of `load` too.
 * @property {string} message
 * @property {boolean} toCpu Whether the GPU was lost for the second time, so that the CPU is used from now on.
 */

/** The most restarts in a row without progress between them. */
const MAX_RESTARTS = 3;
/** The number of lost GPUs after which the CPU is used. */
const MAX_DEVICE_LOSSES = 2;

/** Decides whether a worker that has ended is replaced, and on which device. @internal */
export class RestartPolicy {
  #interval;
  #restarts = 0;
  #deviceLosses = 0;
  /** The iteration of the running training; 0 without one. */
  #iteration = 0;
  /** The iteration of the running training when a worker last ended. */
  #iterationAtLastFailure = 0;

  /** @param {number} checkpointIterations */
  constructor(checkpointIterations) {
    this.#interval = checkpointIterations;
  }

  /** Sets the iteration of the running training, 0 when a training begins or ends. @param {number} iteration */
  setIteration(iteration) {
    this.#iteration = iteration;
    if (iteration === 0) this.#iterationAtLastFailure = 0;
  }

  /** Notes that the worker completed a speech or a training. While a training runs, only its iterations count as progress. */
  completed() {
    if (this.#iteration === 0) this.#restarts = 0;
  }

  /** Notes that a worker has ended. @param {string} code @param {"webgpu" | "cpu"} device The device of the worker. @returns {{ restarts: boolean, toCpu: boolean }} */
  fail(code, device) {
    if (code === "device-lost") this.#deviceLosses += 1;
    // A checkpoint has been stored since the last failure, so that the training does not fail at the same iteration again and again.
    if (this.#iteration >= this.#iterationAtLastFailure + this.#interval) this.#restarts = 0;
    this.#iterationAtLastFailure = this.#iteration;
    this.#restarts += 1;
    return { restarts: this.#restarts <= MAX_RESTARTS, toCpu: this.#deviceLosses >= MAX_DEVICE_LOSSES && device === "webgpu" };
  }
}
