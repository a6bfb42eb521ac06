// A visit during which something fails: record, learn, speak, save, delete. Each step succeeds, or the page says why not, and the visitor can try again.

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { en } from "../../../www/strings/en.js";
import { injectFaults } from "./inject.mjs";
import { download, note, noted, openSteps, run, sound, storedFiles } from "../steps.mjs";

/** @import { Page } from "playwright-core" */
/** @import { Session } from "../harness.mjs" */
/** @import { Call, Fault } from "./inject.mjs" */

/** @param {Fault | null} fault @param {string} armed An expression. */
const injected = (fault, armed) => `(${injectFaults})(${JSON.stringify(fault)}, ${armed});\n`;

const SECOND = 1000;
/** The time limit of a step, on a busy machine and with a software GPU. */
const STEP_SECONDS = 240;
/** How often the visitor tries a step. */
const TRIES = 3;

/** Lets the test put speech into the silent microphone all at once, so that it need not wait in real time. */
const MICROPHONE = `
sessionStorage.visits = Number(sessionStorage.visits ?? 0) + 1;
Object.defineProperty(Navigator.prototype, "hardwareConcurrency", { get: () => 2 });
window.AudioWorkletNode = class extends AudioWorkletNode {
  constructor(context, ...rest) {
    super(context, ...rest);
    window.speakIntoMicrophone = (bytes) => {
      const spoken = new Int16Array(Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0)).buffer);
      const ratio = 16000 / context.sampleRate;
      const pause = context.sampleRate / 2;
      const data = new Float32Array(2 * pause + spoken.length / ratio);
      for (let i = 0; i < spoken.length / ratio; i++) data[pause + i] = spoken[Math.floor(i * ratio)] / 32768;
      this.port.dispatchEvent(new MessageEvent("message", { data }));
    };
  }
};
`;

/** @typedef {{ calls: Call[], fired: number, said: string[], reloads: number }} Found The calls and error messages of the page; \`reloads\` counts those that it suggested. */

/** Puts the fault into the scripts that the server sends; call it before each walk. @param {Session} session @param {Fault | null} fault */
function serveFaults(session, fault) {
  let served = 0;
  session.change("js/worker.js", (body) => {
    // The worker comes first, then its helpers; those that replace them have no fault.
    const turn = served++;
    const armed = Boolean(fault?.lasting) || (fault?.where === "worker" ? turn === 0 : turn === 1);
    return Buffer.concat([Buffer.from(injected(fault, String(armed))), body]);
  });
}

/** @param {Session} session @param {Fault | null} fault @param {string} [path] @returns {Promise<Found>} */
export async function walk(session, fault, path = "") {
  serveFaults(session, fault);
  const page = await session.context.newPage();
  openSteps(page);
  const visitor = new Visitor(session, page);
  try {
    await page.addInitScript(MICROPHONE + injected(fault, "sessionStorage.visits === '1'"));
    await page.goto(new URL(path, session.url).href);
    return await visitor.walk(Boolean(fault?.lasting));
  } finally {
    await page.close();
  }
}

class Visitor {
  /** The error messages of the page. @type {string[]} */
  said = [];
  /** Steps that were given up because of a lasting fault. @type {string[]} */
  left = [];
  reloads = 0;
  /** @type {Call[]} */
  #calls = [];
  #fired = 0;

  /** @param {Session} session @param {Page} page */
  constructor(session, page) {
    this.session = session;
    this.page = page;
  }

  /** @param {boolean} lasting @returns {Promise<Found>} */
  async walk(lasting) {
    await this.#way(lasting);
    if (this.left.length > 0) {
      assert.ok(lasting, `a fault that passes leaves each step to be done: ${this.left}`);
      serveFaults(this.session, null);
      await this.#reload();
      await this.#way(false);
    }
    await this.#collect();
    return { calls: this.#calls, fired: this.#fired, said: this.said, reloads: this.reloads };
  }

  /** Does all steps; without a lasting fault each must succeed. @param {boolean} lasting */
  async #way(lasting) {
    const { page } = this;
    const steps = /** @type {const} */ (["load", "record", "learn", "speak", "save", "remains", "delete"]);
    this.left = [];
    for (const step of steps) {
      try {
        await this[step]();
      } catch (error) {
        if (!lasting || !(error instanceof GivenUp)) throw error;
        this.left.push(step);
        if (step === "load" || step === "learn") return;
      }
    }
    assert.equal(await page.evaluate("document.body.dataset.phase"), "ready");
  }

