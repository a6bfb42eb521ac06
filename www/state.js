// The state of the page: one value, changed only by `update`, from which everything on it is drawn.

import { Storage } from "./js/index.js";

/** @import { ClipReport, Picture, PrecisionReport, Profile, Similarity, Speech, Studio, TextWarning, TrainingStep, Voice } from "./js/index.js" */
/** @typedef {{ code?: string, message: string, clip?: number, found?: number }} Failure */
/** Something that is measured on demand; `part` of it is done. @template T @typedef {{ status: "none" | "measuring" | "done", part: number, found: T | null, error: Failure | null }} Measured */
/** @typedef {{ id: string, text: string, samples: Float32Array, sampleRate: number, report: ClipReport | null, error: Failure | null }} PageClip A clip with its verdict; neither while it is being checked. */

/** Name under which this page stores what outlives the tab. */
export const STORAGE = "ownvoice";
/** Good speech that makes a voice, and the least that may be tried. */
export const WANTED_SECONDS = 60;
export const MIN_SECONDS = 5;
/** Sentences on the cards: a little over a minute of them. The base brings more, the best first. */
export const SENTENCES = 12;
/** The first card. English like all that is read: it is aligned, learned from, and kept in the voice file. */
export const CONSENT = { id: "consent", text: "This is my own voice, and I agree that this page learns to speak with it." };

/**
 * @typedef {object} State
 * @property {{ status: "loading", words: string, part: number | null } | { status: "ready" } | { status: "failed", error: Failure }} load
 * @property {{ status: "working" } | { status: "restarting" | "restarted" | "failed", code: string, toCpu: boolean }} engine
 * @property {Studio | null} studio
 * @property {{ id: string, text: string }[]} prompts The sentences to be read, consent first.
 * @property {"record" | "files"} source
 * @property {number} current The sentence on the card.
 * @property {"closed" | "opening" | "open" | "recording" | "checking"} microphone
 * @property {Failure | null} microphoneError
 * @property {Map<string, PageClip>} recordings By sentence id.
 * @property {PageClip[]} files
 * @property {Failure[]} fileErrors Files that could not be read.
 * @property {boolean} filesConsent Ticked where files are used.
 * @property {Training} training
 * @property {string | null} preview The preview sentence.
 * @property {Voice | null} voice
 * @property {Blob | null} voiceFile The same as a file, which a new engine opens.
 * @property {Blob[]} otherVoices Stored voices that were made with another base voice.
 * @property {{ base: Spoken, mine: Spoken }} spoken
 * @property {{ speed: number, pitch: number, liveliness: number }} delivery How texts are spoken.
 * @property {TextWarning[]} textWarnings Of the text that was spoken last.
 * @property {Failure | null} speakError
 * @property {{ status: "none" | "measuring" | "done", part: number, similarity: Similarity | null }} likeness How near the voice comes to its speaker.
 * @property {Measured<Profile>} profile Where a training step's time goes.
 * @property {Measured<PrecisionReport>} precision Whether it computes what the CPU does.
 * @property {{ bytes: number, persistent: boolean, asked: boolean, totalBytes: number }} usage Space in use on this machine; the total includes program and base voice.
 * @property {{ status: "none" | "running" | "done", error: Failure | null }} deletion
 * @property {number} deletions How often everything was deleted: what began before a deletion must not restore anything.
 * @property {{ ready: boolean, newer: boolean, failed: boolean }} offline
 */
/**
 * @typedef {object} Training
 * @property {"idle" | "running" | "interrupted" | "learned" | "done" | "cancelled" | "opened"} status What was learned is stored, but the engine ended before the page had it.
 * @property {"aligning" | "training" | "finishing"} phase
 * @property {boolean} paused
 * @property {TrainingStep | null} step
 * @property {number[]} losses One an iteration.
 * @property {{ iteration: number, loss: number }[]} heldOut Losses of the held-out clips.
 * @property {{ iteration: number, picture: Picture, firstDifferenceDb: number } | null} picture
 * @property {Failure | null} notStored Why this training would not outlive the tab.
 * @property {number} first First iteration of this run.
 * @property {number} seconds
 * @property {{ iteration: number, speech: Speech } | null} preview
 * @property {Failure | null} error
 * @property {string | null} badClip The clip that it failed at.
 * @property {{ iteration: number, iterations: number } | null} resumable
 */
/** @typedef {{ status: "idle" | "working" | "done", words: string, speech: Speech | null, url: string | null, firstAudioMs: number | null }} Spoken `firstAudioMs` from the click to the first sound. */

/** @type {Spoken} */
const silent = { status: "idle", words: "", speech: null, url: null, firstAudioMs: null };

