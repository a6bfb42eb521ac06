// Recordings from files: chosen, dropped (folders too) or pasted. Each file has its row at once, and is then read and checked, one after the other.

import { readAudio } from "./audio-file.js";
import { checkClip, measureUsage, state, studio, unticked, update } from "./state.js";
import { decodeText, nameOf, readList } from "./texts.js";

/** @import { Recording } from "./js/index.js" */
/** @import { Failure, FileClip } from "./state.js" */

/** A longer file is not taken for one of the sentences. */
const MAX_SENTENCE_SECONDS = 20;
/** Prefix of the ids under which files are stored beside the sentences. */
const STORED = "file:";

const isText = (/** @type {string} */ name) => /\.(csv|tsv|txt)$/i.test(name);
/** Whether a file of a folder is read; files that are chosen one by one are all read. @param {File} file */
const isSound = ({ type, name }) => /^(audio|video)\//.test(type) || /\.(wav|mp3|m4a|aac|ogg|oga|opus|flac|webm|mp4|mov|mkv)$/i.test(name);
const stem = (/** @type {string} */ name) => name.replace(/\.[^.]*$/, "");
const byName = (/** @type {{ name: string }} */ a, /** @type {{ name: string }} */ b) => a.name.localeCompare(b.name, undefined, { numeric: true });

/** The paths of files within a dropped folder, where names may repeat. @type {WeakMap<File, string>} */
const paths = new WeakMap();

let nextKey = 1;
/** The last of the files that wait to be read. @type {Promise<void>} */
let queue = Promise.resolve();

/** @param {Omit<FileClip, "key" | "id" | "report" | "error" | "notStored">} clip @param {string[]} others Names of the other files. @returns {FileClip} */
function newRow(clip, others) {
  // `plain.m4a` and `plain.mp3` are two files.
  const isAlone = others.every((name) => name === clip.name || stem(name) !== stem(clip.name));
  return { ...clip, key: nextKey++, id: isAlone ? stem(clip.name) : clip.name, report: null, error: null, notStored: null };
}

/** The row by which work that takes time finds its file again; undefined once the file is removed, replaced or deleted. @param {number} key */
const find = (key) => state.files.find((clip) => clip.key === key);

/** @param {number} key @param {Partial<FileClip>} change */
const patch = (key, change) => update({ files: state.files.map((clip) => (clip.key === key ? { ...clip, ...change } : clip)) });

/** @param {Iterable<File>} chosen */
export async function addFiles(chosen) {
  const { deletions } = state;
  const all = [...chosen].map((file) => ({ file, name: paths.get(file) ?? file.name }));
  /** @type {Map<string, string>} */
  const texts = new Map();
  for (const { file, name } of all.filter(({ name }) => isText(name))) {
    const text = decodeText(await file.arrayBuffer());
    if (/\.txt$/i.test(name)) for (const known of [nameOf(name), stem(name)]) texts.set(known, text.replace(/\s+/g, " ").trim());
    else for (const [known, said] of readList(text)) texts.set(known, said);
  }
  if (deletions !== state.deletions) return;
  const sounds = all.filter(({ name }) => !isText(name)).sort(byName);
  // A file of the same name is another version of that file.
  const others = state.files.filter((clip) => !sounds.some(({ name }) => name === clip.name));
  const names = [...others, ...sounds].map(({ name }) => name);
  const rows = sounds.map(({ name }) => newRow({ name, text: "", samples: new Float32Array(), sampleRate: 0 }, names));
  update({ files: [...others, ...rows] });
  sounds.forEach(({ file, name }, index) => (queue = queue.then(() => read(rows[index].key, file, texts.get(stem(name)) ?? texts.get(nameOf(name))))));
  return queue;
}

/** @param {number} key @param {File} file @param {string | undefined} text */
async function read(key, file, text) {
  if (!find(key)) return;
  try {
    const audio = await readAudio(file);
    patch(key, { ...audio, text: text ?? likelyText(stem(file.name), audio.samples.length / audio.sampleRate) });
  } catch (error) {
    return patch(key, { error: /** @type {Failure} */ (error) });
  }
  await Promise.all([check(key), keep(key)]);
}

