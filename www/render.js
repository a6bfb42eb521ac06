// Renders the state. No decisions are made here.

import { activity, isAtCard, isHearing } from "./activities.js";
import { $, cardPart, promptName, showError, showMaking } from "./dom.js";
import { drawLevels } from "./draw.js";
import { renderBank } from "./render-bank.js";
import { renderPrecision, renderProfile } from "./profile.js";
import { renderWay } from "./path.js";
import { renderTraining } from "./render-training.js";
import { renderSaid } from "./said.js";
import { phaseOf } from "./shared/activity.js";
import { createElement, offerDownload, renderChildren, setText } from "./shared/dom.js";
import { formatNumber, formatTime, language, signOf } from "./shared/language.js";
import { renderPhase, translatePage } from "./shared/page.js";
import { isPlaying, play, playedSeconds } from "./shared/player.js";
import { showWave } from "./shared/wave.js";
import { canShare, soundName } from "./speaking.js";
import { CONSENT, WANTED_SECONDS, consented, currentPrompt, goodSeconds, hasMorePrompts, isOwn, mayRecord } from "./state.js";
import { describeError, describeWarning, statement, t } from "./strings.js";

/** @import { Sound } from "./shared/track.js" */
/** @import { Track } from "./shared/track.js" */
/** @import { ClipReport } from "./js/index.js" */
/** @import { FileClip, PageClip, State } from "./state.js" */
/** @import { Key } from "./strings.js" */

/** Below this signal-to-noise ratio the room is heard in the voice; below 10 dB a recording is refused. */
const QUIET_ROOM_DB = 20;

const VOICES = /** @type {const} */ (["base", "mine"]);

/** Sets the texts of the chosen language. */
export function translate() {
  for (const which of VOICES) {
    const key = /** @type {const} */ (`speak.${which}`);
    if (!$(which).firstChild) $(which).replaceChildren($("voice-card").content.cloneNode(true));
    cardPart(which, "h3").id = `${which}-title`;
    setText(cardPart(which, ".name"), t(key));
    setText(cardPart(which, ".what"), t(`${key}.what`));
    cardPart(which, ".wave").ariaLabel = t("speak.position");
  }
  translatePage(t);
  $("text").value ||= t("speak.example");
}

/** @param {State} state */
export function render(state) {
  const phase = phaseOf(state.activity);
  const { key, values, part } = state.loading;
  renderPhase(phase, { words: t(key, values), part, error: state.loadError && describeError(state.loadError) });
  $("use-cpu").hidden = !["no-adapter", "device-wrong", "device-lost"].includes(state.loadError?.code ?? "");
  renderStorage(state);
  if (phase !== "ready") return;
  // Nothing that happens there is hidden.
  if (!state.voice || state.engine || state.training.error || state.training.resumable || !["idle", "openingVoice"].includes(state.activity)) showMaking();
  renderWay(state);
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
  renderSaid(state);
  renderLikeness(state);
  renderBank(state);
}

/** @param {State} state */
function renderEngine({ engine }) {
  $("engine").hidden = !engine;
  $("engine").dataset.state = engine?.status ?? "working";
  if (!engine) return;
  // A restart fails with any code of a load.
  const isLoss = engine.code === "device-lost" || engine.code === "worker-crashed";
  const reason = engine.toCpu ? t("engine.to-cpu") : isLoss ? t(/** @type {Key} */ (`engine.${engine.code}`)) : describeError(engine).text;
  setText($("engine-words"), t(`engine.${engine.status}`, { reason }));
  $("engine-reload").hidden = engine.status !== "failed";
}

