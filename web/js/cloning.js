// Trainings that survive their worker: where it ends, the next one continues from the stored checkpoint.

import { isLost } from "./errors.js";

/** @import { Connection } from "./connection.js" */
/** @import { TrainingControls } from "./options.js" */
/** @import { CallOptions } from "./rpc.js" */
/** @import { Session } from "./session.js" */
/** @import { VoiceInfo } from "./speech.js" */
/** @import { Trainer, WorkerProgress } from "./training.js" */

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
