// The state of index.html.

import { breaksOff } from "./interruption.js";
import { Storage } from "./js/index.js";
import { createStore } from "./shared/page.js";

/** @import { ClipReport, Picture, PrecisionReport, Profile, Recovery, Similarity, Speech, Studio, TextWarning, TrainingStep, Voice } from "./js/index.js" */
/** @import { Loading } from "./shared/page.js" */
/** @import { Origin } from "./js/wav.js" */
/** @import { Track } from "./shared/track.js" */
/** @typedef {{ code?: string, message: string, clip?: number, found?: number }} Failure */
/** A measurement on demand: the part that is done, and the result. @template T @typedef {{ part: number, found: T | null, error: Failure | null }} Measured */
/** A clip with its report or its error; with neither while it is being checked.
 * @typedef {{ id: string, text: string, samples: Float32Array, sampleRate: number, report: ClipReport | null, error: Failure | null }} PageClip */
/** A clip from a file; it has no samples before the file is read. `key` is another for each version of the file; `notStored` says why it would not outlive the tab.
 * @typedef {PageClip & { key: number, name: string, notStored: Failure | null }} FileClip */
/** Whose voice the files are, and whether the visitor has ticked that the speaker agreed. @typedef {{ whose: "mine" | "other", name: string, agreed: boolean }} FilesConsent */

/**
 * A voice that this browser keeps. Its file and the sounds of its recordings are stored beside it.
 * @typedef {object} KeptVoice
 * @property {string} id That of the voice file.
 * @property {string} name
 * @property {number | null} made When, in milliseconds since 1970; null where it is not known.
 * @property {string | null} base Hash of the base voice that it was made with.
 * @property {Similarity | null} similarity
 * @property {{ id: string, text: string, sound: string }[]} clips What it was learned from; `sound` is the hash of a WAV file.
 * @property {{ text: string, sound: string | null } | null} consent
 */

/** A text that was said; whether the visitor keeps it as a phrase. @typedef {{ text: string, kept: boolean }} Said */

/** Name under which this page stores what outlives the tab. */
export const STORAGE = "ownvoice";
/** Good speech that makes a voice, and the least that may be tried. */
export const WANTED_SECONDS = 60;
export const MIN_SECONDS = 5;
/** Sentences on the cards at first: about a minute of speech. The base has more of them, the best ones first, which follow after the last card. */
export const SENTENCES = 12;
/** What is spoken during a training; English, like everything that is spoken. */
export const PREVIEW = "Good morning. I am glad that you can hear me.";
/** The first card. It is English like all other sentences: it is aligned, trained on, and stored in the voice file. */
export const CONSENT = { id: "consent", text: "This is my own voice, and I agree that this page learns to speak with it." };

/** What the page does. `listening` has the microphone open between two recordings. `switching` changes between microphone and files; `openingVoice` reads a voice file.
 * @typedef {"unloaded" | "loading" | "failed" | "idle" | "opening" | "recording" | "checking" | "listening" | "learning" | "profile" | "precision" | "switching" | "openingVoice"} Name */
/** The step that is shown. @typedef {"agree" | "read" | "train" | "talk"} Step */
/** The voice that is speaking a text. @typedef {"silent" | "base" | "mine"} Speaker */