  async load() {
    await this.#attempt("load", {
      act: async () => {},
      done: "document.body.dataset.phase === 'ready'",
      failed: ["#loading-error"],
      again: "#reload",
    });
    await note(this.page);
    await this.page.click("#languages [lang=en]");
  }

  /** Records the consent and a sentence, unless they are recorded already. */
  async record() {
    /** @type {unknown} */
    let failed;
    // Those who come back with a voice see only their text and their voices.
    if (!(await this.page.isVisible("#way"))) await this.page.click("#another");
    for (const [index, what] of /** @type {const} */ (["consent", 0]).entries()) {
      await this.page.click(`[data-prompt="${index}"]`);
      // Sentences are read after the consent.
      if (failed && (await this.page.isDisabled("#record-button"))) break;
      if (await this.page.evaluate(`document.querySelector('[data-prompt="${index}"]').dataset.state === "good" && !document.querySelector("#clip-words code")`)) continue;
      const recorded = this.#attempt(`record ${what}`, {
        act: async () => {
          await this.page.click("#record-button");
          if (!(await this.#until("document.querySelector('#record-button').ariaPressed === 'true' || document.querySelector('#clip-words code')"))) return;
          if (await this.page.evaluate("document.querySelector('#record-button').ariaPressed !== 'true'")) return;
          await this.page.evaluate(`speakIntoMicrophone(${JSON.stringify(sound(what).toString("base64"))})`);
          await this.page.click("#record-button");
        },
        done: `/^Good/.test(document.querySelector("#clip-words").textContent)`,
        failed: ["#clip-words[data-state=bad]"],
      });
      // A recording that could not be stored can still be used.
      await recorded.catch((error) => (failed = error));
      if (failed && !(failed instanceof GivenUp)) throw failed;
    }
    if (failed) throw failed;
  }

  async learn() {
    if (await this.page.isDisabled("#train-start")) throw new GivenUp(`learn: ${await this.page.textContent("#train-words")}`);
    let paused = false;
    let stopped = 0;
    await this.#attempt("learn", {
      act: async () => {
        await this.page.click((await this.page.isVisible("#train-resume")) ? "#train-resume" : "#train-start");
        await this.#until("document.querySelector('#train-start').checkVisibility() === false || document.querySelector('#train-error').checkVisibility()");
      },
      // Past a checkpoint, with a pause on the way.
      during: async () => {
        const click = (/** @type {string} */ id) => this.page.evaluate(`{ const button = document.querySelector("${id}"); if (button.checkVisibility() && !button.disabled) button.click(); }`);
        const iteration = Number((await this.page.textContent("#train-words"))?.match(/^(?:Iteration|Paused at iteration) (\d+) /)?.[1] ?? 0);
        if (iteration >= 3 && !paused) {
          paused = true;
          await click("#train-pause");
          await click("#train-pause");
        }
        if (iteration > 30 && Date.now() - stopped > 2 * SECOND) {
          stopped = Date.now();
          await click("#train-stop");
        }
      },
      done: "/^Your voice is ready/.test(document.querySelector('#train-words').textContent)",
      failed: ["#train-error"],
      // The error of a failed pause is shown while the training continues.
      unless: "document.querySelector('#train-cancel').checkVisibility()",
    });
    await this.#loses();
  }

  /** Asserts that at most 25 iterations are repeated, unless the page has reported that they are not stored. */
  async #loses() {
    const iterations = await noted(this.page);
    const lost = iterations.map((iteration, i) => (i > 0 && iteration <= iterations[i - 1] ? iterations[i - 1] - iteration + 1 : 0));
    const unkept = await this.#words("#train-unkept");
    if (!unkept) assert.ok(Math.max(0, ...lost) <= 25, `at most 25 iterations are lost: ${iterations}`);
  }

  async speak() {
    await this.page.fill("#text", "Yes.");
    await this.#attempt("speak", {
      act: async () => {
        await this.#until("!document.querySelector('#mine .say').disabled");
        await this.page.click("#mine .say");
      },
      done: "document.querySelector('#mine .download').checkVisibility()",
      failed: ["#speak-error"],
    });
  }

  async save() {
    const file = await download(this.page, "#save");
    assert.ok(file.length > 1000, "the voice is saved");
  }

  /** Asserts that everything is stored for a later visit, except what the page has reported as not stored. */
  async remains() {
    const kept = await run(
      this,
      `faults.paused = true;
      const { Store } = await import(new URL("js/store.js", location.href).href);
      const store = new Store("ownvoice");
      const found = { recordings: (await store.all("recordings")).map(({ id }) => id), voice: (await store.get("run", "voice")) !== undefined };
      faults.paused = false;
      return found;`,
    );
    if (await this.#words("#kept-error")) return; // the page has reported that nothing is stored
    const told = this.said.some((said) => /^record .*(storage-|message-failed)/.test(said));
    if (!told) assert.deepEqual(kept.recordings, ["consent", "p01"], `no recording is lost: ${JSON.stringify(this.said)}`);
    if (!(await this.#words("#train-unkept"))) assert.equal(kept.voice, true, "the voice is kept");
  }

  async delete() {
    await this.#attempt("delete", {
      act: async () => {
        if ((await this.page.isHidden("#delete-all")) && (await this.#words("#kept-error"))) throw new GivenUp("delete: the page has said that it keeps nothing");
        this.page.once("dialog", (dialog) => dialog.accept());
        await this.page.click("#delete-all");
        await this.#until("document.querySelector('#deletion-words').textContent || document.querySelector('#deletion-error').checkVisibility()");
      },
      done: "document.querySelector('#deletion-words').textContent === 'Everything has been deleted.'",
      failed: ["#deletion-error"],
    });
    await this.page.evaluate("faults.paused = true");
    assert.deepEqual(await storedFiles(this), {}, "all of it is deleted");
    await this.page.evaluate("faults.paused = false");
  }

  /**
   * Tries a step until it is done. Where it fails, the page must show an error of its own, and a way to try again.
   * @param {string} step
   * @param {{ act: () => Promise<unknown>, done: string, failed: string[], again?: string, during?: () => Promise<unknown>, unless?: string }} how
   *   Conditions are expressions in the page; \`failed\` are the elements that show errors, except those of the engine.
   */
  async #attempt(step, { act, done, failed, again, during, unless = "false" }) {
    for (let tries = 0; tries < TRIES; tries++) {
      await act();
      const end = Date.now() + STEP_SECONDS * SECOND;
      for (;;) {
        await during?.();
        if (await this.page.evaluate(done)) return;
        const words = await this.#failure(step, unless, failed);
        if (words) break;
        assert.ok(Date.now() < end, `${step} ended neither well nor in words; it said: ${this.said.join(" | ")}; the page: ${await this.#text()}`);
        await sleep(30);
      }
      // Until the engine has restarted, or has failed.
      assert.ok(await this.#until("document.querySelector('#engine').dataset.state !== 'restarting'"), `${step}: the engine starts again`);
      if (await this.page.isVisible("#engine-reload")) await this.#click(step, "#engine-reload");
      else if (again) await this.#click(step, again);
    }
    throw new GivenUp(`${step}, tried ${TRIES} times: ${this.said.join(" | ")}`);
  }

  /** Clicks a button that reloads the page. @param {string} step @param {string} selector */
  async #click(step, selector) {
    assert.ok(await this.page.isEnabled(selector), `${step}: the visitor can go on by ${selector}`);
    await this.#collect();
    await Promise.all([this.page.waitForEvent("load"), this.page.click(selector)]);
    this.reloads += 1;
    if (step !== "load") await this.load();
  }

  async #reload() {
    await this.#collect();
    await this.page.reload();
  }

  /** Returns the error message of a failure, and records it. @param {string} step @param {string} unless @param {string[]} failed */
  async #failure(step, unless, failed) {
    if (await this.page.isVisible("#engine[data-state=failed]")) return this.#say(step, (await this.page.textContent("#engine-words")) ?? "", "engine.failed");
    if (await this.page.evaluate(unless)) return "";
    for (const selector of failed) {
      const words = await this.#words(selector);
      if (words) return this.#say(step, words, selector === "#deletion-error" ? "kept.notDeleted" : undefined);
    }
    return "";
  }

  /** @param {string} selector @returns {Promise<string>} The text of an element, empty where it is not shown. */
  #words(selector) {
    return this.page.evaluate(`{ const element = document.querySelector(${JSON.stringify(selector)}); element?.checkVisibility() ? element.textContent.trim() : "" }`);
  }

  /** Asserts that a message is one of the strings, and records it. @param {string} step @param {string} words @param {string} [key] Without it, the key follows from the code at the end. */
  #say(step, words, key = `error.${words.match(/([a-z-]+)$/)?.[1]}`) {
    const known = /** @type {{ [key: string]: string }} */ (en)[key];
    assert.ok(known, `${step}: "${words}" are words for this`);
    const pattern = known.split(/\{\w+\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join(".*");
    assert.match(words, new RegExp(pattern), step);
    this.said.push(`${step}: ${words}`);
    return words;
  }

  /** Waits until an expression is true. Returns false after the time limit. @param {string} expression */
  async #until(expression) {
    for (const end = Date.now() + STEP_SECONDS * SECOND; Date.now() < end; await sleep(30)) if (await this.page.evaluate(`Boolean(${expression})`)) return true;
    return false;
  }

  /** Collects the calls that were counted in this document. */
  async #collect() {
    const { calls, fired } = await this.page.evaluate("({ calls: faults.calls.splice(0), fired: faults.fired })");
    this.#calls.push(...calls);
    this.#fired += fired;
  }

  /** Returns the text of the page, for a message. @returns {Promise<string>} */
  #text() {
    return this.page.evaluate("document.body.innerText.replace(/\\s+/g, ' ')");
  }
}

/** A step that failed in every try. */
class GivenUp extends Error {}
