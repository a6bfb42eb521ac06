// The page of things: events change the state, and each change is drawn.

import { takeFiles } from "../shared/dom.js";
import { setUpPage } from "../shared/page.js";
import { activity } from "./activities.js";
import { turnOff, turnOn, watch } from "./camera.js";
import { $ } from "./dom.js";
import { start } from "./engine.js";
import { render, translate } from "./render.js";
import { drawWith, state, update } from "./state.js";
import { addThing, deleteAll, filmThing, forgetWithOthers, learn, lookAt, openNet, readThing, removeThing, rename, restore } from "./things.js";

drawWith(() => {
  render();
  watch();
});

/** The thing and the action that an event in the list is about. @param {Event} event */
function target({ target }) {
  const element = /** @type {HTMLElement} */ (target);
  return { id: /** @type {HTMLElement | null} */ (element.closest("li"))?.dataset.key ?? "", action: element.dataset.action, field: /** @type {HTMLInputElement} */ (element) };
}

$("camera").addEventListener("click", () => (state.camera ? turnOff() : turnOn()));
$("see-camera").addEventListener("click", () => {
  if (state.picture && state.camera) update({ picture: null, seen: null });
  else if (state.camera) turnOff();
  else turnOn();
});
$("things").addEventListener("click", async (event) => {
  const { id, action } = target(event);
  if (action === "film") filmThing(id);
  if (action === "remove" && (await removeThing(id))) $("more").focus();
});
$("things").addEventListener("change", (event) => {
  const { id, action, field } = target(event);
  if (action === "name") rename(id, field.value);
  if (action === "files") readThing(id, takeFiles(field));
});
$("more").addEventListener("click", () => {
  addThing();
  /** @type {HTMLElement | null} */ ($("things").querySelector("li:last-child [data-action=name]"))?.focus();
});
$("learn").addEventListener("click", () => learn());
$("learn-stop").addEventListener("click", () => activity.stop());
$("learn-cancel").addEventListener("click", () => activity.cancel());
$("see-file").addEventListener("change", () => {
  const [file] = takeFiles($("see-file"));
  if (file) lookAt(file);
});
$("open-file").addEventListener("change", () => {
  const [file] = takeFiles($("open-file"));
  if (file) openNet(file);
});
$("forget").addEventListener("click", deleteAll);

/** The place on which a file is dropped: a thing or the picture to be named. @param {Event} event @returns {HTMLElement | null} */
const placeOf = ({ target }) => (target instanceof Element ? target.closest("#things > li, #see-drop") : null);

/** Marks the place over which a file is held. @param {HTMLElement | null} place */
function mark(place) {
  for (const marked of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-over]"))) delete marked.dataset.over;
  if (place) place.dataset.over = "";
}

document.addEventListener("dragover", (event) => {
  event.preventDefault();
  mark(placeOf(event));
});
document.addEventListener("dragleave", () => mark(null));
document.addEventListener("drop", (event) => {
  event.preventDefault();
  mark(null);
  const place = placeOf(event);
  const files = [...(event.dataTransfer?.files ?? [])];
  if (!place || !files.length || state.activity !== "idle") return;
  if (place.dataset.key) readThing(place.dataset.key, files);
  else lookAt(files[0]);
});

setUpPage({ translate, redraw: () => update({}) });
const stored = await start();
if (stored) {
  forgetWithOthers();
  restore(stored);
}
