// Renders the state. No decisions are made here.

import { renderPrecision, renderProfile } from "./profile.js";
import { $, element, fail, ofCard, place } from "./dom.js";
import { drawLive } from "./draw.js";
import { say, translatePage } from "./page.js";
import { position } from "./play.js";
import { playFrom } from "./playback.js";
import { renderTraining } from "./render-training.js";
import { CONSENT, WANTED_SECONDS, consented, currentPrompt, goodSeconds, mayRecord } from "./state.js";
import { clock, language, number, t, warningInWords } from "./strings.js";
import { showWave } from "./wave.js";

/** @import { Sound } from "./play.js" */
/** @import { Failure, PageClip, State } from "./state.js" */
/** @import { Key } from "./strings.js" */

/** Sets the texts of the chosen language. */
export function translate() {
  for (const [which, words] of /** @type {const} */ ([["base", "speak.base"], ["mine", "speak.mine"]])) {
    if (!$(which).firstChild) $(which).replaceChildren($("voice-card").content.cloneNode(true));
    ofCard(which, "h3").id = `${which}-title`;
    say(ofCard(which, ".name"), t(words));
    say(ofCard(which, ".what"), t(`${words}.what`));
  }
  translatePage(t);
  $("text").value ||= t("speak.example");
}

/** @param {State} state */
export function render(state) {
  renderLoading(state);
  renderStorage(state);
  if (state.load.status !== "ready") return;
  renderEngine(state);
  renderTotal(state);
  renderPrompts(state);
  renderCard(state);
  renderAgreement(state);
  renderFiles(state);
  renderTraining(state);
  renderProfile(state);
  renderPrecision(state);
  renderSpeaking(state);
  renderLikeness(state);
}

/** @param {State} state */
function renderLoading({ load }) {
  document.body.dataset.phase = load.status;
  $("loading").hidden = load.status === "ready";
  $("steps").hidden = load.status !== "ready";
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
  $("files").hidden = $("files-consent").hidden = state.source !== "files";
  $("files-agreed").checked = state.filesConsent;
  for (const radio of document.querySelectorAll("input[name=source]")) /** @type {HTMLInputElement} */ (radio).checked = /** @type {HTMLInputElement} */ (radio).value === state.source;
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
    const button = /** @type {HTMLButtonElement} */ (list.children[index].firstChild);
    const clip = verdict(recordings.get(id));
    say(button, id === CONSENT.id ? t("read.consent.short") : `${index}`);
    button.dataset.state = clip;
    button.ariaLabel = `${place(prompts, index)}, ${t(`read.state.${clip}`)}`;
    button.ariaCurrent = index === current ? "step" : null;
  });
}

/** Moves the card to the step of its sentence, with its focus. @param {State} state */
function renderAgreement(state) {
  const reading = state.source === "record" && (currentPrompt(state)?.id ?? CONSENT.id) === CONSENT.id;
  const place = $(reading ? "agree-place" : "read-place");
  if ($("card").parentElement !== place) {
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    place.append($("card"));
    if (focused && place.contains(focused)) focused.focus({ preventScroll: true });
  }
  const agreed = consented(state);
  $("agree-again").hidden = reading || state.source === "files";
  say($("agree-words"), t(agreed ? "agree.done" : "agree.missing"));
  say($("agree-open"), t(agreed ? "agree.again" : "agree.read"));
}

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
  $("record-button").disabled = !(recording || mayRecord(state)) || microphone === "opening" || microphone === "checking";
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
    : prompt && !mayRecord(state) ? t("train.consent")
    : t("read.empty"),
  );
}

