// Recordings from files: chosen, dropped (folders too) or pasted.

import { readAudio } from "./audio-file.js";
import { checkClip, state, studio, update, updateUnlessDeleted } from "./state.js";

/** @import { Failure } from "./state.js" */

/** A longer file is not taken for one of the sentences. */
const MAX_SENTENCE_SECONDS = 20;

const isText = (/** @type {File} */ { name }) => /\.(csv|txt)$/i.test(name);
/** Whether a file of a folder is read; files that are chosen one by one are all read. @param {File} file */
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
  const updateHere = updateUnlessDeleted();
  for (const file of sounds) {
    if (deletions !== state.deletions) return;
    const id = stem(file.name);
    // Read when they are needed: the visitor may change files meanwhile.
    const otherFiles = () => state.files.filter((other) => other.id !== id);
    const otherErrors = () => state.fileErrors.filter(({ message }) => message !== file.name);
    try {
      const audio = await readAudio(file);
      const clip = await checkClip({ id, text: texts.get(id) ?? likelyText(id, audio.samples.length / audio.sampleRate), ...audio }, "file");
      updateHere({ files: [...otherFiles(), clip], fileErrors: otherErrors() });
    } catch (error) {
      const { code, found } = /** @type {Failure} */ (error);
      updateHere({ fileErrors: [...otherErrors(), { code, found, message: file.name }] });
    }
  }
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
    return !inFolder || isSound(file) || isText(file) ? [file] : [];
  }
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  const found = [];
  for (;;) {
    /** Entries come in parts, until a part is empty. @type {FileSystemEntry[]} */
    const entries = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (entries.length === 0) return (await Promise.all(found)).flat();
    found.push(...entries.map((other) => filesIn(other, true)));
  }
}

/** @param {string} id @param {string} text */
export function changeText(id, text) {
  update({ files: state.files.map((clip) => (clip.id === id ? { ...clip, text } : clip)) });
}

/** Checks a clip against its new text. @param {string} id */
export async function checkAgain(id) {
  const clip = state.files.find((clip) => clip.id === id);
  if (!clip) return;
  const checked = await checkClip(clip, "file");
  // The text may have changed again meanwhile.
  update({ files: state.files.map((now) => (now.id === id && now.text === clip.text ? checked : now)) });
}

/** @param {string} id */
export const removeFile = (id) => update({ files: state.files.filter((clip) => clip.id !== id) });
