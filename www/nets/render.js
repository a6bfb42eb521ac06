// Renders the state. No decisions are made here.

import { phaseOf } from "../shared/activity.js";
import { createElement, offerDownload, renderChildren, setText } from "../shared/dom.js";
import { formatNumber, language } from "../shared/language.js";
import { renderPhase, translatePage } from "../shared/page.js";
import { $, errorNodes, showError } from "./dom.js";
import { drawLosses } from "./losses.js";
import { state } from "./state.js";
import { describeError, t } from "./strings.js";
import { MOST_PICTURES, MOST_THINGS, canLearn, learnable, nameOf } from "./things.js";

/** @import { Thing } from "./state.js" */

/** Sets the texts of the chosen language. */
export function translate() {
  translatePage(t);
  $("view").ariaLabel = $("see-view").ariaLabel = t("show.view");
  $("see-picture").ariaLabel = t("see.picture");
}

/** @param {number} share From 0 to 1. */
const percent = (share) => formatNumber(100 * share, 0);

export function render() {
  const { activity, loading, loadError } = state;
  renderPhase(phaseOf(activity), { words: t(loading.key, loading.values), part: loading.part, error: loadError && describeError(loadError) });
  renderShowing();
  renderThings();
  renderLearning();
  renderSeeing();
  renderKeeping();
}

/** @param {HTMLVideoElement} video @param {MediaStream | null} stream */
function showStream(video, stream) {
  if (video.srcObject !== stream) {
    video.srcObject = stream;
    if (stream) video.play().catch(() => {}); // it ended before it was shown
  }
  video.hidden = !stream;
}

/** @returns {string} */
function showWords() {
  const { activity, things, shown, isCameraLost } = state;
  const index = things.findIndex(({ id }) => id === shown);
  const name = index < 0 ? "" : nameOf(things[index], index);
  if (activity === "asking") return t("show.asking");
  if (activity === "filming") return t("show.filming", { name });
  if (activity === "reading") return t("show.reading", { name });
  return isCameraLost ? t("show.lost") : "";
}

function renderShowing() {
  const { activity, camera, part, things } = state;
  const isTaking = activity === "filming" || activity === "reading";
  showStream($("view"), camera);
  $("show-bar").hidden = !isTaking;
  $("show-bar").value = part;
  setText($("show-words"), showWords());
  showError($("show-error"), state.showError);
  setText($("camera"), t(camera ? "show.camera-off" : "show.camera-on"));
  $("camera").ariaPressed = `${Boolean(camera)}`;
  $("camera").disabled = activity !== "idle";
  $("more").disabled = activity !== "idle" || things.length >= MOST_THINGS;
  setText($("kept"), t(state.isKept ? "show.kept" : "show.not-kept"));
}

/** What the list of things was drawn from: making its pictures anew takes time. */
let drawn = "";

function renderThings() {
  const { activity, things, camera } = state;
  const isIdle = activity === "idle";
  const from = JSON.stringify([language, isIdle, Boolean(camera), things.map(({ thumbnails, ...thing }) => ({ ...thing, pictures: thumbnails.length }))]);
  if (from === drawn) return;
  drawn = from;
  renderChildren($("things"), things.map((thing, index) => thingRow(thing, index, isIdle, Boolean(camera))));
}

/** @param {Thing} thing @param {number} index @param {boolean} isIdle @param {boolean} isFilmed */
function thingRow(thing, index, isIdle, isFilmed) {
  const { id, thumbnails, error } = thing;
  const name = nameOf(thing, index);
  const isFull = thumbnails.length >= MOST_PICTURES;
  const field = createElement("input", { type: "text", className: "name", value: thing.name, maxLength: 40, autocomplete: "off", placeholder: t("show.thing", { number: index + 1 }), ariaLabel: t("show.name", { number: index + 1 }), disabled: !isIdle });
  const remove = createElement("button", { type: "button", className: "plain", textContent: t("show.remove"), ariaLabel: t("show.remove-named", { name }), disabled: !isIdle });
  const film = createElement("button", { type: "button", className: thumbnails.length ? "" : "primary", textContent: t("show.film"), ariaLabel: t("show.film-named", { name }), disabled: !isIdle || !isFilmed || isFull });
  const files = createElement("input", { type: "file", className: "quiet", accept: "image/*", multiple: true, ariaLabel: t("show.choose-named", { name }), disabled: !isIdle || isFull });
  for (const [element, action] of /** @type {const} */ ([[field, "name"], [remove, "remove"], [film, "film"], [files, "files"]])) element.dataset.action = action;
  const choose = createElement("label", { className: "button", tabIndex: -1 }, files, t("show.choose"));
  const words = thumbnails.length === 0 ? `${t("show.none")} ${t("show.drop")}` : t(isFull ? "show.full" : "show.pictures", { count: thumbnails.length });
  const images = thumbnails.map((src) => createElement("img", { src, alt: "" }));
  const row = createElement(
    "li",
    {},
    createElement("div", { className: "head" }, field, remove),
    createElement("div", { className: "thumbs" }, ...images),
    createElement("p", { className: "small", textContent: words }),
    ...(error ? [createElement("p", { className: "failure", role: "alert" }, ...errorNodes(error))] : []),
    createElement("div", { className: "controls start" }, film, choose),
  );
  row.dataset.key = id;
  return row;
}

