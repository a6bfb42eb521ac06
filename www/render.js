// From the state to the page: no decisions here, and no state but the elements.

import { drawCurve, drawLive, drawWave } from "./draw.js";
import { position } from "./play.js";
import { CONSENT, LEAST_SECONDS, WANTED_SECONDS, consented, currentPrompt, goodClips, goodSeconds } from "./state.js";
import { LANGUAGES, clock, inWords, language, number, t } from "./strings.js";

/** @import { Device } from "./js/device.js" */
/** @import { Failure, PageClip, Spoken, State } from "./state.js" */
/** @import { Key } from "./strings.js" */

/** @param {string} id @returns {any} */
export const $ = (id) => document.getElementById(id);

/** Words that change only where they differ: live regions speak what is set. @param {Element} element @param {string} words */
function say(element, words) {
  if (element.textContent !== words) element.textContent = words;
}

/** @param {HTMLElement} element @param {Failure | null} error @param {string} [otherWords] Better ones here. */
function fail(element, error, otherWords) {
  element.hidden = !error;
  const { words, code } = error ? { ...inWords(error), ...(otherWords && { words: otherWords }) } : { words: "", code: "" };
  if (element.dataset.shown === words + code) return;
  element.dataset.shown = words + code;
  element.replaceChildren(...(error ? [words, " ", Object.assign(document.createElement("code"), { textContent: code })] : []));
}

/** Puts the words of the chosen language into the page. */
export function translate() {
  document.documentElement.lang = language;
  document.title = `${t("title")}: ${t("tagline")}`;
  for (const [which, words] of /** @type {const} */ ([["base", "speak.base"], ["mine", "speak.mine"]])) {
    if (!$(which).firstChild) $(which).replaceChildren($("voice-card").content.cloneNode(true));
    $(which).querySelector("h3").id = `${which}-title`;
    say($(which).querySelector(".name"), t(words));
    say($(which).querySelector(".what"), t(`${words}.what`));
  }
  for (const element of document.querySelectorAll("[data-text]")) say(element, t(/** @type {Key} */ (/** @type {HTMLElement} */ (element).dataset.text)));
  for (const button of document.querySelectorAll("#languages button")) button.ariaPressed = `${/** @type {HTMLElement} */ (button).lang === language}`;
  $("languages").ariaLabel = t("language");
  $("text").value ||= t("speak.example");
}

/** The switch: each language by its own name. */
export function offerLanguages() {
  for (const [lang, { name }] of Object.entries(LANGUAGES)) {
    $("languages").append(element("button", { type: "button", className: "plain", lang, textContent: name }));
  }
}

/** @param {State} state */
export function render(state) {
  renderLoading(state);
  if (state.load.status !== "ready") return;
  renderEngine(state);
  renderTotal(state);
  renderPrompts(state);
  renderCard(state);
  renderFiles(state);
  renderTraining(state);
  renderSpeaking(state);
  renderKept(state);
}

/** @param {State} state */
function renderLoading({ load }) {
  document.body.dataset.phase = load.status;
  $("loading").hidden = load.status === "ready";
  for (const part of document.querySelectorAll("#steps, footer")) part.toggleAttribute("hidden", load.status !== "ready");
  $("loading-failed").hidden = load.status !== "failed";
  $("loading-bar").hidden = load.status === "failed";
  say($("loading-words"), load.status === "loading" ? load.words : "");
  if (load.status === "loading" && load.part !== null) $("loading-bar").value = load.part;
  else $("loading-bar").removeAttribute("value");
  fail($("loading-error"), load.status === "failed" ? load.error : null);
  const adapter = load.status === "failed" && ["no-adapter", "device-wrong", "device-lost"].includes(load.error.code ?? "");
  $("use-cpu").hidden = !adapter;
}

/** @param {State} state */
function renderEngine({ engine }) {
  $("engine").hidden = engine.status === "working";
  $("engine").dataset.state = engine.status;
  if (engine.status === "working") return;
  const reason = t(engine.toCpu ? "engine.to-cpu" : /** @type {Key} */ (`engine.${engine.code}`));
  say($("engine-words"), t(`engine.${engine.status}`, { reason }));
  $("engine-reload").hidden = engine.status !== "failed";
}

/** @param {State} state */
function renderTotal(state) {
  const seconds = goodSeconds(state);
  $("total-bar").value = Math.min(seconds, WANTED_SECONDS);
  const total = t("read.total", { have: clock(seconds), want: clock(WANTED_SECONDS) });
  say($("total-words"), seconds >= WANTED_SECONDS ? `${total}. ${t("read.enough")}` : total);
  $("record").hidden = state.source !== "record";
  $("files").hidden = state.source !== "files";
  $("files-agreed").checked = state.filesConsent;
}

/** @param {PageClip | undefined} clip */
const verdict = (clip) => (clip?.report ? "good" : clip?.error ? "bad" : "empty");

