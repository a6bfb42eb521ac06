// What was said, to be said again: phrases that the visitor keeps or has recorded, and the latest other texts.

import { activity, isHearing } from "./activities.js";
import { $, showError } from "./dom.js";
import { showPhrase } from "./recording.js";
import { createElement, renderChildren } from "./shared/dom.js";
import { endSpeaking, toggleSpeaking } from "./speaking.js";
import { measureUsage, recordedPhrase, state, studio, update } from "./state.js";
import { t } from "./strings.js";

/** @import { Storage } from "./js/index.js" */
/** @import { Failure, Said, State } from "./state.js" */

/** The most texts that are remembered without being kept, and the longest one. */
const MOST = 12;
const MAX_LENGTH = 300;

/** Reads what was said at earlier visits. @param {Storage} storage */
export async function restoreSaid(storage) {
  update({ said: (await storage.kept("said"))?.said ?? [], pronunciations: (await storage.kept("pronunciations"))?.lines ?? "" });
}

/** Stores how words are pronounced. @param {string} lines @returns {Promise<void>} */
export function pronounce(lines) {
  update({ pronunciations: lines });
  return store("pronunciations", { lines });
}

/** @param {"said" | "pronunciations"} name @param {object} value */
async function store(name, value) {
  try {
    await studio().storage?.keep(name, value);
    update({ saidNotStored: null });
    await measureUsage();
  } catch (error) {
    update({ saidNotStored: /** @type {Failure} */ (error) });
  }
}

/** @param {Said[]} said @returns {Promise<void>} */
function change(said) {
  let others = 0;
  update({ said: said.filter(({ kept }) => kept || others++ < MOST) });
  return store("said", { said: state.said });
}

/** The others, without a text. @param {string} text */
const without = (text) => state.said.filter((each) => each.text !== text);

/** Speaks with the visitor's voice, or with the base voice as long as there is none, and remembers the text. Stops where it speaks already. @param {string} [again] A text that was said before. */
export async function say(again) {
  const { deletions, speaker } = state;
  if (isHearing(activity.current)) return;
  if (again !== undefined) {
    if (speaker !== "silent") endSpeaking(speaker);
    $("text").value = again;
  }
  const text = $("text").value.trim();
  if (!(await toggleSpeaking(state.voice || recordedPhrase(text) ? "mine" : "base")) || deletions !== state.deletions || text.length > MAX_LENGTH) return;
  const kept = state.said.some((each) => each.text === text && each.kept);
  await change([{ text, kept }, ...without(text)]);
}

/** What the buttons of a text do. @type {{ [act: string]: (text: string) => unknown }} */
const ACTS = {
  say,
  record: showPhrase,
  keep: (text) => change(state.said.map((each) => (each.text === text ? { text, kept: !each.kept } : each))),
  forget: (text) => change(without(text)),
};

/** @param {HTMLElement} button */
export const act = ({ dataset: { act = "", said = "" } }) => ACTS[act]?.(said);

/** @param {State} state */
export function renderSaid({ said, pronunciations, saidNotStored, activity: current }) {
  showError($("said-error"), saidNotStored);
  if (document.activeElement !== $("pronunciations")) $("pronunciations").value = pronunciations;
  $("said-title").hidden = said.length === 0;
  const rows = [...said.filter(({ kept }) => kept), ...said.filter(({ kept }) => !kept)].map(({ text, kept }) => {
    /** @param {string} act @param {object} properties */
    const button = (act, properties) => {
      const made = createElement("button", { type: "button", ...properties });
      Object.assign(made.dataset, { act, said: text });
      return made;
    };
    const item = createElement("li", {},
      button("say", { className: "again", textContent: text, lang: "en", disabled: isHearing(current) }),
      button("keep", { className: "plain", textContent: t("said.keep"), ariaLabel: `${t("said.keep")}: ${text}`, ariaPressed: `${kept}` }),
      button("record", { className: "plain", textContent: t("said.record"), ariaLabel: `${t("said.record")}: ${text}`, ariaPressed: `${Boolean(recordedPhrase(text))}` }),
      button("forget", { className: "plain", textContent: t("said.forget"), ariaLabel: `${t("said.forget")}: ${text}` }));
    item.dataset.key = text;
    return item;
  });
  renderChildren($("said"), rows);
}