/**
 * @typedef {object} State
 * @property {Name} activity What the page does.
 * @property {Step} step The step that is shown.
 * @property {Speaker} speaker The voice that is speaking a text.
 * @property {Loading} loading
 * @property {Failure | null} loadError Why the page could not start.
 * @property {Recovery | null} engine The last restart of the engine.
 * @property {Studio | null} studio
 * @property {{ id: string, text: string }[]} prompts The sentences to be read: consent, own phrases, those of the base.
 * @property {"record" | "files"} source
 * @property {number} current Index of the sentence on the card.
 * @property {Failure & { kept?: boolean } | null} microphoneError Why nothing was recorded; `kept` where an earlier recording stays.
 * @property {Map<string, PageClip>} recordings By sentence id.
 * @property {PageClip | null} discarded The recording that was discarded last, which can be brought back.
 * @property {FileClip[]} files
 * @property {FilesConsent} filesConsent
 * @property {Training} training
 * @property {string | null} preview The sentence that is spoken during a training.
 * @property {Voice | null} voice
 * @property {KeptVoice[]} bank The voices that this browser keeps, the newest first.
 * @property {string[]} bases Hashes of the base voices that it keeps.
 * @property {{ id: string, voice: Voice } | null} compared The voice that speaks in place of the base voice.
 * @property {Failure | null} bankError
 * @property {Said[]} said The latest first.
 * @property {string} pronunciations Lines of `word = how`.
 * @property {Failure | null} saidNotStored Why what was said and how words are pronounced would not outlive the tab.
 * @property {boolean} canOpus Whether the browser can save sounds as Opus.
 * @property {{ deviceId: string, label: string }[]} microphones Those that the browser has named.
 * @property {string} microphone Id of the chosen one; empty for the browser's choice.
 * @property {boolean} isLarge Whether the text is shown large.
 * @property {number | null} broughtBack How many recordings were brought back from a file.
 * @property {{ base: Spoken, mine: Spoken }} spoken
 * @property {{ speed: number, pitch: number, liveliness: number }} delivery How texts are spoken.
 * @property {TextWarning[]} textWarnings Warnings about the text that was spoken last.
 * @property {Failure | null} speakError
 * @property {{ status: "none" | "few" | "measuring" | "done", part: number, similarity: Similarity | null }} likeness How similar the voice is to its speaker.
 * @property {Measured<Profile>} profile The time that each module of a training step takes.
 * @property {Measured<PrecisionReport>} precision Whether a training step computes what the CPU computes.
 * @property {{ bytes: number, persistent: boolean, asked: boolean, totalBytes: number }} usage Space in use on this machine; the total includes program and base voice.
 * @property {{ status: "none" | "running" | "done", error: Failure | null }} deletion
 * @property {number} deletions How often everything was deleted.
 * @property {{ ready: boolean, newer: boolean, failed: boolean }} offline
 */
/**
 * @typedef {object} Training
 * @property {"none" | "done" | "cancelled" | "opened"} outcome How the last training ended; `opened` for a voice from a file or an earlier visit.
 * @property {"aligning" | "training" | "finishing"} phase
 * @property {boolean} paused
 * @property {TrainingStep | null} step
 * @property {number[]} losses One per iteration.
 * @property {{ iteration: number, loss: number }[]} heldOut Losses of the held-out clips.
 * @property {{ iteration: number, picture: Picture, firstDifferenceDb: number } | null} picture
 * @property {Failure | null} notStored Why this training would not outlive the tab.
 * @property {number} first First iteration of this run.
 * @property {number} seconds The time that this run's iterations took, without pauses.
 * @property {number} steps The number of these iterations.
 * @property {{ iteration: number, speech: Speech } | null} preview
 * @property {Failure | null} error
 * @property {string | null} badClip The clip at which it failed.
 * @property {{ iteration: number, iterations: number } | null} resumable
 */
/** A text as it was spoken; `isRecorded` where it is the visitor's own recording, `stop` as that of a speech, `firstAudioMs` is the time from the click to the first sound. @typedef {{ speech: Track | null, stop: Speech["stop"], isRecorded: boolean, text: string, origin: Origin, file: Blob | null, firstAudioMs: number | null }} Spoken */

/** @type {Spoken} */
const NOT_SPOKEN = { speech: null, stop: "durations", isRecorded: false, text: "", origin: {}, file: null, firstAudioMs: null };

/** @type {State} */
export const initial = {
  activity: "unloaded",
  step: "agree",
  speaker: "silent",
  loading: { key: "load.starting", values: {}, part: null },
  loadError: null,
  engine: null,
  studio: null,
  prompts: [],
  source: "record",
  current: 0,
  microphoneError: null,
  recordings: new Map(),
  discarded: null,
  files: [],
  filesConsent: { whose: "mine", name: "", agreed: false },
  training: { outcome: "none", phase: "aligning", paused: false, step: null, losses: [], heldOut: [], picture: null, notStored: null, first: 0, seconds: 0, steps: 0, preview: null, error: null, badClip: null, resumable: null },
  preview: PREVIEW,
  voice: null,
  bank: [],
  bases: [],
  compared: null,
  bankError: null,
  said: [],
  pronunciations: "",
  saidNotStored: null,
  canOpus: false,
  microphones: [],
  microphone: "",
  isLarge: false,
  broughtBack: null,
  spoken: { base: NOT_SPOKEN, mine: NOT_SPOKEN },
  delivery: { speed: 1, pitch: 0, liveliness: 1 },
  textWarnings: [],
  speakError: null,
  likeness: { status: "none", part: 0, similarity: null },
  profile: { part: 0, found: null, error: null },
  precision: { part: 0, found: null, error: null },
  usage: { bytes: 0, persistent: false, asked: false, totalBytes: 0 },
  deletion: { status: "none", error: null },
  deletions: 0,
  offline: { ready: false, newer: false, failed: false },
};

export const { state, update, drawWith } = createStore(initial);