/** Renders what moves: waveforms and level. @param {State} state @param {{ peaks: number[], levelDb: number, peakDb: number }} live */
export function renderMoving(state, live) {
  if (state.load.status !== "ready") return;
  const prompt = currentPrompt(state);
  const clip = prompt && state.recordings.get(prompt.id);
  const recording = state.microphone === "recording";
  $("clip-live").hidden = !recording;
  $("clip-wave").hidden = recording;
  if (recording) drawLive($("clip-live"), live.peaks);
  else wave($("clip-wave"), "clip", clip);
  $("level-bar").style.transform = `scaleX(${Math.max(0, Math.min(1, (live.levelDb + 60) / 60))})`;
  $("level").toggleAttribute("data-hot", live.peakDb > -1);
  $("level").ariaValueNow = `${Math.max(-60, Math.round(live.levelDb))}`;
  wave($("preview-wave"), "preview", state.training.preview?.speech);
  for (const which of /** @type {const} */ (["base", "mine"])) wave(ofCard(which, ".wave"), which, state.spoken[which].speech);
}

/** A waveform; the played part is coloured, and a click plays from there. @param {HTMLElement} element @param {string} key @param {Sound | null | undefined} sound */
const wave = (element, key, sound) => showWave(element, sound, position(key) ?? 0, (part) => playFrom(key, sound, part));

/** @param {State} state */
function renderFiles({ files, fileErrors }) {
  const list = $("file-list");
  const shown = language + files.map(({ id, report, error }) => id + verdict({ report, error, ...none })).join() + fileErrors.map(({ code, message }) => code + message).join();
  if (list.dataset.shown === shown) return; // text fields in it keep their focus
  list.dataset.shown = shown;
  list.replaceChildren(...files.map(fileRow), ...fileErrors.map(errorRow));
}
const none = { id: "", text: "", samples: new Float32Array(), sampleRate: 0 };

/** @param {PageClip} clip */
function fileRow(clip) {
  const words = element("p", { className: "verdict" });
  words.dataset.state = verdict(clip);
  if (clip.error) fail(words, clip.error, clip.error.code === "clip-mismatch" ? t("files.mismatch") : "");
  else say(words, clip.report ? t("read.good", { seconds: number(clip.report.speechSeconds, 1), snr: Math.round(clip.report.snrDb) }) : t("read.checking"));
  const remove = element("button", { type: "button", className: "plain", textContent: t("files.remove"), ariaLabel: `${t("files.remove")} ${clip.id}` });
  remove.dataset.remove = clip.id;
  const text = element("textarea", { rows: clip.samples.length > 20 * clip.sampleRate ? 5 : 1, autocomplete: "off", value: clip.text, placeholder: t("files.noText"), ariaLabel: `${t("files.text")}: ${clip.id}` });
  text.dataset.file = clip.id;
  return element("li", {}, element("div", { className: "head" }, element("span", { className: "name", textContent: clip.id }), remove), text, words);
}

/** @param {Failure} error */
function errorRow(error) {
  const words = element("p", { className: "failure" });
  fail(words, error);
  return element("li", {}, element("span", { className: "name", textContent: error.message }), words);
}

/** @param {State} state */
function renderSpeaking({ studio, voice, voiceFile, otherVoices, spoken, delivery, speakError, textWarnings }) {
  const { speed, pitch, liveliness } = delivery;
  const shown = {
    speed: `${number(speed, 2)} ×`,
    pitch: t("speak.semitones", { pitch: `${pitch > 0 ? "+" : ""}${number(pitch, 1)}` }),
    liveliness: `${number(liveliness, 1)} ×`,
  };
  for (const name of /** @type {const} */ (["speed", "pitch", "liveliness"])) {
    say($(`${name}-value`), shown[name]);
    $(name).setAttribute("aria-valuetext", shown[name]);
    $(name).disabled = name !== "speed" && !studio?.base.info.hasPitch;
  }
  for (const which of /** @type {const} */ (["base", "mine"])) {
    const { status, speech, url, firstAudioMs } = spoken[which];
    const [button, play, download] = [ofCard(which, ".say"), ofCard(which, ".play"), ofCard(which, ".download")];
    const waits = which === "mine" && !voice;
    say(button, t(status === "working" ? "speak.stop" : "speak.say"));
    button.disabled = waits;
    button.ariaLabel = `${button.textContent}, ${t(`speak.${which}.what`)}`;
    const seconds = speech ? number(speech.samples.length / speech.sampleRate, 1) : "";
    say(
      ofCard(which, ".words"),
      waits ? t("speak.none")
      : status === "working" ? t(speech ? "speak.working" : "speak.wait")
      : speech ? t("speak.seconds", { seconds }) + (speech.stop === "durations" ? "" : `. ${t("speak.cut")}`)
      : "",
    );
    // What a test can measure: from the click to the first sound.
    if (firstAudioMs === null) delete $(which).dataset.firstAudioMs;
    else $(which).dataset.firstAudioMs = `${Math.round(firstAudioMs)}`;
    play.hidden = !speech || status === "working";
    say(play, t(position(which) === null ? "read.play" : "read.pause"));
    download.hidden = !url || status === "working";
    if (url) Object.assign(download, { href: url, download: `ownvoice-${which}.wav` });
  }
  $("text-warning").hidden = textWarnings.length === 0;
  say($("text-warning"), textWarnings.map(warningInWords).join(" "));
  fail($("speak-error"), speakError);
  $("save").disabled = !voiceFile;
  $("others").hidden = otherVoices.length === 0;
  const buttons = $("other-voices");
  while (buttons.children.length > otherVoices.length) buttons.lastChild?.remove();
  while (buttons.children.length < otherVoices.length) buttons.append(element("button", { type: "button" }));
  buttons.querySelectorAll("button").forEach((button, index) => {
    button.dataset.other = `${index}`;
    say(button, t("speak.saveOther", { n: index + 1 }));
  });
}

