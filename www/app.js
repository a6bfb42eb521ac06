// The page: events change the state, and each change is drawn.

import { activity } from "./activities.js";
import { arrive } from "./arrival.js";
import { askToKeep, bringRecordingsBack, compareVoice, deleteVoice, downloadRecordings, makeRoom, openVoice, renameVoice, saveVoiceFile, useVoice } from "./bank.js";
import { deleteAll } from "./deletion.js";
import { $, showMaking } from "./dom.js";
import { start } from "./engine.js";
import { addFiles, changeText, checkAgain, droppedFiles, removeFile } from "./files.js";
import { drawKeepingFocus } from "./focus.js";
import { activateUpdate, workOffline } from "./offline.js";
import { goTo } from "./path.js";
import { copyReport, toggleMeasurement } from "./profile.js";
import { chooseMicrophone, chooseSource, closeMicrophone, discard, live, playClip, showPrompt, toggleRecording } from "./recording.js";
import { render, renderMoving, translate } from "./render.js";
import { act, pronounce, say } from "./said.js";
import { phaseOf } from "./shared/activity.js";
import { drawnWhile, takeFiles } from "./shared/dom.js";
import { setUpPage } from "./shared/page.js";
import { isSilent, onPlaybackChange, play, playedSeconds, togglePlaying } from "./shared/player.js";
import { hearBoth, saveOpus, saveVoice, share, toggleSpeaking } from "./speaking.js";
import { PREVIEW, drawWith, measureUsage, state, unticked, update, wouldLose } from "./state.js";
import { goToBadClip, learnAnew, setPreview, togglePause, train } from "./training.js";

/** @import { Elements } from "./elements.js" */

/** Waveforms and level are drawn in each frame as long as something moves. */
const drawMoving = drawnWhile(
  () => renderMoving(state, live),
  () => state.activity === "listening" || state.activity === "recording" || !isSilent(),
);

const redraw = () => update({});

/** How far an arrow key goes in a speech. */
const SEEK_SECONDS = 5;

/** From the last sentence to learning, which begins where nothing is missing. */
function learn() {
  goTo("train");
  if (!$("train-start").disabled) train("clone");
}

drawWith(() => {
  drawKeepingFocus(() => render(state));
  drawMoving();
});
onPlaybackChange(redraw);

/** @param {keyof Elements} id @param {(target: HTMLElement) => unknown} action */
const onClick = (id, action) => $(id).addEventListener("click", ({ target }) => action(/** @type {HTMLElement} */ (target)));

onClick("engine-reload", () => location.reload());
onClick("record-button", toggleRecording);
onClick("play", playClip);
onClick("discard", discard);
onClick("back", () => showPrompt(state.current - 1));
onClick("next", () => showPrompt(state.current + 1));
onClick("agree-open", () => showPrompt(0));
onClick("close-microphone", closeMicrophone);
onClick("prompt-list", (target) => target.dataset.prompt && showPrompt(Number(target.dataset.prompt)));
onClick("learn", learn);
onClick("files-learn", learn);
onClick("files-open", () => goTo("read"));
onClick("way", ({ dataset: { step } }) => step && goTo(/** @type {import("./state.js").Step} */ (step)));
onClick("train-start", () => train("clone"));
onClick("train-resume", () => train("resume"));
onClick("train-pause", togglePause);
onClick("train-stop", () => activity.stop());
onClick("train-cancel", () => activity.cancel());
onClick("train-clip", goToBadClip);
onClick("preview-play", () => togglePlaying("preview", state.training.preview?.speech));
// Nothing is drawn on a canvas that is not shown.
$("details").addEventListener("toggle", redraw);
onClick("profile-start", () => toggleMeasurement("profile"));
onClick("precision-start", () => toggleMeasurement("precision"));
onClick("precision-copy", copyReport);
onClick("both", hearBoth);
onClick("large", () => update({ isLarge: !state.isLarge }));
onClick("said", act);
$("pronunciations").addEventListener("change", () => pronounce($("pronunciations").value));
$("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.repeat) say();
});
onClick("another", async () => {
  await makeRoom();
  showMaking();
  if (chooseSource("record")) goTo("agree");
});
onClick("save", saveVoice);
onClick("voices", ({ dataset: { act, voice } }) => {
  if (act && voice) BANK[/** @type {keyof typeof BANK} */ (act)](voice);
});
onClick("recordings-save", () => downloadRecordings());
onClick("kept-ask", askToKeep);
onClick("delete-all", deleteAll);
onClick("update", activateUpdate);
for (const which of /** @type {const} */ (["base", "mine"])) {
  onClick(which, (target) => {
    if (target.matches(".say")) which === (state.voice ? "mine" : "base") ? say() : toggleSpeaking(which);
    else if (target.matches(".share")) share(which);
    else if (target.matches(".opus")) saveOpus(which);
    else if (target.matches(".play")) togglePlaying(which, state.spoken[which].speech);
  });
  $(which).addEventListener("keydown", ({ target, key }) => {
    const step = { ArrowLeft: -SEEK_SECONDS, ArrowRight: SEEK_SECONDS }[key];
    const { speech } = state.spoken[which];
    if (step && speech && /** @type {HTMLElement} */ (target).matches(".wave")) play(which, speech, Math.max(0, Math.min(speech.seconds, (playedSeconds(which) ?? 0) + step)));
  });
}