/** @param {State} state */
function renderTotal(state) {
  const seconds = goodSeconds(state);
  $("total-bar").value = Math.min(seconds, WANTED_SECONDS);
  const total = t("read.total", { have: formatTime(seconds), want: formatTime(WANTED_SECONDS) });
  const allRead = state.source === "record" && state.prompts.every(({ id }) => state.recordings.get(id)?.report);
  const further = seconds >= WANTED_SECONDS ? t("read.enough") : allRead && hasMorePrompts(state) ? t("read.more") : "";
  setText($("total-words"), further ? `${total}. ${further}` : total);
  $("record").hidden = state.source !== "record";
  $("files").hidden = $("files-consent").hidden = state.source !== "files";
  const { whose, name, agreed } = state.filesConsent;
  $("speaker").hidden = whose === "mine";
  if ($("speaker-name").value !== name) $("speaker-name").value = name;
  $("files-agreed").checked = agreed;
  $("files-agreed").disabled = whose === "other" && !name.trim();
  setText($("files-statement"), name.trim() || whose === "mine" ? statement(state.filesConsent) : t("files.nameFirst"));
  for (const radio of /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("input[name=whose]"))) radio.checked = radio.value === whose;
  for (const radio of /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("input[name=source]"))) {
    radio.checked = radio.value === state.source;
    radio.disabled = !activity.allows("switching") && state.activity !== "switching";
  }
}

/** @param {Pick<PageClip, "report" | "error"> | undefined} clip */
const verdict = (clip) => (clip?.report ? "good" : clip?.error ? "bad" : "empty");

/** @param {ClipReport} report */
const goodWords = ({ speechSeconds, snrDb }) => t("read.good", { seconds: formatNumber(speechSeconds, 1) }) + (snrDb < QUIET_ROOM_DB ? ` ${t("read.room")}` : "");

/** @param {State} state */
function renderPrompts({ prompts, recordings, current }) {
  const own = prompts.filter(isOwn).length;
  const buttons = prompts.map(({ id }, index) => {
    const clip = verdict(recordings.get(id));
    const button = createElement("button", { type: "button", ariaLabel: `${promptName(prompts, index)}, ${t(`read.state.${clip}`)}` });
    Object.assign(button.dataset, { prompt: index, state: clip });
    button.textContent = id === CONSENT.id ? t("read.consent.short") : isOwn({ id }) ? "+" : `${index - own}`;
    if (index === current) button.ariaCurrent = "step";
    return createElement("li", {}, button);
  });
  renderChildren($("prompt-list"), buttons);
}

/** Moves the card to the step of its sentence, and keeps its focus. @param {State} state */
function renderAgreement(state) {
  const isConsent = state.source === "record" && (currentPrompt(state)?.id ?? CONSENT.id) === CONSENT.id;
  const place = $(isConsent ? "agree-place" : "read-place");
  if ($("card").parentElement !== place) {
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    place.append($("card"));
    if (focused && place.contains(focused)) focused.focus({ preventScroll: true });
  }
  $("agree-again").hidden = isConsent || consented(state);
  setText($("agree-words"), t("agree.missing"));
}

/** @param {State} state */
function renderCard(state) {
  const { activity: current, prompts, microphoneError, recordings } = state;
  const prompt = currentPrompt(state);
  const clip = prompt && recordings.get(prompt.id);
  const recording = current === "recording";
  const busy = isAtCard(current);
  const mayStart = mayRecord(state) && (activity.allows("opening") || activity.allows("recording"));

  setText($("prompt-position"), prompt ? promptName(prompts, state.current) : "");
  $("consent-how").hidden = prompt?.id !== CONSENT.id;
  setText($("prompt-text"), prompt?.text ?? t("read.none"));
  setText($("record-words"), t(recording ? "read.stop" : clip ? "read.again" : "read.start"));
  $("record-button").ariaPressed = `${recording}`;
  $("record-button").disabled = !recording && (busy || !mayStart);
  // The one primary button is what comes next.
  $("card").toggleAttribute("data-good", Boolean(clip?.report) && !busy);
  $("back").disabled = busy || state.current === 0;
  setText($("next"), t(clip?.report ? "read.next" : "read.skip"));
  $("next").disabled = busy || (state.current >= prompts.length - 1 && !hasMorePrompts(state));
  $("card").toggleAttribute("data-empty", !clip && !busy);
  const canUndo = !clip && prompt !== null && state.discarded?.id === prompt.id;
  $("play").hidden = !clip || recording;
  $("discard").hidden = (!clip && !canUndo) || recording;
  setText($("discard"), t(canUndo ? "read.undo" : "read.discard"));
  $("discard").disabled = busy;
  setText($("play"), t(isPlaying("clip") ? "read.pause" : "read.play"));
  const isEnough = goodSeconds(state) >= WANTED_SECONDS && consented(state) && state.training.outcome !== "done";
  $("learn").hidden = !isEnough || !activity.allows("learning");
  $("card").toggleAttribute("data-enough", isEnough);
  $("close-microphone").hidden = current !== "listening";
  renderMicrophones(state);
  $("level").hidden = !["recording", "checking", "listening"].includes(current);
  $("level").ariaLabel = t("read.level");

  const words = $("clip-words");
  const error = microphoneError ?? (busy ? null : (clip?.error ?? null));
  words.dataset.state = microphoneError ? "bad" : busy ? "" : verdict(clip ?? undefined);
  if (error) return showError(words, error, microphoneError?.kept ? `${describeError(error).text} ${t("read.kept")}` : "");
  words.hidden = false;
  setText(
    words,
    current === "opening" ? t("read.opening")
    : recording ? t("read.recording")
    : current === "checking" ? t("read.checking")
    : clip?.report ? goodWords(clip.report)
    : prompt && !mayRecord(state) ? t("train.consent")
    : t("read.empty"),
  );
}

