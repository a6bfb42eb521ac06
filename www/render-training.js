// Renders the training: device, progress, quality.

import { activity } from "./activities.js";
import { $, promptName, showError } from "./dom.js";
import { drawCurve } from "./draw.js";
import { alignmentMap, differenceDb, drawHeat, melMap, soundsHeard } from "./heat.js";
import { setText } from "./shared/dom.js";
import { formatNumber, formatTime } from "./shared/language.js";
import { isPlaying } from "./shared/player.js";
import { MIN_SECONDS, consented, goodClips, goodSeconds } from "./state.js";
import { t } from "./strings.js";

/** @import { Device } from "./js/device.js" */
/** @import { State, Training } from "./state.js" */

/** The reason for the device and the result of its self-test, in the visitor's language. @param {Device} device */
function deviceReason({ kind, code, adapter, selfTest }) {
  const reason = t(code === "asked" ? `device.asked.${kind}` : `device.${code}`, { adapter });
  const figure = (/** @type {number} */ value) => value.toExponential(0);
  return selfTest ? `${reason} ${t("device.tested", { deviation: figure(selfTest.deviation), tolerance: figure(selfTest.tolerance) })}` : reason;
}

/** The part of a training that is done, in percent. @param {{ iteration: number, iterations: number }} step */
const partOf = ({ iteration, iterations }) => `${formatNumber((100 * iteration) / iterations, 0)} %`;

/** How far the training was when the voice spoke a preview: before learning, or at a part of it. @param {number} iteration @param {number} [iterations] */
const previewWords = (iteration, iterations = iteration) => (iteration === 0 ? t("train.previewedFirst") : t("train.previewed", { part: partOf({ iteration, iterations }) }));

