// What a page does: one activity at a time.
//
// A table names, for each activity, those that may follow it. Everything else is refused here, so that no handler has to check it. A piece of work (`Run`) may
// pass through several activities, for example from opening the microphone to checking a recording. Its clean-ups are called when it ends, however it ends.

/** For each activity, those that may follow it. @template {string} Name @typedef {{ [name in Name]: readonly Name[] }} Transitions */

/** @template {string} Name */
export class Activity {
  #transitions;
  #current;
  #idle;
  #onChange;
  /** @type {Run<Name> | null} */
  #run = null;
  /** The work of the last `perform`. @type {Promise<unknown>} */
  #work = Promise.resolve();

  /**
   * @param {Transitions<Name>} transitions
   * @param {{ first: Name, idle: Name, onChange: (current: Name) => void }} options The activity to begin with, and the one that follows a run.
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

  /** Begins a run and ends the one before it. Returns null where the table does not allow it. @param {Name} next @returns {Run<Name> | null} */
  begin(next) {
    if (!this.allows(next)) return null;
    this.#close();
    /** @type {Run<Name>} */
    const run = new Run((following) => {
      if (run !== this.#run || (following !== undefined && following !== this.#current && !this.allows(following))) return false;
      if (following === undefined) this.end();
      else this.#enter(following);
      return true;
    });
    this.#run = run;
    this.#enter(next);
    return run;
  }

  /**
   * Does work in a run of its own. Returns false, and does nothing, where the table does not allow it; rejects where the work does.
   * @param {Name} next @param {(run: Run<Name>) => unknown} work @returns {Promise<boolean>}
   */
  async perform(next, work) {
    const run = this.begin(next);
    if (!run) return false;
    const done = (async () => work(run))();
    this.#work = done.catch(() => {}); // whoever called `perform` handles it
    try {
      await done;
      return true;
    } finally {
      run.end();
    }
  }

  /** Asks the run to give up. @returns {Promise<unknown>} Resolves when the work of the last `perform` has returned. */
  cancel() {
    this.#run?.cancel();
    return this.#work;
  }

  /** Asks the run to end with the result so far. */
  stop() {
    this.#run?.stop();
  }

  /** Ends the run at once, whether or not its work has returned. An activity that the idle one may not follow stays. */
  end() {
    this.#close();
    if (this.allows(this.#idle)) this.#enter(this.#idle);
  }

  #close() {
    const run = this.#run;
    this.#run = null;
    run?.close();
  }

  /** @param {Name} next */
  #enter(next) {
    if (next === this.#current) return;
    this.#current = next;
    this.#onChange(next);
  }
}

/** What a page shows of its activity: both pages load first. @param {string} current @returns {"loading" | "ready" | "failed"} */
export const phaseOf = (current) => (current === "failed" ? "failed" : current === "unloaded" || current === "loading" ? "loading" : "ready");

/** A piece of work. @template {string} Name */
export class Run {
  #cancelling = new AbortController();
  #stopping = new AbortController();
  #move;
  /** @type {(() => void)[]} */
  #cleanUps = [];
  #isOver = false;

  /** @param {(next?: Name) => boolean} move Moves to another activity or, without one, ends this run. */
  constructor(move) {
    this.#move = move;
  }

  /** Aborted when the work is to be given up, and when the run has ended. */
  get signal() {
    return this.#cancelling.signal;
  }

  /** Aborted when the work is to end with the result so far. */
  get stopSignal() {
    return this.#stopping.signal;
  }

  /** Whether the run has ended: what its work still finds out must not change the page. */
  get isOver() {
    return this.#isOver;
  }

  /** Moves to the next activity of this work. Returns false where the run has ended or the table does not allow it. @param {Name} next */
  to(next) {
    return this.#move(next);
  }

  /** @param {() => void} cleanUp Called once, when the run ends. */
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

  /** Ends the run; the page is idle. A run that has ended is left alone. */
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