/** Shows the microphones once the browser names them, and where there is a choice. @param {State} state */
function renderMicrophones({ microphones, microphone, activity: current }) {
  $("microphones").hidden = microphones.length < 2;
  $("microphone").disabled = isAtCard(current);
  const options = microphones.map(({ deviceId, label }) => createElement("option", { value: deviceId, textContent: label }));
  renderChildren($("microphone"), options);
  $("microphone").value = microphones.some(({ deviceId }) => deviceId === microphone) ? microphone : (microphones[0]?.deviceId ?? "");
}

/** Renders what moves: waveforms and level. @param {State} state @param {{ peaks: number[], levelDb: number, peakDb: number }} live */
export function renderMoving(state, live) {
  if (phaseOf(state.activity) !== "ready") return;
  const prompt = currentPrompt(state);
  const clip = prompt && state.recordings.get(prompt.id);
  const recording = state.activity === "recording";
  $("clip-live").hidden = !recording;
  $("clip-wave").hidden = recording;
  if (recording) drawLevels($("clip-live"), live.peaks);
  else renderWave($("clip-wave"), "clip", clip);
  $("level-bar").style.transform = `scaleX(${Math.max(0, Math.min(1, (live.levelDb + 60) / 60))})`;
  $("level").toggleAttribute("data-hot", live.peakDb > -1);
  $("level").ariaValueNow = `${Math.max(-60, Math.round(live.levelDb))}`;
  renderWave($("preview-wave"), "preview", state.training.preview?.speech);
  for (const which of VOICES) {
    renderWave(cardPart(which, ".wave"), which, state.spoken[which].speech);
    renderPosition(which, state.spoken[which].speech);
  }
}

/** The word that each card marks. @type {{ [which: string]: object | undefined }} */
const marked = {};

/** Shows where a voice is in its speech: for screen readers at its waveform, for others by the word that is being spoken. @param {"base" | "mine"} which @param {Track | null} speech */
function renderPosition(which, speech) {
  const [wave, line] = [cardPart(which, ".wave"), cardPart(which, ".reading")];
  const position = speech && playedSeconds(which);
  const said = position === null ? undefined : speech?.saidAt(position);
  wave.tabIndex = speech ? 0 : -1;
  wave.ariaValueMax = `${Math.round(speech?.seconds ?? 0)}`;
  wave.ariaValueNow = `${Math.round(position ?? 0)}`;
  wave.ariaValueText = formatTime(position ?? 0);
  line.hidden = !said?.sentence.words.length;
  if (line.hidden || !said) return;
  const { text, words } = said.sentence;
  const word = words.findLast(({ begin }) => begin <= said.seconds);
  if (marked[which] === word && line.textContent === text) return;
  marked[which] = word;
  const { charIndex, charLength } = word ?? { charIndex: 0, charLength: 0 };
  const end = charIndex + charLength;
  line.replaceChildren(text.slice(0, charIndex), createElement("mark", { textContent: text.slice(charIndex, end) }), text.slice(end));
}

/** Shows a waveform with its played part in colour; a click plays from there. @param {HTMLElement} element @param {string} key @param {Sound | Track | null | undefined} sound */
const renderWave = (element, key, sound) => showWave(element, sound && "read" in sound ? sound.wave : sound, playedSeconds(key) ?? 0, (from) => play(key, sound, from));

