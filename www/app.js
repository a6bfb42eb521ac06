// The page: events change the state, and each change is drawn.

import { prepareCurve } from "./curve.js";
import { deleteAll } from "./deletion.js";
import { start } from "./engine.js";
import { addFiles, checkAgain, droppedFiles, removeFile, write } from "./files.js";
import { activate, workOffline } from "./offline.js";
import { position } from "./play.js";
import { copyReport, measure } from "./profile.js";
import { togglePlaying } from "./playback.js";
import { closeMicrophone, discard, go, live, playClip, toggleRecording } from "./recording.js";
import { $ } from "./dom.js";
import { offerLanguages } from "./page.js";
import { render, renderMoving, translate } from "./render.js";
import { openVoice, saveOther, saveVoice, speak } from "./speaking.js";
import { drawnBy, measureUsage, state, update } from "./state.js";
import { choose } from "./strings.js";
import { cancelTraining, goToBadClip, setPreview, stopTraining, togglePause, train } from "./training.js";

/** @import { Elements } from "./elements.js" */
/** @import { Language } from "./strings.js" */

let moving = false;
/** Draws waveforms and level as long as something moves. */
function move() {
  renderMoving(state, live);
  if (moving) return;
  const moves = () => state.microphone === "open" || state.microphone === "recording" || ["clip", "preview", "base", "mine"].some((key) => position(key) !== null);
  const frame = () => {
    renderMoving(state, live);
    moving = moves();
    if (moving) requestAnimationFrame(frame);
  };
  if ((moving = moves())) requestAnimationFrame(frame);
}

drawnBy(() => {
  render(state);
  move();
});

/** The preview sentence; English, like everything that is spoken. */
const PREVIEW = "Good morning. I am glad that you can hear me.";

/** @param {keyof Elements} id @param {(target: HTMLElement) => unknown} action */
const onClick = (id, action) => $(id).addEventListener("click", ({ target }) => action(/** @type {HTMLElement} */ (target)));

onClick("reload", () => location.reload());
onClick("engine-reload", () => location.reload());
onClick("record-button", toggleRecording);
onClick("play", playClip);
onClick("discard", discard);
onClick("back", () => go(state.current - 1));
onClick("next", () => go(state.current + 1));
onClick("agree-open", () => go(0));
onClick("close-microphone", closeMicrophone);
onClick("prompt-list", (target) => target.dataset.prompt && go(Number(target.dataset.prompt)));
onClick("train-start", () => train("clone"));
onClick("train-resume", () => train("resume"));
onClick("train-pause", togglePause);
onClick("train-stop", stopTraining);
onClick("train-cancel", cancelTraining);
onClick("train-clip", goToBadClip);
onClick("preview-play", () => togglePlaying("preview", state.training.preview?.speech));
onClick("profile-start", () => measure("profile"));
onClick("precision-start", () => measure("precision"));
onClick("precision-copy", copyReport);
onClick("save", saveVoice);
onClick("other-voices", (target) => target.dataset.other && saveOther(Number(target.dataset.other)));
onClick("delete-all", deleteAll);
onClick("update", activate);
for (const which of /** @type {const} */ (["base", "mine"])) {
  onClick(which, (target) => {
    if (target.matches(".say")) speak(which);
    else if (target.matches(".play")) togglePlaying(which, state.spoken[which].speech);
  });
}
onClick("languages", ({ lang }) => {
  if (!lang) return;
  choose(/** @type {Language} */ (lang));
  translate();
  update({});
});

for (const radio of document.querySelectorAll("input[name=source]")) {
  radio.addEventListener("change", () => {
    if (state.microphone === "open") closeMicrophone();
    update({ source: /** @type {"record" | "files"} */ (/** @type {HTMLInputElement} */ (radio).value) });
  });
}
for (const name of /** @type {const} */ (["speed", "pitch", "liveliness"])) {
  $(name).addEventListener("input", () => update({ delivery: { ...state.delivery, [name]: $(name).valueAsNumber } }));
}
$("preview-on").addEventListener("change", () => setPreview($("preview-on").checked ? PREVIEW : null));
$("files-agreed").addEventListener("change", () => update({ filesConsent: $("files-agreed").checked }));
/** The files that were chosen; the same may be chosen again. @param {HTMLInputElement} input */
function chosen(input) {
  const files = [...(input.files ?? [])];
  input.value = "";
  return files;
}
$("open").addEventListener("change", () => {
  const [file] = chosen($("open"));
  if (file) openVoice(file);
});
$("file-input").addEventListener("change", () => addFiles(chosen($("file-input"))));
for (const [name, action] of /** @type {const} */ ([["input", write], ["change", checkAgain]])) {
  $("file-list").addEventListener(name, ({ target }) => {
    const { dataset, value } = /** @type {HTMLTextAreaElement} */ (target);
    if (dataset.file) action(dataset.file, value);
  });
}
onClick("file-list", (target) => target.dataset.remove && removeFile(target.dataset.remove));

for (const name of /** @type {const} */ (["dragover", "dragleave", "drop"])) {
  $("drop").addEventListener(name, async (event) => {
    event.preventDefault();
    $("drop").toggleAttribute("data-over", name === "dragover");
    if (name === "drop" && event.dataTransfer) addFiles(await droppedFiles(event.dataTransfer));
  });
}

document.addEventListener("paste", (event) => {
  const files = [...(event.clipboardData?.files ?? [])];
  if (!files.length || state.load.status !== "ready" || !["closed", "open"].includes(state.microphone)) return;
  event.preventDefault();
  if (state.microphone === "open") closeMicrophone();
  update({ source: "files" });
  addFiles(files);
});

document.addEventListener("keydown", (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  const typing = target.matches("textarea, input") || event.ctrlKey || event.metaKey || event.altKey;
  if (typing || state.load.status !== "ready" || state.source !== "record" || event.repeat) return;
  if (event.key === "r" || event.key === "R") toggleRecording();
  else if (event.key === "p" || event.key === "P") playClip();
  else if (event.key === "ArrowLeft") go(state.current - 1);
  else if (event.key === "ArrowRight") go(state.current + 1);
});

addEventListener("resize", () => update({}));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => update({}));

offerLanguages();
translate();
render(state);
measureUsage();
// Asked for before the base, so that nothing is on its way any more once the page is ready.
prepareCurve().catch(console.error);
await start();
await workOffline();