/** Checks a clip against its text, again as long as the text changes meanwhile. @param {number} key */
async function check(key) {
  const clip = find(key);
  if (!clip?.samples.length) return;
  // The verdict on the text before it stays meanwhile: nothing moves below the pointer.
  const { report, error } = await checkClip(clip, "file");
  if (find(key)?.text === clip.text) patch(key, { report, error });
  else await check(key);
}

/** Stores a file, so that it outlives the tab. @param {number} key */
async function keep(key) {
  const clip = find(key);
  if (!clip?.samples.length) return;
  const id = STORED + clip.name;
  try {
    await studio().storage?.put({ ...clip, id });
    // It was removed while it was being written.
    if (!state.files.some(({ name }) => name === clip.name)) await studio().storage?.remove(id);
  } catch (error) {
    patch(key, { notStored: /** @type {Failure} */ (error) });
  }
  await measureUsage();
}

/** Whether what is stored comes from a file, and not from the microphone. @param {Recording} recording */
export const isStoredFile = ({ id }) => id.startsWith(STORED);

/** The rows of the stored files. @param {Recording[]} stored @returns {FileClip[]} */
export function restoredFiles(stored) {
  const files = stored.map((clip) => ({ ...clip, name: clip.id.slice(STORED.length) }));
  return files.sort(byName).map((clip) => newRow(clip, files.map(({ name }) => name)));
}

/** Checks the restored files, which the page does not wait for. */
export function checkRestored() {
  for (const { key } of state.files) queue = queue.then(() => check(key));
}

/** The text of the sentence that a file is named after, or the next one that no file has. @param {string} id @param {number} seconds */
function likelyText(id, seconds) {
  const { prompts } = studio();
  const used = new Set(state.files.map(({ text }) => text));
  const next = seconds > MAX_SENTENCE_SECONDS ? undefined : prompts.find(({ text }) => !used.has(text));
  return (prompts.find((prompt) => prompt.id === id) ?? next)?.text ?? "";
}

/** The files that were dropped, and the sound and text files of folders. @param {DataTransfer} dropped @returns {Promise<File[]>} */
export async function droppedFiles(dropped) {
  // The list is empty after the event.
  const entries = [...dropped.items].map((item) => item.webkitGetAsEntry?.());
  const files = [...dropped.files];
  if (!entries.some((entry) => entry?.isDirectory)) return files;
  const found = await Promise.all(entries.map((entry) => (entry ? filesIn(entry, false) : [])));
  return found.flat();
}

/** @param {FileSystemEntry} entry @param {boolean} inFolder @returns {Promise<File[]>} */
async function filesIn(entry, inFolder) {
  if (entry.isFile) {
    /** @type {File} */
    const file = await new Promise((resolve, reject) => /** @type {FileSystemFileEntry} */ (entry).file(resolve, reject));
    if (inFolder && entry.fullPath) paths.set(file, entry.fullPath.slice(1));
    return !inFolder || isSound(file) || isText(file.name) ? [file] : [];
  }
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  const found = [];
  for (;;) {
    /** Entries come in parts, until a part is empty. @type {FileSystemEntry[]} */
    const entries = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (entries.length === 0) return (await Promise.all(found)).flat();
    // macOS writes `._a.wav` beside `a.wav`, and `__MACOSX` into archives.
    const shown = entries.filter(({ name }) => !name.startsWith(".") && name !== "__MACOSX");
    found.push(...shown.map((other) => filesIn(other, true)));
  }
}

/** @param {string} id */
const withId = (id) => state.files.find((clip) => clip.id === id);

/** @param {string} id @param {string} text */
export function changeText(id, text) {
  const clip = withId(id);
  if (clip) patch(clip.key, { text });
}

/** Checks and stores a clip with its new text. @param {string} id */
export async function checkAgain(id) {
  const clip = withId(id);
  if (clip) await Promise.all([check(clip.key), keep(clip.key)]);
}

/** @param {string} id */
export async function removeFile(id) {
  const clip = withId(id);
  const files = state.files.filter((other) => other !== clip);
  // A tick for the speaker of these files is none for that of others.
  update({ files, filesConsent: files.length ? state.filesConsent : unticked(state) });
  if (clip) await studio().storage?.remove(STORED + clip.name).then(measureUsage, console.error);
}
