// WAV files in place of recordings.

import { checked, state, studio, update } from "./state.js";

/** @import { Failure } from "./state.js" */

/** @param {FileList | File[]} chosen */
export async function addFiles(chosen) {
  const all = [...chosen];
  const tables = await Promise.all(all.filter(({ name }) => name.endsWith(".csv")).map((file) => file.text()));
  const texts = new Map(tables.flatMap((table) => table.split(/\r?\n/).filter((line) => line.includes("|")).map((line) => /** @type {[string, string]} */ (line.split("|").map((field) => field.trim())))));
  const waves = all.filter(({ name }) => !name.endsWith(".csv")).sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));

  const { deletions } = state;
  for (const file of waves) {
    if (deletions !== state.deletions) return;
    const id = file.name.replace(/\.[^.]*$/, "");
    const used = new Set(state.files.map(({ text }) => text));
    const { prompts } = studio();
    const text = texts.get(id) ?? prompts.find((prompt) => prompt.id === id)?.text ?? prompts.find((prompt) => !used.has(prompt.text))?.text ?? "";
    try {
      const clip = await checked({ id, text, ...(await studio().readWav(file)) }, "file");
      if (deletions === state.deletions) update({ files: [...state.files.filter((other) => other.id !== id), clip] });
    } catch (error) {
      const { code } = /** @type {Failure} */ (error);
      update({ fileErrors: [...state.fileErrors.filter(({ message }) => message !== file.name), { code, message: file.name }] });
    }
  }
}

/** @param {string} id @param {string} text */
export function write(id, text) {
  update({ files: state.files.map((clip) => (clip.id === id ? { ...clip, text } : clip)) });
}

/** Another text may be what the clip says. @param {string} id */
export async function checkAgain(id) {
  const clip = state.files.find((clip) => clip.id === id);
  if (!clip) return;
  const verdict = await checked(clip, "file");
  // The text may have been changed once more meanwhile.
  update({ files: state.files.map((now) => (now.id === id && now.text === clip.text ? verdict : now)) });
}

/** @param {string} id */
export const removeFile = (id) => update({ files: state.files.filter((clip) => clip.id !== id) });
