// The connection to the worker. It outlives the worker: where one crashes or loses its device, another is started. Calls that were under way are repeated there,
// and a training continues from its stored checkpoint.

import { OwnvoiceError, isLost, throwIfAborted, unlessAborted } from "./errors.js";

/** @import { LeaderMethods } from "./leader.js" */
/** @import { TrainingControls } from "./options.js" */
/** @import { Recovery } from "./reports.js" */
/** @import { Arguments, CallOptions, MethodName, Progress, Result } from "./rpc.js" */
/** @import { Inherited, Session } from "./session.js" */
/** @import { VoiceInfo } from "./speech.js" */
/** @import { Trainer, WorkerProgress } from "./training.js" */

export class Connection {
  #start;
  #onRecovery;
  #onSession;
  /** The last session that has loaded. @type {Session} */
  #latest;
  /** The session in use, or the one that is being started; rejects once the connection has ended. @type {Promise<Session>} */
  #session;
  #closing = new AbortController();
  /** An adapter that is not to be used again. @type {Inherited["failed"]} */
  #failed;
  /** @type {(reason: OwnvoiceError) => void} */
  #resolveEnded = () => {};
  /** Resolves when the worker has ended and is not replaced, with the reason. @type {Promise<OwnvoiceError>} */
  ended = new Promise((resolve) => (this.#resolveEnded = resolve));

  /**
   * @param {Session} session
   * @param {(inherited: Inherited, signal: AbortSignal) => Promise<Session>} start Starts another.
   * @param {(session: Session) => void} onSession Called with each new session, before calls use it.
   * @param {(event: Recovery) => void} [onRecovery]
   */
  constructor(session, start, onSession, onRecovery) {
    this.#start = start;
    this.#onSession = onSession;
    this.#onRecovery = onRecovery;
    this.#latest = session;
    this.#session = this.#use(session);
    this.policy = new RestartPolicy(session.loaded.checkpointIterations);
  }

  /** Returns the session, once there is one. @param {AbortSignal} [signal] Ends the wait with `cancelled`. */
  session(signal) {
    return unlessAborted(this.#session, signal);
  }

  /** Whether a session is the one in use. @param {Session} session */
  isCurrent(session) {
    return session === this.#latest;
  }

  /** Calls a method of the worker. A call that is interrupted by the end of the worker is repeated once, in the next. @template {MethodName<LeaderMethods>} K
   * @param {K} method @param {Arguments<LeaderMethods, K>} args @param {CallOptions<Progress<LeaderMethods, K>>} [options] @returns {Promise<Result<LeaderMethods, K>>} */
  call(method, args, options) {
    return this.run(({ remote }) => remote.call(method, args, options), options?.signal);
  }

  /** The same for work that depends on the session. @template T @param {(session: Session) => Promise<T>} work @param {AbortSignal} [signal] @returns {Promise<T>} */
  async run(work, signal) {
    const session = await this.session(signal);
    try {
      const result = await work(session);
      this.policy.completed();
      return result;
    } catch (error) {
      if (!isLost(error)) throw error;
      await session.remote.ended; // after this the next session is being started
      return work(await this.session(signal));
    }
  }

  /** Ends the worker. Open calls fail with `closed`. */
  close() {
    this.#closing.abort();
    this.#latest.remote.close();
    this.#end(new OwnvoiceError("closed", "the studio is closed"));
  }

  /** @param {Session} session */
  async #use(session) {
    this.#latest = session;
    session.remote.ended.then((reason) => {
      if (isLost(reason)) this.#session = this.#restart(reason);
      else this.#end(reason);
      this.#session.catch(() => {}); // those who wait for the session handle it
    });
    return session;
  }

  /** @param {OwnvoiceError} reason @returns {Promise<Session>} */
  async #restart(reason) {
    const { device, module } = this.#latest.loaded;
    const { code, message } = reason;
    const { restarts, toCpu } = this.policy.fail(code, this.#failed ? "cpu" : device.kind);
    if (toCpu) this.#failed = { adapter: device.adapter, message: "it was lost twice" };
    if (!restarts) return this.#giveUp(reason, toCpu);
    this.#report({ status: "restarting", code, message, toCpu });
    try {
      const session = await this.#start({ module, microphone: this.#latest.microphone, failed: this.#failed }, this.#closing.signal);
      if (this.#closing.signal.aborted) session.remote.close();
      throwIfAborted(this.#closing.signal);
      this.#onSession(session);
      this.#report({ status: "restarted", code, message, toCpu });
      return this.#use(session);
    } catch (error) {
      if (this.#closing.signal.aborted) throw new OwnvoiceError("closed", "the studio is closed");
      const failure = /** @type {OwnvoiceError} */ (error);
      return isLost(failure) ? this.#restart(failure) : this.#giveUp(failure, toCpu);
    }
  }

  /** @param {OwnvoiceError} reason @param {boolean} toCpu @returns {Promise<never>} */
  async #giveUp(reason, toCpu) {
    const { code, message } = reason;
    this.#report({ status: "failed", code, message, toCpu });
    this.#resolveEnded(reason);
    throw reason;
  }

  /** @param {OwnvoiceError} reason */
  #end(reason) {
    this.#session = Promise.reject(reason);
    this.#session.catch(() => {});
    this.#resolveEnded(reason);
  }

  /** @param {Recovery} event */
  #report(event) {
    try {
      this.#onRecovery?.(event);
    } catch (error) {
      setTimeout(() => { throw error; }); // an error of the callback is reported as one, and does not end the recovery
    }
  }
}

/** A voice in a session, and its file. @typedef {{ session: Session, handle: number, info: VoiceInfo, bytes: Uint8Array<ArrayBuffer> }} TrainedVoice */
/** @typedef {Parameters<Trainer["clone"]>[0]} CloneArguments */
/** @typedef {Parameters<Trainer["resume"]>[0]} ResumeArguments */
/** @typedef {{ method: "clone", args: CloneArguments } | { method: "resume", args: ResumeArguments }} Training */

/**
 * Trains to the end, through as many workers as it takes.
 * @param {Connection} connection @param {Training} training
 * @param {CallOptions<Exclude<WorkerProgress, { status: "begun" }>>} options
 * @param {Required<TrainingControls>} controls Its state at the moment of a restart holds for the resumed training.
 * @returns {Promise<TrainedVoice>}
 */
export async function train(connection, training, { onProgress, ...options }, controls) {
  const { policy } = connection;
  const { signal } = options;
  /** The hash of this training, once it is the stored one. @type {string | null} */
  let run = null;
  let interrupted = false;
  const report = (/** @type {WorkerProgress} */ progress) => {
    if (progress.status === "begun") return void (run = progress.run);
    if (progress.status === "training") policy.setIteration(progress.iteration);
    onProgress?.(progress);
  };
  /** @param {Session} session @param {Training} [from] */
  const start = ({ remote }, from = training) =>
    from.method === "clone"
      ? remote.call("clone", { ...from.args, ...controls }, { ...options, onProgress: report })
      : remote.call("resume", { ...from.args, ...controls }, { ...options, onProgress: report });

  /** Continues in a new session. @param {Session} session */
  async function resume(session) {
    if (run === null) return start(session);
    const { checkpoint, voice, voiceRun } = await session.remote.call("storedTraining", {}, { signal });
    // The training had ended, but the page had not received the voice.
    if (voice && voiceRun === run) return { ...(await session.remote.call("open", { bytes: voice }, { signal })), bytes: voice };
    return checkpoint?.run === run ? start(session, { method: "resume", args: { pictures: training.args.pictures } }) : start(session);
  }

  policy.setIteration(0);
  try {
    for (;;) {
      const session = await connection.session(signal);
      try {
        const voice = await (interrupted ? resume(session) : start(session));
        policy.setIteration(0);
        policy.completed();
        return { session, ...voice };
      } catch (error) {
        if (!isLost(error)) throw error;
        interrupted = true;
        await session.remote.ended; // after this the next session is being started
      }
    }
  } catch (error) {
    // It was cancelled while no worker ran, so that none has discarded it.
    if (signal?.aborted && interrupted && run !== null) connection.call("discardTraining", { run }).catch(() => {});
    throw error;
  } finally {
    policy.setIteration(0);
  }
}

/** The most restarts in a row without progress between them. */
const MAX_RESTARTS = 3;
/** The number of lost GPUs after which the CPU is used. */
const MAX_DEVICE_LOSSES = 2;

/** Decides whether a worker that has ended is replaced, and on which device. */
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