/** @param {State} state */
export function renderTraining(state) {
  const { studio, training } = state;
  if (!studio) return;
  const { outcome, phase, paused, step, losses, preview, error, badClip, resumable } = training;
  const running = state.activity === "learning";
  const agreed = consented(state);
  const clips = goodClips(state);
  const seconds = goodSeconds(state);

  const { kind, cores } = studio.device;
  setText($("device-kind"), t(cores > 1 ? "train.device.cores" : `train.device.${kind}`, { cores }));
  setText($("device-name"), studio.device.name);
  setText($("device-reason"), deviceReason(studio.device));

  setText(
    $("train-words"),
    running && paused && step ? t("train.paused", { part: partOf(step) })
    : running && phase === "aligning" ? t("train.aligning")
    : running && phase === "finishing" ? t("train.finishing")
    : running && step ? t("train.learning", { part: partOf(step) })
    : running ? t("train.warming")
    : outcome === "done" ? t("train.done", { time: formatTime(training.seconds) })
    : outcome === "cancelled" ? t("train.cancelled")
    : outcome === "opened" ? t("train.opened")
    : !agreed ? t(state.source === "files" ? "train.consentFiles" : "train.consent")
    : seconds < MIN_SECONDS ? t("train.need", { seconds: MIN_SECONDS })
    : t("train.ready", { count: clips.length, seconds: formatTime(seconds) }),
  );
  // Screen readers announce every 25th iteration, each change of phase, and pauses.
  const done = step ? step.iteration - (step.iteration % 25) : 0;
  setText($("train-said"), running && step && !paused && phase === "training" ? (done ? t("train.learning", { part: partOf({ ...step, iteration: done }) }) : "") : $("train-words").textContent);
  $("train-run").hidden = !running;
  $("train-figures").hidden = !running && losses.length === 0;
  setText($("train-iteration"), step ? t("train.iteration", { n: step.iteration, count: step.iterations }) : "");
  if (step) {
    $("train-bar").max = step.iterations;
    $("train-bar").value = step.iteration;
    setText($("train-loss"), t("train.lossNow", { loss: formatNumber(step.loss, 3), first: formatNumber(losses[training.first - 1], 3) }));
    const left = (training.seconds / training.steps) * (step.iterations - step.iteration);
    setText($("train-left"), running && !paused && training.steps > 0 ? t("train.left", { time: formatTime(left) }) : "");
    const held = training.heldOut.at(-1);
    $("held-out-key").hidden = $("held-out-words").hidden = !held;
    const heldOutWords = held ? t("train.heldOutNow", { loss: formatNumber(held.loss, 3), first: formatNumber(training.heldOut[0].loss, 3) }) : "";
    $("loss-curve").ariaLabel = `${t("train.loss")} ${$("train-loss").textContent}. ${heldOutWords}`;
    drawCurve($("loss-curve"), { losses, heldOut: training.heldOut, iterations: step.iterations });
  } else {
    $("train-bar").removeAttribute("value");
  }
  renderPictures(training);
  showError($("train-unkept"), training.notStored, t("train.unkept"));
  const badPrompt = state.prompts.findIndex(({ id }) => id === badClip);
  const badName = state.source === "record" && badPrompt >= 0 ? promptName(state.prompts, badPrompt) : badClip;
  showError($("train-error"), error, error && badClip ? `${t("train.badClip")} ${badName}` : "");
  $("train-clip").hidden = !badClip;
  setText($("train-clip"), t(state.source === "files" ? "train.clipFile" : "train.clip"));
  $("preview-on").checked = state.preview !== null;
  $("preview").hidden = !preview || !running;
  setText($("preview-words"), preview ? previewWords(preview.iteration, step?.iterations) : "");
  setText($("preview-play"), t(isPlaying("preview") ? "read.pause" : "read.play"));
  $("train-start").hidden = running;
  $("train-start").disabled = !activity.allows("learning") || seconds < MIN_SECONDS || !agreed;
  $("train-start").classList.toggle("primary", outcome !== "done" && !resumable);
  $("train-resume").classList.toggle("primary", outcome !== "done");
  setText($("train-start"), t(outcome === "done" ? "train.again" : "train.start"));
  $("train-resume").hidden = running || !resumable;
  $("train-resume").disabled = !activity.allows("learning");
  // For tests.
  $("train-resume").dataset.iteration = `${resumable?.iteration ?? 0}`;
  setText($("train-resume"), t("train.resume", { part: partOf(resumable ?? { iteration: 0, iterations: 1 }) }));
  $("train-pause").hidden = !running || !step;
  $("train-pause").disabled = phase === "finishing";
  setText($("train-pause"), t(paused ? "train.continue" : "train.pause"));
  $("train-stop").hidden = !running || !step;
  $("train-stop").disabled = phase === "finishing";
  $("train-cancel").hidden = !running;
  $("train-cancel").disabled = phase === "finishing";
}

/** What the pictures were drawn from: they take too long to be drawn at each change. */
let drawnFrom = "";

/** @param {Training} training */
function renderPictures({ picture }) {
  $("pictures").hidden = !picture;
  if (!picture) return void (drawnFrom = "");
  const { clientWidth } = $("mel-recorded");
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const source = [picture.iteration, clientWidth, dark, t("pictures.mel.words"), devicePixelRatio].join();
  if (source === drawnFrom || clientWidth === 0) return;
  drawnFrom = source;
  drawHeat($("mel-recorded"), melMap(picture.picture, "recorded"));
  drawHeat($("mel-predicted"), melMap(picture.picture, "predicted"));
  drawHeat($("alignment"), alignmentMap(picture.picture));
  const { heard, count } = soundsHeard(picture.picture);
  const difference = t("pictures.mel.words", { now: formatNumber(differenceDb(picture.picture), 1), first: formatNumber(picture.firstDifferenceDb, 1) });
  const sounds = t("pictures.alignment.words", { heard, count });
  setText($("mel-words"), difference);
  setText($("alignment-words"), sounds);
  $("mel-recorded").ariaLabel = t("pictures.mel.recorded.label");
  $("mel-predicted").ariaLabel = `${t("pictures.mel.predicted.label")} ${difference}`;
  $("alignment").ariaLabel = `${t("pictures.alignment.label")} ${sounds}`;
}
