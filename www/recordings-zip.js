// Recordings as a zip file, and back: the layout is documented in docs/recordings.md.

import { readAudio } from "./audio-file.js";
import { addFiles } from "./files.js";
import { wavBlob } from "./js/index.js";
import { CONSENT, cards, checkClip, goodClips, isOwn, measureUsage, state, studio, update, updateUnlessDeleted } from "./state.js";
import { unzip, zip } from "./zip.js";

/** @import { Clip, Consent } from "./js/index.js" */

/** More recordings than any voice has. */
const MAX_RECORDINGS = 1000;

/** @param {string} text */
const oneLine = (text) => text.replace(/[\s|]+/g, " ").trim();

/** The good recordings on the page. @returns {{ clips: (Clip & { id: string })[], consent: Consent | null }} */
export const pageRecordings = () => ({ clips: goodClips(state), consent: state.source === "record" && state.recordings.get(CONSENT.id)?.report ? { text: CONSENT.text } : null });

/** @param {{ clips: (Clip & { id: string })[], consent: Consent | null }} recordings @returns {Promise<Blob>} */
export async function zipped({ clips, consent }) {
  const names = new Set();
  const rows = clips.map((clip) => {
    const stem = clip.id.replace(/[\\/:*?"<>|\p{Cc}]/gu, "_");
    let name = stem;
    for (let n = 2; names.has(name); n++) name = `${stem}-${n}`;
    names.add(name);
    return { name, clip };
  });
  const files = rows.map(({ name, clip }) => ({ name: `wavs/${name}.wav`, content: wavBlob(clip.samples, clip.sampleRate) }));
  const read = rows.find(({ clip }) => clip.text === consent?.text)?.name;
  if (consent?.recording && !read) files.push({ name: "consent.wav", content: wavBlob(consent.recording.samples, consent.recording.sampleRate) });
  const agreed = consent && { statement: consent.text, recording: read ? `wavs/${read}.wav` : consent.recording ? "consent.wav" : null };
  return zip([
    { name: "metadata.csv", content: new Blob([rows.map(({ name, clip }) => `${name}|${oneLine(clip.text)}\n`).join("")]) },
    ...(agreed ? [{ name: "consent.json", content: new Blob([JSON.stringify(agreed, null, 2)]) }] : []),
    ...files,
  ]);
}

/** Brings recordings back. Sentences of the page that have no good recording go to their cards, all others to the files. @param {File} file */
export async function bringBack(file) {
  const updateHere = updateUnlessDeleted();
  const entries = (await unzip(file)).filter(({ name }) => !/(^|\/)[._]/.test(name)).slice(0, MAX_RECORDINGS);
  const base = (/** @type {string} */ name) => name.replace(/^.*\//, "");
  const table = entries.find(({ name }) => base(name) === "metadata.csv");
  const texts = new Map((await table?.content.text())?.split(/\r?\n/).filter((line) => line.includes("|")).map((line) => /** @type {[string, string]} */ (line.split("|", 2).map((field) => field.trim()))));
  const shown = state.prompts.filter(isOwn);
  const own = [...texts].map(([id, text]) => ({ id, text })).filter((phrase) => isOwn(phrase) && !shown.some(({ id }) => id === phrase.id));
  const all = cards(studio(), studio().prompts.length, [...shown, ...own]);
  const least = all.filter(isOwn).length + state.prompts.length - shown.length;
  const isTable = (/** @type {string} */ name) => /\.(csv|txt)$/i.test(name);
  const tables = entries.filter(({ name }) => isTable(name)).map(({ name, content }) => new File([content], base(name)));
  const sounds = [];
  let back = 0;
  for (const { name, content } of entries) {
    // A consent that is not among the clips is none of the recordings.
    if (isTable(name) || /\.(json|md)$/i.test(name) || (base(name) === "consent.wav" && !texts.has("consent"))) continue;
    const sound = new File([content], base(name));
    const id = sound.name.replace(/\.[^.]*$/, "");
    const prompt = all.find((card) => card.id === id && card.text === texts.get(id));
    if (!prompt) sounds.push(sound);
    if (!prompt || state.recordings.get(id)?.report) continue;
    const clip = { ...prompt, ...(await readAudio(sound)) };
    await studio().storage?.put(clip);
    const checked = await checkClip(clip, "recording");
    const count = Math.max(least, state.prompts.length, 1 + all.indexOf(prompt));
    updateHere({ recordings: new Map(state.recordings).set(id, checked), prompts: all.slice(0, count), broughtBack: ++back });
  }
  updateHere({ broughtBack: back + sounds.length });
  if (sounds.length) {
    updateHere({ source: "files" });
    addFiles([...sounds, ...tables]);
  } else if (back) updateHere({ source: "record" });
  await measureUsage();
}
