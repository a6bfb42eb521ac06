// The page: what a visitor does changes the state, and the state is drawn. Data flows one way.

import { prepareCurve } from "./curve.js";
import { deleteAll } from "./deletion.js";
import { start } from "./engine.js";
import { addFiles, judgeAgain, removeFile, write } from "./files.js";
import { activate, workOffline } from "./offline.js";
import { position } from "./play.js";
import { measure } from "./profile.js";
import { closeMicrophone, discard, go, live, playClip, toggleRecording, togglePlaying } from "./recording.js";
import { $ } from "./dom.js";
import { offerLanguages, render, renderMoving, translate } from "./render.js";
import { openVoice, saveOther, saveVoice, speak } from "./speaking.js";
import { drawnBy, state, update, weigh } from "./state.js";
import { choose } from "./strings.js";
import { cancelTraining, goToBadClip, setPreview, stopTraining, togglePause, train } from "./training.js";

let moving = false;
/** Draws what moves, for as long as something does. */
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

/** A sentence in the box is as good a preview as any; English, as all that is spoken. */
const PREVIEW = "Good morning. I am glad that you can hear me.";

// ---- what a visitor does ----

/** @param {string} id @param {(event: any) => unknown} action */
const onClick = (id, action) => $(id).addEventListener("click", action);

onClick("reload", () => location.reload());
onClick("engine-reload", () => location.reload());
onClick("record-button", toggleRecording);
onClick("play", playClip);
onClick("discard", discard);
onClick("back", () => go(state.current - 1));
onClick("next", () => go(state.current + 1));
onClick("agree-open", () => go(0));
onClick("close-microphone", closeMicrophone);
onClick("prompt-list", ({ target }) => target.dataset.prompt && go(Number(target.dataset.prompt)));
onClick("train-start", () => train("clone"));
onClick("train-resume", () => train("resume"));
onClick("train-pause", togglePause);
onClick("train-stop", stopTraining);
onClick("train-cancel", cancelTraining);
onClick("train-clip", goToBadClip);
onClick("preview-play", () => togglePlaying("preview", state.training.preview?.speech));
onClick("profile-start", measure);
onClick("save", saveVoice);
onClick("other-voices", ({ target }) => target.dataset.other && saveOther(Number(target.dataset.other)));
onClick("delete-all", deleteAll);
onClick("update", activate);
for (const which of /** @type {const} */ (["base", "mine"])) {
  onClick(which, ({ target }) => {
    if (target.matches(".say")) speak(which);
    else if (target.matches(".play")) togglePlaying(which, state.spoken[which].speech);
  });
}
onClick("languages", ({ target }) => {
  if (!target.lang) return;
  choose(target.lang);
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
  $(name).addEventListener("input", (/** @type {any} */ { target }) => update({ delivery: { ...state.delivery, [name]: Number(target.value) } }));
}
$("preview-on").addEventListener("change", (/** @type {any} */ { target }) => setPreview(target.checked ? PREVIEW : null));
$("files-agreed").addEventListener("change", (/** @type {any} */ { target }) => update({ filesConsent: target.checked }));
$("open").addEventListener("change", (/** @type {any} */ { target }) => {
  if (target.files[0]) openVoice(target.files[0]);
  target.value = ""; // the same file may be chosen again
});
$("file-input").addEventListener("change", async (/** @type {any} */ { target }) => {
  await addFiles(target.files);
  target.value = "";
});
$("file-list").addEventListener("input", (/** @type {any} */ { target }) => write(target.dataset.file, target.value));
$("file-list").addEventListener("change", (/** @type {any} */ { target }) => judgeAgain(target.dataset.file));
onClick("file-list", ({ target }) => target.dataset.remove && removeFile(target.dataset.remove));

for (const name of ["dragover", "dragleave", "drop"]) {
  $("drop").addEventListener(name, (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    $("drop").toggleAttribute("data-over", name === "dragover");
    if (name === "drop" && event.dataTransfer) addFiles(event.dataTransfer.files);
  });
}

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
weigh();
await start();
prepareCurve().catch(console.error);
await workOffline();
