// The texts of recordings: from lists such as metadata.csv, and from text files beside them.

const IDS = ["id", "file", "filename", "file_name", "path", "audio", "audio_file", "wav", "wav_filename", "clip"];
/** The normalised text is first. */
const TEXTS = ["normalized_text", "normalised_text", "text", "transcript", "transcription", "sentence"];

/** The name of a recording, without folders and extension; macOS decomposes accents in the names of files. @param {string} path */
export const nameOf = (path) =>
  path
    .normalize()
    .replace(/^.*[/\\]/, "")
    .replace(/\.[a-z0-9]{2,4}$/i, "");

/** Decodes UTF-8, or UTF-16 with its mark. @param {ArrayBuffer} bytes */
export function decodeText(bytes) {
  const [first, second] = new Uint8Array(bytes);
  const encoding = first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  return new TextDecoder(encoding).decode(bytes);
}

/** Splits a line at a separator. Only commas and semicolons may be quoted. @param {string} line @param {string} separator */
function fieldsOf(line, separator) {
  if (separator === "|" || separator === "\t") return line.split(separator).map((field) => field.trim());
  const fields = line.match(new RegExp(`(?:^|${separator})\\s*(?:"(?:[^"]|"")*"|[^${separator}]*)`, "g")) ?? [];
  return fields.map((field, index) => {
    const text = (index === 0 && !field.startsWith(separator) ? field : field.slice(1)).trim();
    return /^".*"$/.test(text) ? text.slice(1, -1).replaceAll('""', '"') : text;
  });
}

/** Whether half of the words of two texts are the same. @param {string} one @param {string} other */
function isAlike(one, other) {
  const words = (/** @type {string} */ text) => new Set(text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? []);
  const [first, second] = [words(one), words(other)];
  return [...first].filter((word) => second.has(word)).length * 2 >= Math.max(first.size, second.size, 1);
}

/**
 * Reads a list of recordings and texts: `id|text`, `id|text|normalised text`, or columns that the first line names. A line that can be read in two ways has no
 * text, so that the visitor types it.
 * @param {string} list @returns {[name: string, text: string][]}
 */
export function readList(list) {
  const lines = list.split(/\r\n|\r|\n/).filter((line) => line.trim());
  const separator = ["|", "\t", ";", ","].find((separator) => lines[0]?.includes(separator));
  if (!separator) return [];
  const rows = lines.map((line) => fieldsOf(line, separator));
  const names = rows[0].map((name) => name.toLowerCase().replace(/[ -]/g, "_"));
  const id = names.findIndex((name) => IDS.includes(name));
  const text = names.indexOf(TEXTS.find((name) => names.includes(name)) ?? "");
  const named = id >= 0 && text >= 0;
  /** @type {[string, string][]} */
  const texts = [];
  for (const row of named ? rows.slice(1) : rows) {
    while (row.length > 2 && row.at(-1) === "" && row.length > (named ? names.length : 0)) row.pop();
    const isClear = named ? row.length === names.length : row.length === 2 || (row.length === 3 && isAlike(row[1], row[2]));
    if (isClear) texts.push([nameOf(row[named ? id : 0]), row[named ? text : 1]]);
  }
  return texts.filter(([name, text]) => name && text);
}

/** The engine takes a text of at most twice this length at once. */
const MOST_CHARACTERS = 10_000;

/** Splits a text of any length after paragraphs, or else after sentences or words. @param {string} text @returns {string[]} */
export function chapters(text) {
  const parts = [];
  let rest = text;
  while (rest.length > MOST_CHARACTERS) {
    const head = rest.slice(0, MOST_CHARACTERS);
    const end = [/^[^]*\n\s*\n/, /^[^]*[.!?]["'”’)]*\s/, /^[^]*\s/].map((pattern) => head.match(pattern)?.[0].length ?? 0).find((length) => length > MOST_CHARACTERS / 2) ?? MOST_CHARACTERS;
    parts.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  // A text without anything but spaces is left to the engine, which says so.
  return rest.trim() || !parts.length ? [...parts, rest] : parts;
}
