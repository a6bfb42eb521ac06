// Recordings from files: chosen, dropped (folders too) or pasted.

import { readAudio } from "./audio-file.js";
import { checked, state, studio, update } from "./state.js";

/** @import { Failure } from "./state.js" */

/** A longer file is not one of the sentences. */
const MAX_SENTENCE_SECONDS = 20;

const isText = (/** @type {File} */ { name }) => /\.(csv|txt)$/i.test(name);
/** What of a folder is read; files that are chosen one by one all are. @param {File} file */
const isSound = ({ type, name }) => /^(audio|video)\//.test(type) || /\.(wav|mp3|m4a|aac|ogg|oga|opus|flac|webm|mp4|mov|mkv)$/i.test(name);
const stem = (/** @type {string} */ name) => name.replace(/\.[^.]*$/, "");

/** @param {Iterable<File>} chosen */
export async function addFiles(chosen) {
  const all = [...chosen];
  const texts = new Map();
  for (const file of all.filter(isText)) {
    const text = (await file.text()).replace(/^\uFEFF/, "");
    if (/\.txt$/i.test(file.name)) texts.set(stem(file.name), text.replace(/\s+/g, " ").trim());
    else for (const line of text.split(/\r?\n/)) if (line.includes("|")) texts.set(.../** @type {[string, string]} */ (line.split("|", 2).map((field) => field.trim())));
  }
  const sounds = all.filter((file) => !isText(file)).sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));

  const { deletions } = state;
  for (const file of sounds) {
    if (deletions !== state.deletions) return;
    const id = stem(file.name);
    const others = state.files.filter((other) => other.id !== id);
    const errors = state.fileErrors.filter(({ message }) => message !== file.name);
    try {
      const audio = await readAudio(file);
      const clip = await checked({ id, text: texts.get(id) ?? sentence(id, audio.samples.length / audio.sampleRate), ...audio }, "file");
      if (deletions === state.deletions) update({ files: [...others, clip], fileErrors: errors });
    } catch (error) {
      const { code, found } = /** @type {Failure} */ (error);
      if (deletions === state.deletions) update({ fileErrors: [...errors, { code, found, message: file.name }] });
    }
  }
}

/** The sentence that a file is named after, or the next that no file has. @param {string} id @param {number} seconds */
function sentence(id, seconds) {
  const { prompts } = studio();
  const used = new Set(state.files.map(({ text }) => text));
  const next = seconds > MAX_SENTENCE_SECONDS ? undefined : prompts.find(({ text }) => !used.has(text));
  return (prompts.find((prompt) => prompt.id === id) ?? next)?.text ?? "";
}

/** What was dropped, with the sound and text files in folders. @param {DataTransfer} dropped @returns {Promise<File[]>} */
export async function droppedFiles(dropped) {
  // The list is empty once the event has passed.
  const entries = [...dropped.items].map((item) => item.webkitGetAsEntry?.());
  const files = [...dropped.files];
  if (!entries.some((entry) => entry?.isDirectory)) return files;
  const found = await Promise.all(entries.map((entry) => (entry ? within(entry, false) : [])));
  return found.flat();
}

/** @param {FileSystemEntry} entry @param {boolean} inFolder @returns {Promise<File[]>} */
async function within(entry, inFolder) {
  if (entry.isFile) {
    /** @type {File} */
    const file = await new Promise((resolve, reject) => /** @type {FileSystemFileEntry} */ (entry).file(resolve, reject));
    return !inFolder || isSound(file) || isText(file) ? [file] : [];
  }
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  const found = [];
  for (;;) {
    /** A part of them at a time, until there are no more. @type {FileSystemEntry[]} */
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return (await Promise.all(found)).flat();
    found.push(...some.map((other) => within(other, true)));
  }
}

/** @param {string} id @param {string} text */
export function write(id, text) {
  update({ files: state.files.map((clip) => (clip.id === id ? { ...clip, text } : clip)) });
}

/** Checks a clip against its new text. @param {string} id */
export async function checkAgain(id) {
  const clip = state.files.find((clip) => clip.id === id);
  if (!clip) return;
  const verdict = await checked(clip, "file");
  // The text may have been changed again meanwhile.
  update({ files: state.files.map((now) => (now.id === id && now.text === clip.text ? verdict : now)) });
}

/** @param {string} id */
export const removeFile = (id) => update({ files: state.files.filter((clip) => clip.id !== id) });