/** @returns {string} */
function learnWords() {
  const { activity, looking, step, net } = state;
  if (activity === "learning") {
    const words = looking && !step ? t("learn.looking", { pictures: looking.pictures }) : "";
    return looking?.isResumed ? `${t("learn.resumed")} ${words}` : words;
  }
  if (net) {
    const { names, pictures, iterations, before, after } = net.tuning;
    const list = new Intl.ListFormat(language, { type: "conjunction" }).format(names);
    return `${t("learn.done", { names: list, pictures, iterations })} ${t("learn.result", { before: percent(before.accuracy), after: percent(after.accuracy) })}`;
  }
  const things = learnable();
  const pictures = state.things.reduce((sum, { thumbnails }) => sum + thumbnails.length, 0);
  return canLearn() ? t("learn.ready", { pictures, things: things.length }) : t("learn.need-things");
}

function renderLearning() {
  const { activity, step, part, losses, accuracy } = state;
  const isLearning = activity === "learning";
  setText($("learn-words"), learnWords());
  $("learning").hidden = !isLearning;
  $("learn-bar").value = step ? step.iteration / step.iterations : part;
  setText($("learn-iteration"), step ? t("learn.iteration", { iteration: step.iteration, iterations: step.iterations }) : "");
  setText($("learn-loss"), step ? t("learn.loss", { loss: formatNumber(step.loss, 3) }) : "");
  setText($("learn-held-out"), accuracy === null ? "" : t("learn.held-out", { percent: percent(accuracy) }));
  $("learn-figure").hidden = losses.length < 2;
  if (losses.length > 1) {
    $("learn-curve").ariaLabel = t("learn.curve", { first: formatNumber(losses[0], 2), last: formatNumber(losses.at(-1) ?? NaN, 2) });
    drawLosses($("learn-curve"), losses);
  }
  showError($("learn-error"), state.learnError);
  $("learn").hidden = isLearning;
  $("learn").disabled = activity !== "idle" || !canLearn();
  $("learn-stop").hidden = $("learn-cancel").hidden = !isLearning;
}

/** A name with how sure the net is of it. @param {string} name @param {number} probability @param {boolean} isFirst */
function bar(name, probability, isFirst) {
  const row = createElement("div", {}, createElement("dt", { textContent: name }), createElement("dd", {}, createElement("i", {}), createElement("span", { textContent: `${percent(probability)} %` })));
  if (isFirst) row.dataset.first = "";
  return row;
}

/** The name that a screen reader has heard last, and how often another one was seen since. */
const said = { class: -1, others: 0 };
/** Looks after which a name is said: what is held into the picture is first seen blurred. */
const LOOKS_BEFORE_SAID = 3;

function renderSeeing() {
  const { activity, camera, net, picture, seen } = state;
  const names = net?.tuning.names ?? [];
  setText($("see-words"), t(net ? "see.how" : "see.need"));
  $("see").hidden = !net || !(camera || picture);
  showStream($("see-view"), net && !picture ? camera : null);
  $("see-picture").hidden = !picture;
  if (picture) {
    const { width, height, rgba } = picture;
    if ($("see-picture").width !== width) Object.assign($("see-picture"), { width, height });
    $("see-picture").getContext("2d")?.putImageData(new ImageData(rgba, width, height), 0, 0);
  }
  setText($("see-named"), seen ? t("see.named", { name: names[seen.class], percent: percent(seen.confidence) }) : "");
  renderChildren($("see-bars"), seen ? names.map((name, index) => bar(name, seen.probabilities[index], index === seen.class)) : []);
  for (const [index, element] of [...$("see-bars").querySelectorAll("i")].entries()) element.style.inlineSize = `${100 * (seen?.probabilities[index] ?? 0)}%`;
  sayName();
  showError($("see-error"), state.seeError);
  $("see-camera").hidden = !net;
  $("see-camera").disabled = activity !== "idle";
  $("see-camera").ariaPressed = `${Boolean(camera && !picture)}`;
  setText($("see-camera"), t(camera && !picture ? "show.camera-off" : "show.camera-on"));
  $("see-drop").hidden = !net;
  $("see-file").disabled = activity !== "idle";
}

/** Lets a screen reader say the name, once it stays the same. */
function sayName() {
  const { seen, picture, net } = state;
  if (!seen || !net) {
    said.class = -1;
    return setText($("see-said"), "");
  }
  said.others = seen.class === said.class ? 0 : said.others + 1;
  if (!picture && said.others < LOOKS_BEFORE_SAID) return;
  Object.assign(said, { class: seen.class, others: 0 });
  setText($("see-said"), net.tuning.names[seen.class]);
}

function renderKeeping() {
  const { activity, net, isDeleted } = state;
  $("download").hidden = !net;
  offerDownload($("download"), net?.file ?? null, "things.safetensors");
  $("open-file").disabled = activity !== "idle";
  $("forget").disabled = activity === "forgetting";
  showError($("keep-error"), state.keepError);
  setText($("keep-words"), isDeleted ? t("keep.deleted") : "");
}
