// The state of the page: one value, changed only by `update`, from which everything on it is drawn.

/** @import { Clip, ClipReport, Mel, Speech, Studio, TrainingStep, Voice } from "./js/index.js" */
/** @typedef {{ code?: string, message: string }} Failure */
/** @typedef {{ id: string, text: string, samples: Float32Array, sampleRate: number, report: ClipReport | null, error: Failure | null }} PageClip A clip with its verdict; neither while it is being checked. */

/** How much good speech makes a voice, and how little may be tried. */
export const WANTED_SECONDS = 60;
export const LEAST_SECONDS = 5;
/** Sentences on the card: a little over a minute of them. The base brings more, the best first. */
export const SENTENCES = 12;

/**
 * @typedef {object} State
 * @property {{ status: "loading", words: string, part: number | null } | { status: "ready" } | { status: "failed", error: Failure }} load
 * @property {Studio | null} studio
 * @property {{ id: string, text: string }[]} prompts The sentences to be read.
 * @property {"record" | "files"} source
 * @property {number} current The sentence on the card.
 * @property {"closed" | "opening" | "open" | "recording" | "checking"} microphone
 * @property {Failure | null} microphoneError
 * @property {Map<string, PageClip>} recordings By sentence id.
 * @property {PageClip[]} files
 * @property {Failure[]} fileErrors Files that could not be read.
 * @property {{ status: "idle" | "running" | "done" | "cancelled" | "opened", phase: "aligning" | "training" | "finishing", step: TrainingStep | null, losses: number[], first: number, seconds: number, error: Failure | null, resumable: { iteration: number, iterations: number } | null }} training
 * @property {Voice | null} voice
 * @property {{ base: Spoken, mine: Spoken }} spoken
 * @property {Failure | null} speakError
 */
/** @typedef {{ status: "idle" | "working" | "done", words: string, speech: Speech | null, url: string | null }} Spoken */

/** @type {Spoken} */
const silent = { status: "idle", words: "", speech: null, url: null };

/** @type {State} */
export const initial = {
  load: { status: "loading", words: "", part: null },
  studio: null,
  prompts: [],
  source: "record",
  current: 0,
  microphone: "closed",
  microphoneError: null,
  recordings: new Map(),
  files: [],
  fileErrors: [],
  training: { status: "idle", phase: "aligning", step: null, losses: [], first: 0, seconds: 0, error: null, resumable: null },
  voice: null,
  spoken: { base: silent, mine: silent },
  speakError: null,
};

/** What may be learnt from, in order. @param {State} state @returns {PageClip[]} */
export function goodClips({ source, files, recordings, prompts }) {
  const clips = source === "files" ? files : prompts.flatMap(({ id }) => recordings.get(id) ?? []);
  return clips.filter(({ report, text }) => report && text.trim());
}

/** @param {State} state Seconds of good speech. */
export const goodSeconds = (state) => goodClips(state).reduce((sum, { report }) => sum + (report?.speechSeconds ?? 0), 0);

/** @param {State} state The sentence on the card. */
export const currentPrompt = ({ prompts, current }) => prompts[current] ?? null;
