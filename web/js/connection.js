// The connection to the worker. It outlives the worker: where one crashes or loses its device, another is started.

import { OwnvoiceError, isLost, throwIfAborted, unlessAborted } from "./errors.js";
import { RestartPolicy } from "./recovery.js";

/** @import { LeaderMethods } from "./leader.js" */
/** @import { Recovery } from "./recovery.js" */
/** @import { Arguments, CallOptions, MethodName, Progress, Result } from "./rpc.js" */
/** @import { Inherited, Session } from "./session.js" */

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
      return await work(session);
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
