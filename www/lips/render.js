// Renders the state. No decisions are made here.

import { wavBlob } from "../js/wav.js";
import { phaseOf } from "../shared/activity.js";
import { offerDownload, renderChildren, setText } from "../shared/dom.js";
import { formatNumber } from "../shared/language.js";
import { renderPhase, translatePage } from "../shared/page.js";
import { isPlaying, play, playedSeconds } from "../shared/player.js";
import { showWave } from "../shared/wave.js";
import { $, showError } from "./dom.js";
import { MAX_SECONDS, RATE } from "./pictures.js";
import { stretchItems } from "./render-teaching.js";
import { OWN_VOICE, state } from "./state.js";
import { describeError, t } from "./strings.js";

/** @import { Picture } from "./pictures.js" */
/** @import { Face, LipSpeech } from "./pkg/ownvoice_web_lips.js" */

/** Notes in the file of speech. */
const ORIGIN = { ISFT: "ownvoice", ICMT: "Synthetic speech, made by ownvoice from lips" };

/** Sets the texts of the chosen language. */
export function translate() {
  translatePage(t);
  $("view").ariaLabel = t("film.view");
  setText($("film-how"), t("film.how", { most: MAX_SECONDS }));
}

export function render() {
  const { activity, loading, loadError } = state;
  renderPhase(phaseOf(activity), { words: t(loading.key, loading.values), part: loading.part, error: loadError && describeError(loadError) });
  renderFilm();
  renderSpeech();
}

/** @returns {string} */
function filmWords() {
  const { activity, pictures, isCameraLost } = state;
  if (activity === "opening") return t("film.opening");
  if (activity === "filming") return t("film.recording", { most: MAX_SECONDS });
  if (activity === "reading") return t("film.reading");
  if (isCameraLost) return t("film.lost");
  return pictures ? t("film.read", { seconds: formatNumber(pictures / RATE, 1) }) : t("film.empty");
}

/** @returns {string} */
function faceWords() {
  const { faces } = state;
  if (faces === null) return "";
  return t(faces === 0 ? "film.faces.none" : faces === 1 ? "film.faces.one" : "film.faces.several");
}

function renderFilm() {
  const { activity, part, filmError } = state;
  const isFilming = activity === "opening" || activity === "filming";
  $("view").hidden = state.pictures === 0;
  $("film-bar").hidden = activity !== "reading";
  $("film-bar").value = part;
  setText($("film-words"), filmWords());
  setText($("film-faces"), faceWords());
  showError($("film-error"), filmError);
  $("film-record").disabled = activity !== "idle" && activity !== "filming";
  $("film-record").ariaPressed = `${activity === "filming"}`;
  setText($("record-words"), t(activity === "filming" ? "film.stop" : "film.record"));
  $("file").disabled = activity !== "idle";
  $("film-choose").hidden = isFilming || activity === "reading";
  $("film-cancel").hidden = !isFilming && activity !== "reading";
}

/** The voices to choose from; the learned one, if there is one, comes last. */
function renderVoices() {
  const { speakers, own } = state;
  const voices = [...speakers.map((name) => new Option(name, name)), ...(own ? [new Option(t("speak.own"), OWN_VOICE)] : [])];
  renderChildren($("speaker"), voices);
}

/** The file of the last speech. @type {{ speech: LipSpeech, file: Blob } | null} */
let download = null;

function renderSpeech() {
  const { activity, speech, speakError, pictures } = state;
  renderVoices();
  $("speak").disabled = activity !== "idle" || pictures === 0;
  $("speaker").disabled = activity === "speaking" || activity === "learning";
  const result = speech ? t("speak.done", { seconds: formatNumber(speech.samples.length / speech.sampleRate, 1) }) : pictures ? "" : t("speak.need");
  setText($("speak-words"), activity === "speaking" ? t("speak.speaking") : result);
  showError($("speak-error"), speakError);
  $("speech").hidden = !speech;
  setText($("play"), t(isPlaying("speech") ? "speak.pause" : "speak.play"));
  $("left-out").hidden = !speech?.leftOut.length;
  renderChildren($("left-out"), stretchItems(speech?.leftOut ?? [], "speak.silent"));
  if (speech !== (download?.speech ?? null)) download = speech && { speech, file: wavBlob(speech.samples, speech.sampleRate, ORIGIN) };
  offerDownload($("download"), download?.file ?? null, "lips.wav");
}

/** Renders what moves while speech is played. */
export function renderWave() {
  const { speech } = state;
  showWave($("wave"), speech, playedSeconds("speech") ?? 0, (from) => play("speech", speech, from));
}

/** Draws a picture, with a frame around each face that was found last. @param {Picture} picture @param {Face[]} faces */
export function drawPicture({ width, height, rgba }, faces) {
  const canvas = $("view");
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.putImageData(new ImageData(rgba, width, height), 0, 0);
  context.strokeStyle = getComputedStyle(canvas).getPropertyValue("--ember").trim();
  context.lineWidth = Math.max(2, width / 120);
  for (const { x, y, side } of faces) context.strokeRect(x - side / 2, y - side / 2, side, side);
}