/** @param {State} state */
function renderPrompts({ prompts, recordings, current }) {
  const list = $("prompt-list");
  while (list.children.length < prompts.length) {
    const button = element("button", { type: "button" });
    button.dataset.prompt = `${list.children.length}`;
    list.append(element("li", {}, button));
  }
  prompts.forEach(({ id }, index) => {
    const button = list.children[index].firstChild;
    const clip = verdict(recordings.get(id));
    say(button, id === CONSENT.id ? t("read.consent.short") : `${index}`);
    button.dataset.state = clip;
    button.ariaLabel = `${place(prompts, index)}, ${t(`read.state.${clip}`)}`;
    button.ariaCurrent = index === current ? "step" : null;
  });
}

/** Which card this is. @param {State["prompts"]} prompts @param {number} index */
const place = (prompts, index) => (prompts[index].id === CONSENT.id ? t("read.consent") : t("read.position", { n: index, count: prompts.length - 1 }));

/** @param {State} state */
function renderCard(state) {
  const { prompts, current, microphone, microphoneError, recordings } = state;
  const prompt = currentPrompt(state);
  const count = prompts.length;
  const clip = prompt && recordings.get(prompt.id);
  const recording = microphone === "recording";
  const busy = recording || microphone === "opening" || microphone === "checking";

  say($("prompt-position"), prompt ? place(prompts, current) : "");
  $("consent-how").hidden = prompt?.id !== CONSENT.id;
  say($("prompt-text"), prompt?.text ?? t("read.none"));
  say($("record-words"), t(recording ? "read.stop" : clip ? "read.again" : "read.start"));
  $("record-button").ariaPressed = `${recording}`;
  $("record-button").disabled = !prompt || microphone === "opening" || microphone === "checking";
  $("back").disabled = busy || current === 0;
  say($("next"), t(clip?.report ? "read.next" : "read.skip"));
  $("next").disabled = busy || current >= count - 1;
  $("play").hidden = $("discard").hidden = !clip || recording;
  $("discard").disabled = busy;
  say($("play"), t(position("clip") === null ? "read.play" : "read.pause"));
  $("close-microphone").hidden = microphone !== "open";
  $("level").hidden = microphone === "closed" || microphone === "opening";
  $("level").ariaLabel = t("read.level");

  const words = $("clip-words");
  if (microphoneError) {
    words.dataset.state = "bad";
    return fail(words, microphoneError);
  }
  words.dataset.state = busy ? "" : verdict(clip ?? undefined);
  if (!busy && clip?.error) return fail(words, clip.error);
  words.hidden = false;
  delete words.dataset.shown;
  say(
    words,
    microphone === "opening" ? t("read.opening")
    : recording ? t("read.recording")
    : microphone === "checking" ? t("read.checking")
    : clip?.report ? t("read.good", { seconds: number(clip.report.speechSeconds, 1), snr: Math.round(clip.report.snrDb) })
    : t("read.empty"),
  );
}

/** The parts that move: waveforms, and the level. @param {State} state @param {{ peaks: number[], levelDb: number, peakDb: number }} live */
export function renderMoving(state, live) {
  if (state.load.status !== "ready") return;
  const prompt = currentPrompt(state);
  const clip = prompt && state.recordings.get(prompt.id);
  if (state.microphone === "recording") drawLive($("clip-wave"), live.peaks);
  else drawWave($("clip-wave"), clip?.samples ?? null, position("clip") ?? 0);
  $("level-bar").style.transform = `scaleX(${Math.max(0, Math.min(1, (live.levelDb + 60) / 60))})`;
  $("level").toggleAttribute("data-hot", live.peakDb > -1);
  $("level").ariaValueNow = `${Math.max(-60, Math.round(live.levelDb))}`;
  drawWave($("preview-wave"), state.training.preview?.speech.samples ?? null, position("preview") ?? 0);
  for (const which of /** @type {const} */ (["base", "mine"])) {
    drawWave($(which).querySelector(".wave"), state.spoken[which].speech?.samples ?? null, position(which) ?? 0);
  }
}

/** @param {State} state */
function renderFiles({ files, fileErrors }) {
  const list = $("file-list");
  const shown = language + files.map(({ id, report, error }) => id + verdict({ report, error, ...none })).join() + fileErrors.map(({ message }) => message).join();
  if (list.dataset.shown === shown) return; // text fields in it keep their focus
  list.dataset.shown = shown;
  list.replaceChildren(...files.map(fileRow), ...fileErrors.map(errorRow));
}
const none = { id: "", text: "", samples: new Float32Array(), sampleRate: 0 };

