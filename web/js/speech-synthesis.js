// The Web Speech API's `speechSynthesis` with voices of this package, for programs that were written for that API.

/** @import { Speech } from "./speech.js" */
/** @import { Voice } from "./voice.js" */

/** How many seconds of speech are scheduled before they are played. */
const AHEAD_SECONDS = 10;
/** Delay before a sound, because one that is scheduled in the past loses its first samples. */
const LEAD_SECONDS = 0.02;
/** The longest interval at which the clock of the audio context is polled, in milliseconds. */
const POLL_MS = 100;

/** Returns a number within bounds, and 1, the API's default, for what is not a number. @param {unknown} value @param {number} least @param {number} most */
const within = (value, least, most) => Math.min(most, Math.max(least, Number.isFinite(Number(value)) ? Number(value) : 1));

/** An event of an utterance. */
export class SpeechSynthesisEvent extends Event {
  /** @param {string} type @param {{ utterance: SpeechSynthesisUtterance, charIndex?: number, charLength?: number, elapsedTime?: number, name?: string, error?: string }} about */
  constructor(type, { utterance, charIndex = 0, charLength = 0, elapsedTime = 0, name = "", error }) {
    super(type);
    this.utterance = utterance;
    this.charIndex = charIndex;
    this.charLength = charLength;
    /** Seconds since the utterance began. */
    this.elapsedTime = elapsedTime;
    /** "word" for a boundary. */
    this.name = name;
    /** Why an utterance ended early: "canceled", "interrupted" or "synthesis-failed". @type {string | undefined} */
    this.error = error;
  }
}

const EVENTS = /** @type {const} */ (["start", "end", "error", "pause", "resume", "mark", "boundary"]);

/** A text to be spoken. */
export class SpeechSynthesisUtterance extends EventTarget {
  lang = "";
  /** @type {SpeechSynthesisVoice | null} */
  voice = null;
  /** 0 to 1. */
  volume = 1;
  /** 0.1 to 10; the voice reaches 0.25 to 4. */
  rate = 1;
  /** 0 to 2: an octave below and above the voice's own. */
  pitch = 1;
  /** @type {((event: SpeechSynthesisEvent) => void) | null} */
  onstart = null;
  /** @type {((event: SpeechSynthesisEvent) => void) | null} */
  onend = null;
  /** @type {((event: SpeechSynthesisEvent) => void) | null} */
  onerror = null;
  /** @type {((event: SpeechSynthesisEvent) => void) | null} */
  onpause = null;
  /** @type {((event: SpeechSynthesisEvent) => void) | null} */
  onresume = null;
  /** Never called: a text is no SSML. @type {((event: SpeechSynthesisEvent) => void) | null} */
  onmark = null;
  /** @type {((event: SpeechSynthesisEvent) => void) | null} */
  onboundary = null;

  /** @param {string} [text] */
  constructor(text = "") {
    super();
    this.text = `${text}`;
    for (const type of EVENTS) this.addEventListener(type, (event) => this[`on${type}`]?.(/** @type {SpeechSynthesisEvent} */ (event)));
  }
}

/** A voice as the API lists it. */
export class SpeechSynthesisVoice {
  /** @internal @param {string} name @param {Voice} voice @param {boolean} isDefault */
  constructor(name, voice, isDefault) {
    this.name = name;
    this.voiceURI = `ownvoice:${voice.info.id}`;
    this.lang = "en-US";
    this.localService = true;
    this.default = isDefault;
    Object.freeze(this);
  }
}

class Queued {
  abort = new AbortController();
  /** When it begins to sound, in the context's seconds. @type {number | null} */
  at = null;
  /** The index in the text of the word whose boundary event was sent last. */
  charIndex = 0;

  /** @param {SpeechSynthesisUtterance} utterance */
  constructor(utterance) {
    this.utterance = utterance;
  }
}

/**
 * The Web Speech API's queue of utterances, spoken with voices of this package. It needs a user gesture before it may sound, as every sound of a page does.
 */
export class SpeechSynthesis extends EventTarget {
  /** @type {Map<SpeechSynthesisVoice, Voice>} */
  #voices;
  /** The first one is being spoken. @type {Queued[]} */
  #queue = [];
  /** @type {AudioContext | undefined} */
  #context;
  #isPaused = false;
  #isRunning = false;
  /** Never called, since the voices do not change. @type {((event: Event) => void) | null} */
  onvoiceschanged = null;