/** @param {State} state */
function renderFiles({ files }) {
  renderChildren($("file-list"), files.map(fileRow));
  $("files-learn").hidden = files.length === 0;
  $("files-learn").disabled = !activity.allows("learning");
}

/** @param {FileClip} clip */
function fileRow(clip) {
  const { key, id, name, samples, sampleRate, text, report, error, notStored } = clip;
  const needsText = report && !text.trim();
  const words = createElement("p", { className: error && !samples.length ? "failure" : "verdict" });
  words.dataset.state = needsText ? "bad" : verdict(clip);
  if (error) showError(words, error, error.code === "clip-mismatch" ? t(`files.mismatch${signOf(error.found)}`) : "");
  else setText(words, needsText ? t("files.needsText") : report ? goodWords(report) : t("read.checking"));
  const remove = createElement("button", { type: "button", className: "plain", textContent: t("files.remove"), ariaLabel: `${t("files.remove")} ${name}` });
  remove.dataset.remove = id;
  const row = createElement("li", {}, createElement("div", { className: "head" }, createElement("span", { className: "name", textContent: name }), remove));
  row.dataset.key = `${key}`;
  if (samples.length) {
    const field = createElement("textarea", { rows: samples.length > 20 * sampleRate ? 5 : 1, autocomplete: "off", value: text, placeholder: t("files.noText"), ariaLabel: `${t("files.text")}: ${name}` });
    field.dataset.file = id;
    row.append(field);
  }
  row.append(words);
  if (notStored) {
    const failure = createElement("p", { className: "failure" });
    showError(failure, notStored);
    row.append(failure);
  }
  return row;
}

/** @param {State} state */
function renderSpeaking({ activity: current, speaker, studio, voice, bank, compared, spoken, delivery, speakError, textWarnings, isLarge, canOpus }) {
  const { speed, pitch, liveliness } = delivery;
  const values = {
    speed: `${formatNumber(speed, 2)} ×`,
    pitch: t("speak.semitones", { pitch: `${pitch > 0 ? "+" : ""}${formatNumber(pitch, 1)}` }),
    liveliness: `${formatNumber(liveliness, 1)} ×`,
  };
  for (const name of /** @type {const} */ (["speed", "pitch", "liveliness"])) {
    setText($(`${name}-value`), values[name]);
    $(name).setAttribute("aria-valuetext", values[name]);
    $(name).disabled = name !== "speed" && !studio?.base.info.hasPitch;
  }
  for (const which of VOICES) {
    const { speech, stop, isRecorded, text, file, firstAudioMs } = spoken[which];
    const [button, playButton, download] = [cardPart(which, ".say"), cardPart(which, ".play"), cardPart(which, ".download")];
    const speaks = speaker === which;
    const isMissing = which === "mine" && !voice;
    setText(button, t(speaks ? "speak.stop" : "speak.say"));
    button.disabled = isMissing || isHearing(current);
    // With more than one voice, each is called by its name.
    const id = which === "mine" ? voice?.info.id : compared?.id;
    const name = (bank.length > 1 && bank.find((kept) => kept.id === id)?.name) || t(`speak.${which}.what`);
    setText(cardPart(which, ".name"), t(!compared ? `speak.${which}` : which === "base" ? "speak.compared" : "speak.current"));
    setText(cardPart(which, ".what"), name);
    button.ariaLabel = `${button.textContent}, ${name}`;
    const seconds = speech ? formatNumber(speech.seconds, 1) : "";
    setText(
      cardPart(which, ".words"),
      isMissing && !isRecorded ? t("speak.none")
      : speaks ? t(speech ? "speak.working" : "speak.wait")
      : isRecorded ? t("speak.recorded")
      : speech ? t("speak.seconds", { seconds }) + (stop === "durations" ? "" : `. ${t("speak.cut")}`)
      : "",
    );
    // For tests: the time from the click to the first sound.
    if (firstAudioMs === null) delete $(which).dataset.firstAudioMs;
    else $(which).dataset.firstAudioMs = `${Math.round(firstAudioMs)}`;
    playButton.hidden = !speech;
    playButton.disabled = isHearing(current);
    setText(playButton, t(isPlaying(which) ? "read.pause" : "read.play"));
    download.hidden = !file;
    offerDownload(download, file, soundName(text));
    cardPart(which, ".opus").hidden = !file || !canOpus;
    cardPart(which, ".share").hidden = !file || !canShare;
    button.classList.toggle("primary", which === "mine" && !isMissing);
  }
  $("both").hidden = !voice;
  $("both").disabled = isHearing(current);
  $("text-warning").hidden = textWarnings.length === 0;
  setText($("text-warning"), textWarnings.map(describeWarning).join(" "));
  $("talk").toggleAttribute("data-large", isLarge);
  $("large").ariaPressed = `${isLarge}`;
  showError($("speak-error"), speakError);
  $("save").disabled = !voice;
  const consent = voice?.info.consent;
  $("voice-consent").hidden = !voice;
  setText($("voice-consent"), consent ? t(consent.recordingSha256 ? "speak.consent.spoken" : "speak.consent", { text: consent.text }) : t("speak.consent.none"));
  $("open").disabled = !activity.allows("openingVoice") && current !== "openingVoice";
}