/** Returns an `update` that does nothing once everything has been deleted: what began before a deletion must not restore anything. */
export function updateUnlessDeleted() {
  const { deletions } = state;
  return (/** @type {Partial<State>} */ change) => void (deletions === state.deletions && update(change));
}

/** The studio, in handlers that only a loaded page can reach. */
export function studio() {
  if (!state.studio) throw new Error("the page has not loaded");
  return state.studio;
}

/** @param {unknown} error @returns {Failure | null} Null where the visitor has cancelled. */
export const unlessCancelled = (error) => (/** @type {Failure} */ (error).code === "cancelled" ? null : /** @type {Failure} */ (error));

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

/** Clips to train on, in order. @param {State} state @returns {PageClip[]} */
export function goodClips({ source, files, recordings, prompts }) {
  const clips = source === "files" ? files : prompts.flatMap(({ id }) => recordings.get(id) ?? []);
  return clips.filter(({ report, text }) => report && text.trim());
}

/** Whether leaving the page now loses something. @param {State} state */
export const wouldLose = ({ activity, studio, recordings, files, voice }) =>
  ["recording", "checking", "learning"].includes(activity) || Boolean(studio && !studio.storage && (recordings.size || files.length || voice));

/** Seconds of good speech. @param {State} state */
export const goodSeconds = (state) => goodClips(state).reduce((sum, { report }) => sum + (report?.speechSeconds ?? 0), 0);

/** Whether the speaker has agreed. @param {State} state */
export const consented = ({ source, filesConsent, recordings }) => (source === "files" ? filesConsent.agreed : Boolean(recordings.get(CONSENT.id)?.report));

/** A tick holds for the statement beside it, and no longer once that has changed. @param {State} state @returns {FilesConsent} */
export const unticked = ({ filesConsent }) => ({ ...filesConsent, agreed: false });

/** Whether a card is that of a phrase of the visitor's own. @param {{ id: string }} prompt */
export const isOwn = ({ id }) => id.startsWith("own-");

/** The consent, phrases of the visitor's own, and the first sentences of a base. @param {Studio} studio @param {number} count @param {State["prompts"]} own @returns {State["prompts"]} */
export const cards = ({ prompts }, count, own) => (prompts.length + own.length ? [CONSENT, ...own, ...prompts.slice(0, count)] : []);

/** The good recording of a phrase of the visitor's own. @param {string} text @returns {PageClip | undefined} */
export function recordedPhrase(text) {
  const plain = (/** @type {string} */ words) => words.trim().replace(/\s+/g, " ").toLowerCase();
  return [...state.recordings.values()].find((clip) => isOwn(clip) && clip.report && plain(clip.text) === plain(text));
}

/** Whether the base has further sentences than those on the cards. @param {State} state */
export const hasMorePrompts = ({ studio, prompts }) => prompts.length > 0 && prompts.filter((prompt) => !isOwn(prompt)).length <= (studio?.prompts.length ?? 0);

/** The sentence on the card. @param {State} state */
export const currentPrompt = ({ prompts, current }) => prompts[current] ?? null;

/** Whether the sentence on the card may be recorded: nothing is recorded before the speaker has agreed. @param {State} state */
export function mayRecord(state) {
  const prompt = currentPrompt(state);
  return prompt !== null && (prompt.id === CONSENT.id || consented(state));
}

/** Checks a clip. A recording that begins or ends within speech was started late or stopped early; a file may have been trimmed.
 * @param {Omit<PageClip, "report" | "error">} clip @param {"recording" | "file"} kind @returns {Promise<PageClip>} */
export async function checkClip(clip, kind) {
  if (kind === "recording" && breaksOff(clip)) return { ...clip, report: null, error: { code: "recording-interrupted", message: "the microphone's sound broke off" } };
  try {
    // Without a text only the level can be checked.
    const report = await studio().checkClip({ ...clip, text: clip.text.trim() || undefined });
    const error = kind === "recording" ? cutOff(report) : null;
    return { ...clip, report: error ? null : report, error };
  } catch (error) {
    const failure = /** @type {Failure} */ (error);
    return { ...clip, report: null, error: kind === "recording" ? await likelyCause(clip, failure) : failure };
  }
}

/** @param {ClipReport} report @returns {Failure | null} */
const cutOff = ({ cutOff }) => cutOff && { code: `clip-cut-off-${cutOff}`, message: "the recording begins or ends within a word" };

/** A sentence that is cut off does not match its text: the cut is the more helpful reason. @param {Omit<PageClip, "report" | "error">} clip @param {Failure} error */
const likelyCause = async (clip, error) =>
  error.code === "clip-mismatch" ? ((await studio().checkClip({ ...clip, text: undefined }).then(cutOff, () => null)) ?? error) : error;
