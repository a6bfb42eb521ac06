// The voices that this browser keeps side by side, each with its name, its file and the recordings that it was learned from.
//
//   voice-ID    the voice (`KeptVoice`), written last: what no voice refers to is removed
//   file-ID     its file
//   sound-HASH  a recording as a WAV file; voices share equal ones
//   last        the id of the voice that was used last
//   said, pronunciations  what was said, and how (said.js)
//   microphone  the id of the chosen one (recording.js)

import { activity } from "./activities.js";
import { showMaking } from "./dom.js";
import { removeFile } from "./files.js";
import { sha256 } from "./js/download.js";
import { isLost } from "./js/errors.js";
import { OwnvoiceError, wavBlob } from "./js/index.js";
import { bringBack, pageRecordings, zipped } from "./recordings-zip.js";
import { endSpeaking, fileName, replaceVoice, save, showVoice } from "./speaking.js";
import { STORAGE, initial, isOwn, measureUsage, state, studio, unlessCancelled, update } from "./state.js";
import { t } from "./strings.js";

/** @import { Audio, Clip, Consent, Similarity, Storage, Studio, Voice } from "./js/index.js" */
/** @import { Task } from "./shared/activity.js" */
/** @import { Failure, KeptVoice, Name, State } from "./state.js" */
/** What a voice was learned from, and what it is called. @typedef {{ name?: string, clips?: (Clip & { id?: string })[], consent?: Consent | null }} Origin */

/** A voice file is a hundredth of this. */
const MAX_FILE_BYTES = 100e6;
/** A voice file begins with its metadata, after their length in eight bytes. */
const MAX_METADATA_BYTES = 1e6;

/** @param {Blob} blob */
const bytesOf = async (blob) => new Uint8Array(await blob.arrayBuffer());
/** @param {Uint8Array<ArrayBuffer>} bytes */
const fileOf = (bytes) => new Blob([bytes], { type: "application/octet-stream" });
/** @param {string} id */
const withId = (id) => state.bank.find((kept) => kept.id === id);
/** Changes in one tab at a time: the clean-up of one must not take what another is writing. @template T @param {() => Promise<T>} change */
const exclusively = (change) => navigator.locks.request(`ownvoice-bank-${STORAGE}`, change);

/** The hash of the base that a voice file was made with; null where the file does not say. @param {Blob} file */
async function baseOf(file) {
  try {
    const length = Number(new DataView(await file.slice(0, 8).arrayBuffer()).getBigUint64(0, true));
    if (length > MAX_METADATA_BYTES) return null;
    const { ownvoice } = JSON.parse(await file.slice(8, 8 + length).text()).__metadata__;
    return String(JSON.parse(ownvoice).base);
  } catch {
    return null; // it is no voice file, as the engine will say
  }
}

/** Reads the voices of earlier visits, the newest first. @param {Storage} storage @returns {Promise<Pick<State, "bank" | "bases">>} */
async function read(storage) {
  const keys = (await storage.keptKeys()).filter((key) => key.startsWith("voice-"));
  /** @type {KeptVoice[]} */
  const bank = (await Promise.all(keys.map((key) => storage.kept(key)))).filter(Boolean);
  return { bank: bank.sort((a, b) => (b.made ?? 0) - (a.made ?? 0)), bases: await storage.keptBases() };
}

/** Removes what belongs to no voice. @param {Storage} storage */
async function tidy(storage) {
  const { bank, bases } = await read(storage);
  const used = new Set(bank.flatMap(({ id, clips, consent }) => [`voice-${id}`, `file-${id}`, ...[...clips, consent].map((clip) => `sound-${clip?.sound}`)]));
  for (const key of await storage.keptKeys()) if (/^(voice|file|sound)-/.test(key) && !used.has(key)) await storage.removeKept(key);
  for (const hash of bases) if (!bank.some(({ base }) => base === hash)) await storage.removeBase(hash);
}

/** Reads the voices, takes over those that earlier versions of the page have stored, and opens the one that was used last.
 * @param {Studio} studio @returns {Promise<{ voice: Voice | null, similarity: Similarity | null }>} */
