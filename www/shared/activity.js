// A state machine of what the page does: one activity at a time.
//
// A table of transitions lists the activities that may follow each activity. All others are refused here, so that no handler has to check them. A task may pass
// through several activities, for example from opening the microphone to checking a recording. Its clean-ups are called when it ends, also after an error.

/** The activities that may follow each activity. @template {string} Name @typedef {{ [name in Name]: readonly Name[] }} Transitions */

/** The activity of a page, and the task that it belongs to. @template {string} Name */
export class Activity {
  #transitions;
  #current;
  #idle;
  #onChange;
  /** @type {Task<Name> | null} */
  #task = null;
  /** The work of the last `perform`. @type {Promise<unknown>} */
  #work = Promise.resolve();

  /**
   * @param {Transitions<Name>} transitions
   * @param {{ first: Name, idle: Name, onChange: (current: Name) => void }} options The activity to begin with, and the one that follows a task.
   */
  constructor(transitions, { first, idle, onChange }) {
    this.#transitions = transitions;
    this.#current = first;
    this.#idle = idle;
    this.#onChange = onChange;
  }

  get current() {
    return this.#current;
  }

  /** Whether the activity may begin now. @param {Name} next */
  allows(next) {
    return this.#transitions[this.#current].includes(next);
  }

  /** Begins a task and ends the one before it. Returns null where the table does not allow it. @param {Name} next @returns {Task<Name> | null} */
  begin(next) {
    if (!this.allows(next)) return null;
    this.#close();
    /** @type {Task<Name>} */
    const task = new Task((following) => {
      if (task !== this.#task || (following !== undefined && following !== this.#current && !this.allows(following))) return false;
      if (following === undefined) this.end();
      else this.#enter(following);
      return true;
    });
    this.#task = task;
    this.#enter(next);
    return task;
  }

  /**
   * Does work in a task of its own. Returns false, and does nothing, where the table does not allow it; rejects where the work does.
   * @param {Name} next @param {(task: Task<Name>) => unknown} work @returns {Promise<boolean>}
   */
  async perform(next, work) {
    const task = this.begin(next);
    if (!task) return false;
    const done = (async () => work(task))();
    this.#work = done.catch(() => {}); // whoever called `perform` handles it
    try {
      await done;
      return true;
    } finally {
      task.end();
    }
  }

  /** Asks the task to give up. @returns {Promise<unknown>} Resolves when the work of the last `perform` has returned. */
  cancel() {
    this.#task?.cancel();
    return this.#work;
  }

  /** Asks the task to end with the result so far. */
  stop() {
    this.#task?.stop();
  }

  /** Ends the task at once, whether or not its work has returned. An activity that the idle one may not follow stays. */
  end() {
    this.#close();
    if (this.allows(this.#idle)) this.#enter(this.#idle);
  }

  #close() {
    const task = this.#task;
    this.#task = null;
    task?.close();
  }

  /** @param {Name} next */
  #enter(next) {
    if (next === this.#current) return;
    this.#current = next;
    this.#onChange(next);
  }
}

/** Returns the phase that a page shows for an activity. @param {string} current @returns {"loading" | "ready" | "failed"} */
export const phaseOf = (current) => (current === "failed" ? "failed" : current === "unloaded" || current === "loading" ? "loading" : "ready");

/** A task of the page: work that passes through one or more activities. @template {string} Name */
export class Task {
  #cancelling = new AbortController();
  #stopping = new AbortController();
  #move;
  /** @type {(() => void)[]} */
  #cleanUps = [];
  #isOver = false;

  /** @param {(next?: Name) => boolean} move Moves to another activity or, without one, ends this task. */
  constructor(move) {
    this.#move = move;
  }

  /** Aborted when the work is to be given up, and when the task has ended. */
  get signal() {
    return this.#cancelling.signal;
  }

  /** Aborted when the work is to end with the result so far. */
  get stopSignal() {
    return this.#stopping.signal;
  }

  /** Whether the task has ended: what its work still finds out must not change the page. */
  get isOver() {
    return this.#isOver;
  }

  /** Moves to the next activity of this work. Returns false where the task has ended or the table does not allow it. @param {Name} next */
  to(next) {
    return this.#move(next);
  }

  /** @param {() => void} cleanUp Called once, when the task ends. */
  onEnd(cleanUp) {
    if (this.#isOver) cleanUp();
    else this.#cleanUps.push(cleanUp);
  }

  cancel() {
    this.#cancelling.abort();
  }

  stop() {
    this.#stopping.abort();
  }

  /** Ends the task; the page is idle. A task that has ended is left alone. */
  end() {
    this.#move();
  }

  /** Aborts the signal and calls the clean-ups, the last one first. `Activity` calls it. */
  close() {
    this.#isOver = true;
    this.#cancelling.abort();
    for (const cleanUp of this.#cleanUps.splice(0).reverse()) {
      try {
        cleanUp();
      } catch (error) {
        reportError(error); // the others are called all the same
      }
    }
  }
}

/** The longest that a deletion waits for what is being done. */
const MAX_WAIT_MS = 20_000;

/** Waits until what was being done has ended; a worker that hangs does not delay a deletion further. @param {Promise<unknown>} ended */
export const endOrTimeout = (ended) => Promise.race([ended, new Promise((resolve) => setTimeout(resolve, MAX_WAIT_MS))]);