/** @type {State} */
export const initial = {
  load: { status: "loading", words: "", part: null },
  engine: { status: "working" },
  studio: null,
  prompts: [],
  source: "record",
  current: 0,
  microphone: "closed",
  microphoneError: null,
  recordings: new Map(),
  files: [],
  fileErrors: [],
  filesConsent: false,
  training: { status: "idle", phase: "aligning", paused: false, step: null, losses: [], heldOut: [], picture: null, notStored: null, first: 0, seconds: 0, preview: null, error: null, badClip: null, resumable: null },
  preview: null,
  voice: null,
  voiceFile: null,
  otherVoices: [],
  spoken: { base: silent, mine: silent },
  delivery: { speed: 1, pitch: 0, liveliness: 1 },
  textWarnings: [],
  speakError: null,
  likeness: { status: "none", part: 0, similarity: null },
  profile: { status: "none", part: 0, found: null, error: null },
  precision: { status: "none", part: 0, found: null, error: null },
  usage: { bytes: 0, persistent: false, asked: false, totalBytes: 0 },
  deletion: { status: "none", error: null },
  deletions: 0,
  offline: { ready: false, newer: false, failed: false },
};

/** The current state, changed by `update` only. */
export let state = initial;

let draw = () => {};
/** @param {() => void} drawing Called after each change. */
export const drawnBy = (drawing) => void (draw = drawing);

/** @param {Partial<State>} change */
export function update(change) {
  state = { ...state, ...change };
  draw();
}

/** The studio, in the handlers that only a loaded page can reach. */
export function studio() {
  if (!state.studio) throw new Error("the page has not loaded");
  return state.studio;
}

/** @param {unknown} error @returns {Failure | null} Null where the visitor ended it. */
export const failure = (error) => (/** @type {Failure} */ (error).code === "cancelled" ? null : /** @type {Failure} */ (error));

/** Updates the space in use, whether or not there is an engine. */
export async function measureUsage() {
  try {
    const usage = await Storage.usage(STORAGE);
    const { usage: totalBytes = 0 } = (await navigator.storage?.estimate?.()) ?? {};
    update({ usage: { ...state.usage, ...usage, totalBytes } });
  } catch (error) {
    console.info(`The space in use is unknown: ${/** @type {Error} */ (error).message}`); // a private window
  }
}

/** Whether the engine has ended with this error. @param {Failure | null} error */
export const isLost = (error) => ["worker-crashed", "device-lost"].includes(error?.code ?? "");

/** Clips to train on, in order. @param {State} state @returns {PageClip[]} */
export function goodClips({ source, files, recordings, prompts }) {
  const clips = source === "files" ? files : prompts.flatMap(({ id }) => recordings.get(id) ?? []);
  return clips.filter(({ report, text }) => report && text.trim());
}

/** @param {State} state Seconds of good speech. */
export const goodSeconds = (state) => goodClips(state).reduce((sum, { report }) => sum + (report?.speechSeconds ?? 0), 0);

/** @param {State} state Whether the speaker has agreed. */
export const consented = ({ source, filesConsent, recordings }) => (source === "files" ? filesConsent : Boolean(recordings.get(CONSENT.id)?.report));

/** @param {State} state The sentence on the card. */
export const currentPrompt = ({ prompts, current }) => prompts[current] ?? null;

/** @param {State} state Whether the sentence on the card may be recorded: nothing is before the speaker has agreed. */
export function mayRecord(state) {
  const prompt = currentPrompt(state);
  return prompt !== null && (prompt.id === CONSENT.id || consented(state));
}

/** A clip with its verdict. A recording that begins or ends within speech was started late or stopped early; a file may have been trimmed.
 * @param {Omit<PageClip, "report" | "error">} clip @param {"recording" | "file"} kind @returns {Promise<PageClip>} */
export async function checked(clip, kind) {
  try {
    // Without a text only the level can be checked.
    const report = await studio().checkClip({ ...clip, text: clip.text.trim() || undefined });
    const error = kind === "recording" ? cutOff(report) : null;
    return { ...clip, report: error ? null : report, error };
  } catch (error) {
    return { ...clip, report: null, error: kind === "recording" ? await cause(clip, /** @type {Failure} */ (error)) : /** @type {Failure} */ (error) };
  }
}

/** @param {ClipReport} report @returns {Failure | null} */
const cutOff = ({ cutOff }) => cutOff && { code: `clip-cut-off-${cutOff}`, message: "the recording begins or ends within a word" };

/** A cut-off sentence mismatches its text: that it is cut off is the more helpful reason. @param {Omit<PageClip, "report" | "error">} clip @param {Failure} error */
const cause = async (clip, error) => (error.code === "clip-mismatch" ? ((await studio().checkClip({ ...clip, text: undefined }).then(cutOff, () => null)) ?? error) : error);