export async function restoreVoices(studio) {
  const storage = /** @type {Storage} */ (studio.storage);
  const { voice, otherVoices } = await storage.training();
  try {
    update(await read(storage));
    for (const file of [...otherVoices, ...(voice ? [voice] : [])]) await keepFile(file, {}, null);
    const last = (await storage.kept("last"))?.id;
    const kept = [...state.bank.filter(({ id }) => id === last), ...state.bank].find(canOpen);
    if (kept) return { voice: await openKept(kept), similarity: kept.similarity };
  } catch (error) {
    if (isLost(error)) throw error;
    update({ bankError: /** @type {Failure} */ (error) });
  }
  // The disk may be too full to keep it, or the one before cannot be opened.
  return { voice: voice && (await studio.open(voice)), similarity: null };
}

/** A name that no other voice has. @param {string} wanted */
function unused(wanted) {
  const names = new Set(state.bank.map(({ name }) => name));
  let name = wanted;
  for (let n = 2; names.has(name); n++) name = `${wanted} ${n}`;
  return name;
}

/** Keeps a voice file; does nothing where it is kept already. @param {Blob} file @param {Origin} origin @param {number | null} made */
async function keepFile(file, { name, clips = [], consent = null }, made) {
  const { deletions } = state;
  const { storage, hash } = studio();
  if (!storage) return;
  const bytes = await bytesOf(file);
  const id = (await sha256(bytes)).slice(0, 16);
  const keep = (/** @type {string} */ key, /** @type {object} */ value) => {
    if (deletions !== state.deletions) throw new OwnvoiceError("cancelled", "everything was deleted meanwhile");
    return storage.keep(key, value);
  };
  /** Stores a recording. @param {Audio} audio @returns {Promise<string>} Its hash. */
  const keepSound = async ({ samples, sampleRate }) => {
    const wav = await bytesOf(wavBlob(samples, sampleRate));
    const sound = await sha256(wav);
    if (!(await storage.kept(`sound-${sound}`))) await keep(`sound-${sound}`, { wav });
    return sound;
  };
  const write = async () => {
    const base = await baseOf(file);
    await keep(`file-${id}`, { bytes });
    if (base === hash) await storage.keepBase();
    const kept = [];
    for (const [index, clip] of clips.entries()) kept.push({ id: clip.id ?? `${index + 1}`, text: clip.text, sound: await keepSound(clip) });
    const agreed = consent && { text: consent.text, sound: consent.recording ? await keepSound(consent.recording) : null };
    await keep(`voice-${id}`, { id, name: unused(name || t("bank.mine")), made, base, similarity: null, clips: kept, consent: agreed });
  };
  await exclusively(async () => {
    // Another tab may have kept it.
    if (!(await storage.kept(`voice-${id}`))) await write().catch((error) => tidy(storage).then(() => Promise.reject(error)));
    update(await read(storage));
  });
}

/** Keeps the current voice. It can be used whether or not that succeeds. @param {Voice} voice @param {Origin} [origin] */
export async function keepVoice(voice, origin) {
  try {
    await keepFile(await voice.save(), origin ?? {}, Date.now());
    await remember(voice.info.id);
  } catch (error) {
    update({ bankError: unlessCancelled(error) });
  }
}

/** @param {string} id */
const remember = async (id) => withId(id) && studio().storage?.keep("last", { id });

/** Changes what is kept of a voice. @param {string} id @param {Partial<KeptVoice>} change */
async function change(id, change) {
  const { storage } = studio();
  await exclusively(async () => {
    const kept = await storage?.kept(`voice-${id}`);
    if (kept && withId(id)) await storage?.keep(`voice-${id}`, { ...kept, ...change });
  });
  update({ bank: state.bank.map((kept) => (kept.id === id ? { ...kept, ...change } : kept)) });
}

/** Keeps how similar a voice is to its speaker. @param {string} id @param {Similarity} similarity */
export const keepSimilarity = (id, similarity) => change(id, { similarity }).catch(console.error);

