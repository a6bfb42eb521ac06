// Renders the training: device, progress, quality.

import { drawCurve } from "./curve.js";
import { $, fail, place } from "./dom.js";
import { say } from "./page.js";
import { alignmentMap, differenceDb, drawHeat, melMap, soundsHeard } from "./heat.js";
import { position } from "./play.js";
import { MIN_SECONDS, consented, goodClips, goodSeconds } from "./state.js";
import { clock, number, t } from "./strings.js";

/** @import { Device } from "./js/device.js" */
/** @import { State, Training } from "./state.js" */

/** The reason for the device and its self-test, in the visitor's language. @param {Device} device */
function why({ kind, code, adapter, selfTest }) {
  const reason = t(code === "asked" ? `device.asked.${kind}` : `device.${code}`, { adapter });
  const figure = (/** @type {number} */ value) => value.toExponential(0);
  return selfTest ? `${reason} ${t("device.tested", { deviation: figure(selfTest.deviation), tolerance: figure(selfTest.tolerance) })}` : reason;
}

/** @param {State} state */
export function renderTraining(state) {
  const { studio, training } = state;
  if (!studio) return;
  const { status, phase, paused, step, losses, preview, error, badClip, resumable } = training;
  const running = status === "running";
  const agreed = consented(state);
  const clips = goodClips(state);
  const seconds = goodSeconds(state);

  const { kind, cores } = studio.device;
  say($("device-kind"), t(cores > 1 ? "train.device.cores" : `train.device.${kind}`, { cores }));
  say($("device-name"), studio.device.name);
  say($("device-reason"), why(studio.device));

  say(
    $("train-words"),
    running && paused && step ? t("train.paused", { n: step.iteration, count: step.iterations })
    : running && phase === "aligning" ? t("train.aligning")
    : running && phase === "finishing" ? t("train.finishing")
    : running && step ? t("train.iteration", { n: step.iteration, count: step.iterations })
    : running ? t("train.warming")
    : status === "done" ? t("train.done", { count: losses.length, time: clock(training.seconds) })
    : status === "cancelled" ? t("train.cancelled")
    : status === "opened" ? t("train.opened")
    : !agreed ? t(state.source === "files" ? "train.consentFiles" : "train.consent")
    : seconds < MIN_SECONDS ? t("train.need", { seconds: MIN_SECONDS })
    : t("train.ready", { clips: clips.length, seconds: clock(seconds) }),
  );
  // Announced to screen readers: every 25th iteration, each change of phase, and pauses.
  const [done, count] = [step ? step.iteration - (step.iteration % 25) : 0, step?.iterations ?? 0];
  say($("train-said"), running && !paused && phase === "training" ? (done ? t("train.iteration", { n: done, count }) : "") : $("train-words").textContent);
  $("train-run").hidden = !running && losses.length === 0;
  if (step) {
    $("train-bar").max = step.iterations;
    $("train-bar").value = step.iteration;
    say($("train-loss"), t("train.lossNow", { loss: number(step.loss, 3), first: number(losses[training.first - 1], 3) }));
    const passed = step.iteration - training.first + 1;
    const left = (training.seconds / passed) * (step.iterations - step.iteration);
    say($("train-left"), running && !paused && passed > 1 ? t("train.left", { time: clock(left) }) : "");
    const held = training.heldOut.at(-1);
    $("held-out-key").hidden = $("held-out-words").hidden = !held;
    const heldWords = held ? t("train.heldOutNow", { loss: number(held.loss, 3), first: number(training.heldOut[0].loss, 3) }) : "";
    $("loss-curve").ariaLabel = `${t("train.loss")} ${$("train-loss").textContent}. ${heldWords}`;
    drawCurve($("loss-curve"), { losses, heldOut: training.heldOut, iterations: step.iterations }, { loss: t("train.key.loss"), heldOut: t("train.key.heldOut"), iteration: t("train.key.iteration") }).catch(console.error);
  } else {
    $("train-bar").removeAttribute("value");
  }
  renderPictures(training);
  fail($("train-unkept"), training.notStored, t("train.unkept"));
  const bad = state.prompts.findIndex(({ id }) => id === badClip);
  const named = state.source === "record" && bad >= 0 ? place(state.prompts, bad) : badClip;
  fail($("train-error"), error, error && badClip ? `${t("train.badClip")} ${named}` : "");
  $("train-clip").hidden = !badClip;
  say($("train-clip"), t(state.source === "files" ? "train.clipFile" : "train.clip"));
  $("preview-on").checked = state.preview !== null;
  $("preview").hidden = !preview || !running;
  say($("preview-words"), preview ? t("train.previewed", { n: preview.iteration }) : "");
  say($("preview-play"), t(position("preview") === null ? "read.play" : "read.pause"));
  $("train-start").hidden = running;
  $("train-start").disabled = seconds < MIN_SECONDS || !agreed;
  say($("train-start"), t(status === "done" ? "train.again" : "train.start"));
  $("train-resume").hidden = running || !resumable;
  say($("train-resume"), t("train.resume", { iteration: resumable?.iteration ?? 0 }));
  $("train-pause").hidden = !running || !step;
  $("train-pause").disabled = phase === "finishing";
  say($("train-pause"), t(paused ? "train.goOn" : "train.pause"));
  $("train-stop").hidden = !running || !step;
  $("train-stop").disabled = phase === "finishing";
  $("train-cancel").hidden = !running;
  $("train-cancel").disabled = phase === "finishing";
}

/** Describes what was drawn last, so that it is not drawn again. */
let drawn = "";

/** @param {Training} training */
function renderPictures({ picture }) {
  $("pictures").hidden = !picture;
  if (!picture) return void (drawn = "");
  const { clientWidth } = $("mel-recorded");
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = [picture.iteration, clientWidth, dark, t("pictures.mel.words"), devicePixelRatio].join();
  if (now === drawn || clientWidth === 0) return;
  drawn = now;
  drawHeat($("mel-recorded"), melMap(picture.picture, "recorded"));
  drawHeat($("mel-predicted"), melMap(picture.picture, "predicted"));
  drawHeat($("alignment"), alignmentMap(picture.picture));
  const { heard, count } = soundsHeard(picture.picture);
  const found = t("pictures.mel.words", { now: number(differenceDb(picture.picture), 1), first: number(picture.firstDifferenceDb, 1) });
  const sounds = t("pictures.alignment.words", { heard, count });
  say($("mel-words"), found);
  say($("alignment-words"), sounds);
  $("mel-recorded").ariaLabel = t("pictures.mel.recorded.label");
  $("mel-predicted").ariaLabel = `${t("pictures.mel.predicted.label")} ${found}`;
  $("alignment").ariaLabel = `${t("pictures.alignment.label")} ${sounds}`;
}