/** @param {State} state */
function renderLikeness({ likeness: { status, part, similarity } }) {
  $("likeness").hidden = status === "none";
  const percent = (/** @type {number} */ value) => `${number(100 * value, 0)} %`;
  const measured = similarity && { base: percent(similarity.base), clone: percent(similarity.clone), own: percent(similarity.sameSpeaker) };
  say($("likeness-words"), measured ? t("likeness.words", measured) : t("likeness.measuring", { part: percent(part) }));
  $("likeness-bars").hidden = !similarity;
  if (!similarity || !measured) return;
  for (const [name, value] of /** @type {const} */ ([["base", similarity.base], ["clone", similarity.clone], ["own", similarity.sameSpeaker]])) {
    const bar = /** @type {HTMLElement} */ ($(`likeness-${name}`).querySelector("dd"));
    say(bar.children[1], measured[name]);
    /** @type {HTMLElement} */ (bar.children[0]).style.inlineSize = `${100 * value}%`;
  }
}

/** @param {State} state */
function renderStorage({ load, studio, recordings, voice, otherVoices, training, offline, usage, deletion }) {
  const mb = (/** @type {number} */ bytes) => number(bytes / 1e6, 1);
  const some = recordings.size > 0 || voice || otherVoices.length > 0 || training.resumable;
  const none = studio !== null && !studio.storage;
  say(
    $("kept-words"),
    deletion.status === "running" ? t("kept.deleting")
    : none ? t("kept.not")
    : some ? t(!voice ? "kept.some" : recordings.size ? "kept.voice" : "kept.voiceOnly", { count: recordings.size, mb: mb(usage.bytes) })
    : load.status !== "ready" && usage.bytes > 0 ? t("kept.something", { mb: mb(usage.bytes) })
    : t("kept.none"),
  );
  fail($("kept-error"), studio?.storageError ?? null);
  say($("kept-promise"), !none && some ? t(usage.persistent ? "kept.persistent" : voice ? "kept.fleetingVoice" : "kept.fleeting") : "");
  say($("kept-total"), usage.totalBytes ? t("kept.total", { mb: mb(usage.totalBytes) }) : "");
  $("offline-words").hidden = !offline.ready && !offline.failed;
  say($("offline-words"), t(offline.ready ? "kept.offline" : "kept.notOffline"));
  $("newer").hidden = !offline.newer;
  $("delete-all").hidden = none && usage.bytes === 0;
  $("delete-all").disabled = deletion.status === "running";
  say($("deletion-words"), deletion.status === "done" && !deletion.error ? t("kept.deleted") : "");
  fail($("deletion-error"), deletion.error, deletion.error ? `${t("kept.notDeleted")} ${deletion.error.message}` : "");
}