/** Whether a voice can be opened here. @param {KeptVoice} kept */
export const canOpen = ({ base }) => base === state.studio?.hash || state.bases.includes(base ?? "");

/** The bases beside the page's own, by hash. @type {Map<string, Promise<Studio>>} */
const studios = new Map();
/** The bases of the voices that were opened on them. @type {WeakMap<Voice, string>} */
const elsewhere = new WeakMap();

/** Opens a voice file on the base that it was made with. @param {Blob} file @param {AbortSignal} [signal] */
async function openFile(file, signal) {
  if (file.size > MAX_FILE_BYTES) throw new OwnvoiceError("voice-corrupt", `${file.size} bytes are no voice`);
  const base = await baseOf(file);
  if (base === null || base === studio().hash) return studio().open(file, { signal });
  if (!studios.has(base)) {
    const opening = studio().openBase(base, { signal });
    studios.set(base, opening);
    opening.catch(() => studios.delete(base));
  }
  const voice = await (await /** @type {Promise<Studio>} */ (studios.get(base))).open(file, { signal });
  elsewhere.set(voice, base);
  return voice;
}

/** Frees the bases that no voice in use needs. */
export function closeUnused() {
  const used = [state.voice, state.compared?.voice].map((voice) => voice && elsewhere.get(voice));
  for (const [base, opening] of studios) {
    if (used.includes(base)) continue;
    studios.delete(base);
    opening.then((studio) => studio.close(), () => {});
  }
}

/** @param {KeptVoice} kept @param {AbortSignal} [signal] */
async function openKept({ id }, signal) {
  const file = await studio().storage?.kept(`file-${id}`);
  if (!file) throw new OwnvoiceError("voice-corrupt", "its file is missing");
  return openFile(fileOf(file.bytes), signal);
}

/** Does something with a kept voice, alone; shows why where it fails. @param {string} id @param {(kept: KeptVoice, task: Task<Name>) => Promise<unknown>} work */
const withKept = (id, work) =>
  activity.perform("openingVoice", async (task) => {
    const kept = withId(id);
    update({ bankError: null });
    try {
      if (kept) await work(kept, task);
    } catch (error) {
      if (!task.isOver) update({ bankError: unlessCancelled(error) });
    }
    closeUnused();
  });

/** Opens a voice in the place of the current one. @param {Voice} voice @param {Task<Name>} task */
async function show(voice, task) {
  if (task.isOver) return voice.close();
  await replaceVoice(voice);
  if (task.isOver) return;
  if (state.compared?.id === voice.info.id) await endComparison();
  await remember(voice.info.id);
  showVoice(withId(voice.info.id)?.similarity ?? null);
}

/** Lets the base voice speak again in the place of a kept one. */
async function endComparison() {
  const { compared } = state;
  if (!compared) return;
  endSpeaking("base");
  update({ compared: null });
  await compared.voice.close();
}

/** @param {string} id */
export const useVoice = (id) => withKept(id, async (kept, task) => show(await openKept(kept, task.signal), task));

/** Lets a kept voice speak in place of the base voice; again: the base voice. @param {string} id */
export const compareVoice = (id) =>
  withKept(id, async (kept, task) => {
    const voice = state.compared?.id === id ? null : await openKept(kept, task.signal);
    if (task.isOver) return voice?.close();
    await endComparison();
    update({ compared: voice && { id, voice } });
  });

/** @param {string} id */
export const renameVoice = (id) =>
  withKept(id, async ({ name }) => {
    const given = prompt(t("bank.newName"), name)?.trim().slice(0, 60);
    if (given && given !== name) await change(id, { name: unused(given) });
  });

/** @param {string} id */
export const deleteVoice = (id) =>
  withKept(id, async ({ name }) => {
    const { storage } = studio();
    if (!storage || !confirm(t("bank.sure", { name }))) return;
    const { voice, compared } = state;
    if (voice?.info.id === id) {
      await replaceVoice(null);
      update({ training: { ...state.training, outcome: "none" } });
    }
    if (compared?.id === id) await endComparison();
    await exclusively(async () => {
      await storage.removeKept(`voice-${id}`);
      await storage.removeVoice(id); // that of the last training is stored once more
      await tidy(storage);
      update(await read(storage));
    });
    await measureUsage();
  });