for (const radio of /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("input[name=source]"))) {
  radio.addEventListener("change", () => chooseSource(/** @type {"record" | "files"} */ (radio.value)));
}
for (const name of /** @type {const} */ (["speed", "pitch", "liveliness"])) {
  $(name).addEventListener("input", () => update({ delivery: { ...state.delivery, [name]: $(name).valueAsNumber } }));
}
$("preview-on").addEventListener("change", () => setPreview($("preview-on").checked ? PREVIEW : null));
for (const radio of /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("input[name=whose]"))) {
  radio.addEventListener("change", () => update({ filesConsent: { ...unticked(state), whose: /** @type {"mine" | "other"} */ (radio.value) } }));
}
$("speaker-name").addEventListener("input", () => update({ filesConsent: { ...unticked(state), name: $("speaker-name").value } }));
$("files-agreed").addEventListener("change", () => update({ filesConsent: { ...state.filesConsent, agreed: $("files-agreed").checked } }));
$("open").addEventListener("change", () => {
  const [file] = takeFiles($("open"));
  if (file) openVoice(file);
});
$("microphone").addEventListener("change", () => chooseMicrophone($("microphone").value));
/** What the buttons of a kept voice do. */
const BANK = { use: useVoice, compare: compareVoice, rename: renameVoice, save: saveVoiceFile, recordings: downloadRecordings, learn: learnAnew, remove: deleteVoice };

const isZip = (/** @type {File} */ { name, type }) => /\.zip$/i.test(name) || type === "application/zip";
const isVoice = (/** @type {File} */ { name }) => /\.(ownvoice|safetensors)$/i.test(name);

/** Takes recordings in, also those in zip files, and voices. @param {File[]} files */
async function takeIn(files) {
  const sounds = files.filter((file) => !isZip(file) && !isVoice(file));
  if (sounds.length) await addFiles(sounds);
  for (const file of files.filter(isZip)) await bringRecordingsBack(file);
  for (const file of files.filter(isVoice)) await openVoice(file);
}

$("recordings-open").addEventListener("change", () => takeIn(takeFiles($("recordings-open"))));
$("file-input").addEventListener("change", () => takeIn(takeFiles($("file-input"))));
for (const [name, action] of /** @type {const} */ ([["input", changeText], ["change", checkAgain]])) {
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
    if (name === "drop" && event.dataTransfer) takeIn(await droppedFiles(event.dataTransfer));
  });
}

document.addEventListener("paste", (event) => {
  // A text that is copied with its pictures stays a text.
  const files = [...(event.clipboardData?.files ?? [])].filter((file) => isZip(file) || isVoice(file) || /^(audio|video)\//.test(file.type));
  const areClips = files.every((file) => !isZip(file) && !isVoice(file));
  if (!files.length || (areClips && !chooseSource("files"))) return;
  event.preventDefault();
  if (areClips) goTo("read");
  takeIn(files);
});

document.addEventListener("keydown", (event) => {
  // A letter alone is a command only on the card: speech input types letters anywhere (WCAG 2.1.4).
  const isAtCard = $("card").contains(/** @type {Node} */ (event.target));
  if (!isAtCard || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.key === "r" || event.key === "R") toggleRecording();
  else if (event.key === "p" || event.key === "P") playClip();
  else if (event.key === "ArrowLeft") showPrompt(state.current - 1);
  else if (event.key === "ArrowRight") showPrompt(state.current + 1);
});

// The keyboard of a phone leaves less room: what is being written stays in it.
addEventListener("resize", () => document.activeElement?.matches("textarea, input[type=text]") && document.activeElement.scrollIntoView({ block: "nearest" }));

addEventListener("beforeunload", (event) => wouldLose(state) && event.preventDefault());

setUpPage({ translate, redraw });
measureUsage();
await start();
if (phaseOf(state.activity) === "ready") arrive();
await workOffline();