/** @param {State} state */
function renderLikeness({ likeness: { status, part, similarity } }) {
  $("likeness").hidden = status === "none";
  const percent = (/** @type {number} */ value) => `${formatNumber(100 * value, 0)} %`;
  const measured = similarity && { base: percent(similarity.base), clone: percent(similarity.clone), own: percent(similarity.sameSpeaker) };
  setText($("likeness-words"), measured ? t("likeness.words", measured) : status === "few" ? t("likeness.few") : t("likeness.measuring", { part: percent(part) }));
  $("likeness-bars").hidden = !similarity;
  if (!similarity || !measured) return;
  for (const [name, value] of /** @type {const} */ ([["base", similarity.base], ["clone", similarity.clone], ["own", similarity.sameSpeaker]])) {
    const bar = /** @type {HTMLElement} */ ($(`likeness-${name}`).querySelector("dd"));
    setText(bar.children[1], measured[name]);
    /** @type {HTMLElement} */ (bar.children[0]).style.inlineSize = `${100 * value}%`;
  }
}

/** @param {State} state */
function renderStorage({ activity: current, studio, recordings, files, voice, bank, said, training, offline, usage, deletion }) {
  const mb = (/** @type {number} */ bytes) => formatNumber(bytes / 1e6, 1);
  const kept = [
    bank.length > 1 ? t("kept.voices", { count: bank.length }) : (voice || bank.length) && t("kept.voice"),
    recordings.size && t("kept.sentences", { count: recordings.size }),
    files.length && t("kept.files", { count: files.length }),
    training.resumable && t("kept.training"),
    said.length && t("kept.said", { count: said.length }),
  ].filter((part) => typeof part === "string");
  const cannotStore = studio !== null && !studio.storage;
  setText(
    $("kept-words"),
    deletion.status === "running" ? t("kept.deleting")
    : cannotStore ? t("kept.not")
    : kept.length ? t("kept.some", { what: new Intl.ListFormat(language).format(kept), mb: mb(usage.bytes) })
    : phaseOf(current) !== "ready" && usage.bytes > 0 ? t("kept.something", { mb: mb(usage.bytes) })
    : t("kept.none"),
  );
  showError($("kept-error"), studio?.storageError ?? null);
  setText($("kept-promise"), !cannotStore && kept.length ? t(usage.persistent ? "kept.persistent" : voice ? "kept.fleetingVoice" : "kept.fleeting") : "");
  // Browsers count the deleted files for a while.
  setText($("kept-total"), usage.totalBytes && deletion.status === "none" ? t("kept.total", { mb: mb(usage.totalBytes) }) : "");
  $("offline-words").hidden = !offline.ready && !offline.failed;
  setText($("offline-words"), t(offline.ready ? "kept.offline" : "kept.notOffline"));
  $("newer").hidden = !offline.newer;
  $("delete-all").hidden = cannotStore && usage.bytes === 0;
  $("delete-all").disabled = deletion.status === "running";
  setText($("deletion-words"), deletion.status === "done" && !deletion.error ? t("kept.deleted") : "");
  showError($("deletion-error"), deletion.error, deletion.error ? `${t("kept.notDeleted")} ${deletion.error.message}` : "");
}
