// Renders the voices that this browser keeps.

import { activity } from "./activities.js";
import { canOpen } from "./bank.js";
import { $, showError } from "./dom.js";
import { createElement, renderChildren, setText } from "./shared/dom.js";
import { formatNumber, language } from "./shared/language.js";
import { goodClips } from "./state.js";
import { t } from "./strings.js";

/** @import { KeptVoice, State } from "./state.js" */
/** @import { Key } from "./strings.js" */

/** @param {State} state */
export function renderBank(state) {
  const { bank, bankError, broughtBack, usage, studio } = state;
  const isFree = activity.allows("openingVoice");
  $("voices-title").hidden = $("voices").hidden = bank.length === 0;
  renderChildren($("voices"), bank.map((kept) => row(kept, state, isFree)));
  showError($("bank-error"), bankError);
  setText($("bank-words"), broughtBack === null ? "" : t("bank.broughtBack", { count: broughtBack }));
  $("another").hidden = !state.voice;
  $("another").disabled = !isFree;
  $("recordings-save").disabled = !isFree || goodClips(state).length === 0;
  $("recordings-open").disabled = !isFree && state.activity !== "openingVoice";
  $("kept-ask").hidden = !studio?.storage || usage.persistent || usage.asked || bank.length === 0;
}

/** @param {KeptVoice} kept @param {State} state @param {boolean} isFree */
function row(kept, { voice, compared, studio }, isFree) {
  const { id, name, made, similarity, clips, base } = kept;
  const opens = canOpen(kept);
  const inUse = voice?.info.id === id;
  /** @param {string} act @param {Key} key @param {boolean} [pressed] */
  const button = (act, key, pressed) => {
    const made = createElement("button", { type: "button", className: "plain", textContent: t(key), ariaLabel: `${t(key)}: ${name}`, disabled: !isFree });
    if (pressed !== undefined) made.ariaPressed = `${pressed}`;
    Object.assign(made.dataset, { act, voice: id });
    return made;
  };
  const about = [
    made && new Date(made).toLocaleDateString(language, { day: "numeric", month: "long", year: "numeric" }),
    similarity && t("bank.likeness", { part: `${formatNumber(100 * similarity.clone, 0)} %` }),
    clips.length && t("bank.clips", { count: clips.length }),
  ].filter((part) => typeof part === "string");
  const use = createElement("button", { type: "button", className: "use", textContent: t(inUse ? "bank.inUse" : "bank.use"), ariaLabel: `${t(inUse ? "bank.inUse" : "bank.use")}: ${name}`, disabled: !isFree || inUse || !opens });
  Object.assign(use.dataset, { act: "use", voice: id });
  const actions = [
    ...(opens && !inUse ? [button("compare", "bank.compare", compared?.id === id)] : []),
    ...(clips.length ? [button("learn", "bank.learn"), button("recordings", "bank.saveRecordings")] : []),
    button("rename", "bank.rename"),
    button("save", "bank.save"),
    button("remove", "bank.remove"),
  ];
  const words = createElement("p", { className: "small", textContent: about.join(" · ") });
  const item = createElement("li", {}, createElement("div", { className: "head" }, createElement("span", { className: "name", textContent: name }), use), words);
  // A voice of an older base still speaks here, or the page says what it needs.
  if (base !== studio?.hash) item.append(createElement("p", { className: opens ? "small" : "failure", textContent: `${t(opens ? "bank.older" : "bank.missing")} ${t(clips.length ? "bank.canLearn" : "bank.cannotLearn")}` }));
  item.append(createElement("div", { className: "actions" }, ...actions));
  item.dataset.key = id;
  item.toggleAttribute("data-current", inUse);
  return item;
}