/** @param {string} tag @param {Record<string, any>} properties @param {(Node | string)[]} children */
function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** @param {PageClip} clip */
function fileRow(clip) {
  const words = element("p", { className: "verdict" });
  words.dataset.state = verdict(clip);
  if (clip.error) fail(words, clip.error, clip.error.code === "clip-mismatch" ? t("files.mismatch") : "");
  else say(words, clip.report ? t("read.good", { seconds: number(clip.report.speechSeconds, 1), snr: Math.round(clip.report.snrDb) }) : t("read.checking"));
  const remove = element("button", { type: "button", className: "plain", textContent: t("files.remove"), ariaLabel: `${t("files.remove")} ${clip.id}` });
  remove.dataset.remove = clip.id;
  const text = element("input", { type: "text", autocomplete: "off", value: clip.text, placeholder: t("files.noText"), ariaLabel: `${t("files.text")}: ${clip.id}` });
  text.dataset.file = clip.id;
  return element("li", {}, element("div", { className: "head" }, element("span", { className: "name", textContent: clip.id }), remove), text, words);
}

/** @param {Failure} error */
function errorRow(error) {
  const words = element("p", { className: "failure" });
  fail(words, error);
  return element("li", {}, element("span", { className: "name", textContent: error.message }), words);
}

/** Why this device, in the visitor's language, and what it was found to do. @param {Device} device */
function why({ kind, code, adapter, selfTest }) {
  const reason = t(code === "asked" ? `device.asked.${kind}` : `device.${code}`, { adapter });
  const figure = (/** @type {number} */ value) => value.toExponential(0);
  return selfTest ? `${reason} ${t("device.tested", { deviation: figure(selfTest.deviation), tolerance: figure(selfTest.tolerance) })}` : reason;
}

/** @param {State} state */
function renderTraining(state) {
  const { studio, training } = state;
  if (!studio) return;
  const { status, phase, paused, step, losses, preview, error, badClip, resumable } = training;
  const running = status === "running";
  const agreed = consented(state);
  const clips = goodClips(state);
  const seconds = goodSeconds(state);

  say($("device-kind"), t(`train.device.${studio.device.kind}`));
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
    : seconds < LEAST_SECONDS ? t("train.need", { seconds: LEAST_SECONDS })
    : t("train.ready", { clips: clips.length, seconds: clock(seconds) }),
  );
  // A screen reader hears every 25th iteration, and each change of phase.
  const [done, count] = [step ? step.iteration - (step.iteration % 25) : 0, step?.iterations ?? 0];
  say($("train-said"), running && phase === "training" ? (done ? t("train.iteration", { n: done, count }) : "") : $("train-words").textContent);
  $("train-run").hidden = !running && losses.length === 0;
  if (step) {
    $("train-bar").max = step.iterations;
    $("train-bar").value = step.iteration;
    say($("train-loss"), t("train.lossNow", { loss: number(step.loss, 3), first: number(losses[training.first - 1], 3) }));
    const passed = step.iteration - training.first + 1;
    const left = (training.seconds / passed) * (step.iterations - step.iteration);
    say($("train-left"), running && !paused && passed > 1 ? t("train.left", { time: clock(left) }) : "");
    $("loss-curve").ariaLabel = `${t("train.loss")}. ${$("train-loss").textContent}`;
    drawCurve($("loss-curve"), losses, step.iterations);
  } else {
    $("train-bar").removeAttribute("value");
  }
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
  $("train-start").disabled = seconds < LEAST_SECONDS || !agreed;
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

/** @param {State} state */
function renderSpeaking({ voice, spoken, speakError }) {
  for (const which of /** @type {const} */ (["base", "mine"])) {
    const { status, words, speech, url } = spoken[which];
    const find = (/** @type {string} */ part) => $(which).querySelector(part);
    const waits = which === "mine" && !voice;
    say(find(".say"), t(status === "working" ? "speak.stop" : "speak.say"));
    find(".say").disabled = waits;
    find(".say").ariaLabel = `${find(".say").textContent}, ${t(`speak.${which}.what`)}`;
    const seconds = speech ? number(speech.samples.length / speech.sampleRate, 1) : "";
    say(find(".words"), status === "working" ? words : waits ? t("speak.none") : speech ? t("speak.seconds", { seconds }) : "");
    find(".play").hidden = !speech || status === "working";
    say(find(".play"), t(position(which) === null ? "read.play" : "read.pause"));
    find(".download").hidden = !url || status === "working";
    if (url) Object.assign(find(".download"), { href: url, download: `ownvoice-${which}.wav` });
  }
  fail($("speak-error"), speakError);
  $("save").disabled = !voice;
}

/** @param {State} state */
function renderKept({ studio, recordings, voice, training, offline }) {
  const bytes = [...recordings.values()].reduce((sum, { samples }) => sum + samples.byteLength, 0);
  const words = studio?.kept
    ? recordings.size ? t("kept.some", { count: recordings.size, mb: number(bytes / 1e6, 1) }) : t("kept.none")
    : t("kept.not", { reason: studio?.keepReason ?? "" });
  say($("kept-words"), words);
  $("offline-words").hidden = !offline.ready;
  $("newer").hidden = !offline.newer;
  $("delete-all").hidden = recordings.size === 0 && !voice && !training.resumable;
}