/** Saves a voice as a file. @param {string} id */
export const saveVoiceFile = (id) =>
  withKept(id, async ({ name }) => {
    const file = await studio().storage?.kept(`file-${id}`);
    if (file) save(fileOf(file.bytes), `${fileName(name)}.ownvoice`);
  });

/** The recordings that a voice was learned from. @param {KeptVoice} kept @returns {Promise<Required<Origin> & { clips: (Clip & { id: string })[] }>} */
async function originOf({ name, clips, consent }) {
  /** @param {string} hash */
  const sound = async (hash) => {
    const stored = await studio().storage?.kept(`sound-${hash}`);
    if (!stored) throw new OwnvoiceError("recording-missing", "the recording cannot be read");
    return studio().readWav(fileOf(stored.wav));
  };
  const heard = [];
  for (const clip of clips) heard.push({ id: clip.id, text: clip.text, ...(await sound(clip.sound)) });
  return { name, clips: heard, consent: consent && { text: consent.text, recording: consent.sound ? await sound(consent.sound) : undefined } };
}

/** The recordings that a voice was learned from, to learn it anew; null where they cannot be read. @param {string} id */
export async function recordingsOf(id) {
  /** @type {Awaited<ReturnType<typeof originOf>> | null} */
  let origin = null;
  await withKept(id, async (kept) => (origin = await originOf(kept)));
  return /** @type {typeof origin} */ (origin);
}

/** Opens a voice file, and keeps it. @param {Blob & { name?: string }} file */
export const openVoice = (file) =>
  activity.perform("openingVoice", async (task) => {
    try {
      const voice = await openFile(file, task.signal);
      if (!task.isOver) await keepFile(file, { name: file.name?.replace(/\.\w+$/, "") }, Date.now()).catch((error) => update({ bankError: unlessCancelled(error) }));
      await show(voice, task);
      if (!task.isOver) update({ speakError: null });
    } catch (error) {
      if (!task.isOver) update({ speakError: unlessCancelled(error) });
    }
    closeUnused();
  });

/** Saves recordings as a zip file: those on the page, or those of a voice. @param {string} [id] */
export async function downloadRecordings(id) {
  const origin = id === undefined ? { name: "", ...pageRecordings() } : await recordingsOf(id);
  if (origin?.clips.length) save(await zipped(origin), `${fileName([origin.name, t("bank.recordings")].filter(Boolean).join(", "))}.zip`);
}

/** Brings recordings back from a zip file. @param {File} file */
export const bringRecordingsBack = (file) =>
  activity.perform("openingVoice", async (task) => {
    update({ bankError: null, broughtBack: null });
    try {
      await bringBack(file);
      showMaking();
    } catch (error) {
      if (!task.isOver) update({ bankError: unlessCancelled(error) });
    }
  });

/** Frees the cards and the list of files for another voice: what a kept voice was learned from stays with it. */
export async function makeRoom() {
  const { deletions } = state;
  const kept = new Set(state.bank.flatMap(({ clips, consent }) => [...clips, consent].map((clip) => clip?.sound)));
  const isKept = async (/** @type {Audio} */ { samples, sampleRate }) => samples.length > 0 && kept.has(await sha256(await bytesOf(wavBlob(samples, sampleRate))));
  for (const clip of [...state.recordings.values()].filter((clip) => !isOwn(clip))) {
    if (!(await isKept(clip)) || deletions !== state.deletions) continue;
    await studio().storage?.remove(clip.id).catch(console.error);
    update({ recordings: new Map([...state.recordings].filter(([id]) => id !== clip.id)) });
  }
  for (const clip of state.files) if (await isKept(clip)) await removeFile(clip.id);
  update({ current: 0, discarded: null, training: { ...initial.training, resumable: state.training.resumable } });
  await measureUsage();
}

/** Asks the browser to keep what is stored. */
export async function askToKeep() {
  await studio().storage?.persist();
  update({ usage: { ...state.usage, asked: true } });
  await measureUsage();
}