  /** @param {{ [name: string]: Voice }} voices By the names that programs show; the first is the default. */
  constructor(voices) {
    super();
    this.#voices = new Map(Object.entries(voices).map(([name, voice], index) => [new SpeechSynthesisVoice(name, voice, index === 0), voice]));
    if (this.#voices.size === 0) throw new TypeError("SpeechSynthesis needs a voice");
  }

  /** @returns {SpeechSynthesisVoice[]} */
  getVoices() {
    return [...this.#voices.keys()];
  }

  /** Whether an utterance is being spoken, also while it is paused. */
  get speaking() {
    return this.#queue.length > 0;
  }

  /** Whether further utterances wait. */
  get pending() {
    return this.#queue.length > 1;
  }

  get paused() {
    return this.#isPaused;
  }

  /** Speaks an utterance after those that wait. @param {SpeechSynthesisUtterance} utterance */
  speak(utterance) {
    if (!(utterance instanceof SpeechSynthesisUtterance)) throw new TypeError("speak needs a SpeechSynthesisUtterance of this package");
    this.#queue.push(new Queued(utterance));
    this.#run();
  }

  /** Ends the utterance that is being spoken, and removes those that wait. */
  cancel() {
    const ended = this.#queue;
    this.#queue = [];
    for (const queued of ended) {
      queued.abort.abort();
      this.#send("error", queued, { error: queued.at === null ? "canceled" : "interrupted" });
    }
  }

  pause() {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#context?.suspend();
    this.#sendToCurrent("pause");
  }

  resume() {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#context?.resume();
    this.#sendToCurrent("resume");
  }

  /** @param {"pause" | "resume"} type */
  #sendToCurrent(type) {
    const [current] = this.#queue;
    if (current && current.at !== null) this.#send(type, current);
  }

  /** @param {typeof EVENTS[number]} type @param {Queued} queued @param {{ charLength?: number, name?: string, error?: string }} [about] */
  #send(type, { utterance, at, charIndex }, about) {
    const elapsedTime = at === null ? 0 : Math.max(0, (this.#context?.currentTime ?? at) - at);
    utterance.dispatchEvent(new SpeechSynthesisEvent(type, { utterance, charIndex, elapsedTime, ...about }));
  }

  async #run() {
    if (this.#isRunning) return;
    this.#isRunning = true;
    for (let queued; (queued = this.#queue[0]); ) {
      const { signal } = queued.abort;
      try {
        await this.#say(queued, signal);
        if (!signal.aborted) this.#send("end", queued);
      } catch {
        if (!signal.aborted) this.#send("error", queued, { error: "synthesis-failed" });
        queued.abort.abort();
      }
      if (this.#queue[0] === queued) this.#queue.shift();
    }
    this.#isRunning = false;
    // A context holds the audio device.
    this.#context?.close();
    this.#context = undefined;
  }

  /** Plays an utterance to its end, or until it is cancelled. @param {Queued} queued @param {AbortSignal} signal */
  async #say(queued, signal) {
    const { text, voice, rate, pitch, volume } = queued.utterance;
    const context = (this.#context ??= new AudioContext());
    if (this.#isPaused) context.suspend();
    else context.resume();
    const output = new GainNode(context, { gain: within(volume, 0, 1) });
    output.connect(context.destination);
    signal.addEventListener("abort", () => output.disconnect());
    /** Resolves at a time of the context, which stands still while it is paused. @param {number} time */
    const until = async (time) => {
      while (context.currentTime < time && !signal.aborted) {
        const ms = context.state === "running" ? (time - context.currentTime) * 1000 : POLL_MS;
        await new Promise((resolve) => setTimeout(resolve, Math.min(ms, POLL_MS)));
      }
    };
    /** @param {number} at */
    const start = async (at) => {
      queued.at = at;
      await until(at);
      if (!signal.aborted) this.#send("start", queued);
    };
    const delivery = { speed: within(rate, 0.25, 4), pitch: 12 * Math.log2(within(pitch, 0.5, 2)) };
    const own = (voice && this.#voices.get(voice)) ?? /** @type {Voice} */ (this.#voices.values().next().value);
    // Events come in order, beside the making of what follows.
    let events = Promise.resolve();
    let [next, cursor] = [0, 0];
    for await (const speech of text.trim() ? own.stream(text, { ...delivery, signal }) : []) {
      const at = Math.max(context.currentTime + LEAD_SECONDS, next);
      if (queued.at === null) events = start(at);
      const source = new AudioBufferSourceNode(context, { buffer: speech.toAudioBuffer(context) });
      source.connect(output);
      source.start(at);
      for (const { begin, charIndex, charLength } of writtenWords(text, speech, cursor)) {
        cursor = charIndex + charLength;
        events = events.then(() => until(at + begin)).then(() => {
          if (signal.aborted) return;
          queued.charIndex = charIndex;
          this.#send("boundary", queued, { charLength, name: "word" });
        });
      }
      next = at + speech.samples.length / speech.sampleRate + speech.pauseSeconds;
      await until(next - AHEAD_SECONDS);
    }
    if (queued.at === null) events = start(context.currentTime);
    await events;
    await until(next + (context.outputLatency || 0));
    output.disconnect();
  }
}

/** The written words of a part of a text, when they begin, and where the whole has them: a part may have other blanks. @param {string} whole @param {Speech} speech @param {number} from Where the part may begin. */
function writtenWords(whole, { text, words }, from) {
  let last = -1;
  return words.flatMap(({ begin, charIndex, charLength }) => {
    // "5:30" is spoken as two words, and is one.
    if (charIndex === last || charLength === 0) return [];
    last = charIndex;
    const at = whole.indexOf(text.slice(charIndex, charIndex + charLength), from);
    if (at < 0) return [];
    from = at + charLength;
    return [{ begin, charIndex: at, charLength }];
  });
}

/**
 * Puts voices of this package in the place of the browser's, for programs that use the global `speechSynthesis`.
 *
 * @param {{ [name: string]: Voice }} voices By the names that programs show; the first is the default.
 * @returns {SpeechSynthesis}
 */
export function installSpeechSynthesis(voices) {
  const speechSynthesis = new SpeechSynthesis(voices);
  const globals = { speechSynthesis, SpeechSynthesis, SpeechSynthesisEvent, SpeechSynthesisUtterance, SpeechSynthesisVoice };
  for (const [name, value] of Object.entries(globals)) Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  return speechSynthesis;
}
