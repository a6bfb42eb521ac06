// Draws the state. No decisions are made here.

import { wavBlob } from "../js/wav.js";
import { say, translatePage } from "../page.js";
import { play, position } from "../play.js";
import { number } from "../strings.js";
import { showWave } from "../wave.js";
import { $, fail } from "./dom.js";
import { MOST_SECONDS, RATE } from "./pictures.js";
import { stretches } from "./render-teaching.js";
import { OWN, state, update } from "./state.js";
import { t } from "./words.js";

/** @import { Picture } from "./pictures.js" */
/** @import { Face, LipSpeech } from "./pkg/ownvoice_web_lips.js" */
/** @import { Key } from "./words.js" */

/** Sets the texts of the chosen language. */
export function translate() {
  translatePage(t);
  $("view").ariaLabel = t("film.view");
  say($("film-how"), t("film.how", { most: MOST_SECONDS }));
}

export function render() {
  const { load } = state;
  document.body.dataset.phase = load.status;
  $("loading").hidden = load.status === "ready";
  $("steps").hidden = load.status !== "ready";
  $("loading-failed").hidden = load.status !== "failed";
  $("loading-bar").hidden = load.status === "failed";
  fail($("loading-error"), load.status === "failed" ? load.error : null);
  say($("loading-words"), load.status === "loading" ? t(state.loading.key, state.loading.values) : "");
  if (state.loaded === null) $("loading-bar").removeAttribute("value");
  else $("loading-bar").value = state.loaded;
  renderFilm();
  renderSpeech();
}

/** @returns {string} */
function filmWords() {
  const { work, pictures, lost } = state;
  if (work === "opening") return t("film.opening");
  if (work === "filming") return t("film.recording", { most: MOST_SECONDS });
  if (work === "reading") return t("film.reading");
  if (lost) return t("film.lost");
  return pictures ? t("film.read", { seconds: number(pictures / RATE, 1) }) : t("film.empty");
}

/** @returns {string} */
function faceWords() {
  const { faces } = state;
  if (faces === null) return "";
  return t(faces === 0 ? "film.faces.none" : faces === 1 ? "film.faces.one" : "film.faces.several");
}

function renderFilm() {
  const { work, part, filmError } = state;
  const films = work === "opening" || work === "filming";
  $("view").hidden = state.pictures === 0;
  $("film-bar").hidden = work !== "reading";
  $("film-bar").value = part;
  say($("film-words"), filmWords());
  say($("film-faces"), faceWords());
  fail($("film-error"), filmError);
  $("film-record").disabled = work !== "idle" && work !== "filming";
  $("film-record").ariaPressed = `${work === "filming"}`;
  say($("record-words"), t(work === "filming" ? "film.stop" : "film.record"));
  $("file").disabled = work !== "idle";
  $("film-choose").hidden = films || work === "reading";
  $("film-cancel").hidden = !films && work !== "reading";
}

/** The voices to choose from; one's own, where there is one, comes last. */
function renderVoices() {
  const { speakers, own } = state;
  const voices = [...speakers.map((name) => ({ name, value: name })), ...(own ? [{ name: t("speak.own"), value: OWN }] : [])];
  const select = $("speaker");
  const chosen = select.value;
  if (voices.map(({ name }) => name).join() === [...select.options].map(({ text }) => text).join()) return;
  select.replaceChildren(...voices.map(({ name, value }) => new Option(name, value, false, value === chosen)));
}

/** @type {LipSpeech | null} */
let shown = null;

function renderSpeech() {
  const { work, speech, speakError, pictures } = state;
  renderVoices();
  $("speak").disabled = work !== "idle" || pictures === 0;
  $("speaker").disabled = work === "speaking" || work === "learning";
  const said = speech ? t("speak.done", { seconds: number(speech.samples.length / speech.sampleRate, 1) }) : pictures ? "" : t("speak.need");
  say($("speak-words"), work === "speaking" ? t("speak.speaking") : said);
  fail($("speak-error"), speakError);
  $("speech").hidden = !speech;
  say($("play"), t(position("speech") === null ? "speak.play" : "speak.pause"));
  const silent = stretches(speech?.leftOut ?? [], "speak.silent");
  $("left-out").hidden = silent.length === 0;
  $("left-out").replaceChildren(...silent);
  if (shown === speech) return;
  shown = speech;
  URL.revokeObjectURL($("download").href);
  if (!speech) return $("download").removeAttribute("href");
  const origin = { ISFT: "ownvoice", ICMT: "Synthetic speech, made by ownvoice from lips" };
  $("download").href = URL.createObjectURL(wavBlob(speech.samples, speech.sampleRate, origin));
  $("download").download = "lips.wav";
}

/** What moves while speech is played. */
export function renderWave() {
  const { speech } = state;
  const from = (/** @type {number} */ part) => speech && play("speech", speech, () => update({}), part);
  showWave($("wave"), speech, position("speech") ?? 0, (part) => (from(part), update({})));
}

/** Shows a picture, with a frame around each face that was found last. @param {Picture} picture @param {Face[]} faces */
export function showPicture({ width, height, rgba }, faces) {
  const canvas = $("view");
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.putImageData(new ImageData(rgba, width, height), 0, 0);
  context.strokeStyle = getComputedStyle(canvas).getPropertyValue("--ember").trim();
  context.lineWidth = Math.max(2, width / 120);
  for (const { x, y, side } of faces) context.strokeRect(x - side / 2, y - side / 2, side, side);
}
