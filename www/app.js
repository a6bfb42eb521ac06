// The page: what a visitor does changes the state, and the state is drawn. Data flows one way.

import { load } from "./js/index.js";
import { play, position, stop as stopPlaying } from "./play.js";
import { $, render, renderMoving, translate } from "./render.js";
import { SENTENCES, currentPrompt, goodClips, initial } from "./state.js";
import { t } from "./strings.js";

/** @import { Studio, CloneProgress, LoadProgress, Voice } from "./js/index.js" */
/** @import { Failure, PageClip, Spoken, State } from "./state.js" */

/** @type {State} */
let state = initial;

/** What the microphone hears right now: changes too often to be state. */
const live = { peaks: /** @type {number[]} */ ([]), levelDb: -100, peakDb: -100 };

/** @param {Partial<State>} change */
function update(change) {
  state = { ...state, ...change };
  render(state);
  move();
}

let moving = false;
/** Draws what moves, for as long as something does. */
function move() {
  renderMoving(state, live);
  if (moving) return;
  const moves = () => state.microphone === "open" || state.microphone === "recording" || ["clip", "base", "mine"].some((key) => position(key) !== null);
  const frame = () => {
    renderMoving(state, live);
    moving = moves();
    if (moving) requestAnimationFrame(frame);
  };
  if ((moving = moves())) requestAnimationFrame(frame);
}

/** @param {unknown} error @returns {Failure | null} Null where the visitor ended it. */
const failure = (error) => (/** @type {Failure} */ (error).code === "cancelled" ? null : /** @type {Failure} */ (error));

/** The studio, in the handlers that only a loaded page can reach. */
function studio() {
  if (!state.studio) throw new Error("the page has not loaded");
  return state.studio;
}

// ---- loading ----

/** @type {Record<"program" | "base", { loaded: number, total: number }>} The program's size is known only when it is here. */
const fetched = { program: { loaded: 0, total: 0 }, base: { loaded: 0, total: 0 } };

/** @param {LoadProgress} progress */
function loading(progress) {
  if (progress.status === "starting") return update({ load: { status: "loading", words: t("load.starting"), part: null } });
  const mb = (/** @type {number} */ bytes) => (bytes / 1e6).toFixed(1);
  fetched[progress.what] = { loaded: progress.loadedBytes, total: "totalBytes" in progress ? progress.totalBytes : 0 };
  const { program, base } = fetched;
  if (base.loaded < base.total) {
    update({ load: { status: "loading", words: t("load.base", { mb: mb(base.loaded), total: mb(base.total) }), part: base.loaded / base.total } });
  } else {
    update({ load: { status: "loading", words: t("load.program", { mb: mb(program.loaded) }), part: null } });
  }
}

async function start() {
  translate();
  render(state);
  const device = /** @type {"auto" | "webgpu" | "cpu"} */ (new URLSearchParams(location.search).get("device") ?? "auto");
  const base = new URLSearchParams(location.search).get("base") ?? "models/base/";
  try {
    const loaded = await load({ base, device, prompts: "models/prompts.json", microphone: true, keep: "ownvoice", onProgress: loading });
    await restore(loaded);
  } catch (error) {
    update({ load: { status: "failed", error: /** @type {Failure} */ (error) } });
  }
}

/** Brings back what an earlier visit left. @param {Studio} studio */
async function restore(studio) {
  const recordings = new Map();
  let { voice, training } = state;
  if (studio.kept) {
    for (const recording of await studio.kept.recordings()) recordings.set(recording.id, await judged(studio, recording));
    const left = await studio.kept.training();
    training = { ...training, resumable: left.checkpoint };
    if (left.voice) {
      try {
        voice = await studio.open(left.voice);
        training = { ...training, status: "opened" };
      } catch (error) {
        training = { ...training, error: /** @type {Failure} */ (error) };
      }
    }
  }
  const prompts = studio.prompts.slice(0, SENTENCES);
  const firstOpen = prompts.findIndex(({ id }) => !recordings.get(id)?.report);
  update({ studio, prompts, recordings, voice, training, current: Math.max(0, firstOpen), load: { status: "ready" } });
}

/** A clip with its verdict. @param {Studio} studio @param {Omit<PageClip, "report" | "error">} clip @returns {Promise<PageClip>} */
async function judged(studio, clip) {
  try {
    return { ...clip, report: await studio.checkClip(clip), error: null };
  } catch (error) {
    return { ...clip, report: null, error: /** @type {Failure} */ (error) };
  }
}

// ---- recording ----

async function toggleRecording() {
  if (state.microphone === "recording") return finishRecording();
  if (!currentPrompt(state) || state.microphone === "opening" || state.microphone === "checking") return;
  stopPlaying();
  const { microphone } = studio();
  try {
    if (!microphone.isOpen) {
      update({ microphone: "opening", microphoneError: null });
      await microphone.open(hear, lost);
    }
    microphone.record();
    live.peaks = [];
    update({ microphone: "recording", microphoneError: null });
  } catch (error) {
    update({ microphone: "closed", microphoneError: /** @type {Failure} */ (error) });
  }
}

/** @param {number} peakDb @param {number} levelDb */
function hear(peakDb, levelDb) {
  live.levelDb = levelDb;
  live.peakDb = peakDb;
  live.peaks.push(10 ** (peakDb / 20));
}

async function finishRecording() {
  const prompt = currentPrompt(state);
  const recorded = studio().microphone.stop();
  if (!prompt) return;
  update({ microphone: "checking" });
  const clip = { id: prompt.id, text: prompt.text, ...recorded };
  // Kept before it is judged: no recording is lost, whatever comes next.
  await keep(() => studio().kept?.put(clip));
  const verdict = await judged(studio(), clip);
  update({ microphone: studio().microphone.isOpen ? "open" : "closed", recordings: new Map(state.recordings).set(prompt.id, verdict) });
}

/** Says when the browser cannot keep something; the page goes on without. @param {() => Promise<void> | undefined} write */
async function keep(write) {
  try {
    await write();
  } catch (error) {
    update({ microphoneError: /** @type {Failure} */ (error) });
  }
}

async function lost() {
  if (state.microphone === "recording") await finishRecording();
  closeMicrophone();
  update({ microphoneError: { code: "microphone-missing", message: t("read.lost") } });
}

function closeMicrophone() {
  studio().microphone.close();
  Object.assign(live, { peaks: [], levelDb: -100, peakDb: -100 });
  update({ microphone: "closed" });
}

async function discard() {
  const prompt = currentPrompt(state);
  if (!prompt) return;
  stopPlaying();
  const recordings = new Map(state.recordings);
  recordings.delete(prompt.id);
  update({ recordings });
  await keep(() => studio().kept?.remove(prompt.id));
}

/** @param {number} index */
function go(index) {
  if (state.microphone === "recording" || state.microphone === "checking" || !state.prompts[index]) return;
  stopPlaying();
  update({ current: index, microphoneError: null });
}

/** @param {string} key @param {{ samples: Float32Array, sampleRate: number } | null | undefined} audio */
function togglePlaying(key, audio) {
  if (position(key) !== null) return stopPlaying();
  if (!audio?.samples.length) return;
  play(key, audio, () => update({}));
  update({});
}

function playClip() {
  const prompt = currentPrompt(state);
  if (prompt && state.microphone !== "recording") togglePlaying("clip", state.recordings.get(prompt.id));
}

// ---- files ----

/** @param {FileList | File[]} chosen */
async function addFiles(chosen) {
  const all = [...chosen];
  const tables = await Promise.all(all.filter(({ name }) => name.endsWith(".csv")).map((file) => file.text()));
  const texts = new Map(tables.flatMap((table) => table.split(/\r?\n/).filter((line) => line.includes("|")).map((line) => /** @type {[string, string]} */ (line.split("|").map((field) => field.trim())))));
  const waves = all.filter(({ name }) => !name.endsWith(".csv")).sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));

  for (const file of waves) {
    const id = file.name.replace(/\.[^.]*$/, "");
    const used = new Set(state.files.map(({ text }) => text));
    const { prompts } = studio();
    const text = texts.get(id) ?? prompts.find((prompt) => prompt.id === id)?.text ?? prompts.find((prompt) => !used.has(prompt.text))?.text ?? "";
    try {
      const clip = await judged(studio(), { id, text, ...(await studio().readWav(file)) });
      update({ files: [...state.files.filter((other) => other.id !== id), clip] });
    } catch (error) {
      const { code } = /** @type {Failure} */ (error);
      update({ fileErrors: [...state.fileErrors.filter(({ message }) => message !== file.name), { code, message: file.name }] });
    }
  }
}

// ---- training ----

let cancelling = new AbortController();
let stopping = new AbortController();

/** @param {"clone" | "resume"} how */
async function train(how) {
  cancelling = new AbortController();
  stopping = new AbortController();
  const options = { signal: cancelling.signal, stopSignal: stopping.signal, onStep };
  update({ training: { ...initial.training, status: "running" } });
  if (state.microphone === "open") closeMicrophone();
  try {
    const voice = how === "resume" ? await studio().resume(options) : await studio().clone(goodClips(state), options);
    forgetSpoken("mine");
    update({ voice, training: { ...state.training, status: "done" } });
  } catch (error) {
    update({ training: { ...state.training, status: failure(error) ? "idle" : "cancelled", error: failure(error) } });
  }
}

/** @param {CloneProgress} progress */
function onStep(progress) {
  const { training } = state;
  if (progress.status !== "training") return update({ training: { ...training, phase: progress.status } });
  const losses = [...training.losses];
  losses[progress.iteration - 1] = progress.loss;
  // A resumed training begins late.
  const first = training.first || progress.iteration;
  update({ training: { ...training, phase: "training", step: progress, losses, first, seconds: progress.seconds } });
}

// ---- speaking ----

/** @type {Record<"base" | "mine", AbortController>} */
const speaking = { base: new AbortController(), mine: new AbortController() };

/** @param {"base" | "mine"} which @param {Partial<Spoken>} change */
function spoke(which, change) {
  update({ spoken: { ...state.spoken, [which]: { ...state.spoken[which], ...change } } });
}

/** @param {"base" | "mine"} which */
function forgetSpoken(which) {
  const { url } = state.spoken[which];
  if (url) URL.revokeObjectURL(url);
  spoke(which, initial.spoken[which]);
}

/** @param {"base" | "mine"} which */
async function speak(which) {
  if (state.spoken[which].status === "working") return speaking[which].abort();
  const voice = which === "base" ? studio().base : state.voice;
  if (!voice) return;
  stopPlaying();
  speaking[which] = new AbortController();
  forgetSpoken(which);
  update({ speakError: null });
  spoke(which, { status: "working", words: t("speak.wait") });
  try {
    const speech = await voice.say($("text").value, {
      signal: speaking[which].signal,
      onProgress: ({ sentence, sentences }) => spoke(which, { words: t("speak.working", { n: sentence, count: sentences }) }),
    });
    spoke(which, { status: "done", speech, url: URL.createObjectURL(speech.toBlob()) });
    togglePlaying(which, speech);
  } catch (error) {
    spoke(which, { status: "idle" });
    update({ speakError: failure(error) });
  }
}

async function saveVoice() {
  if (!state.voice) return;
  const url = URL.createObjectURL(await state.voice.save());
  Object.assign(document.createElement("a"), { href: url, download: "me.ownvoice" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** @param {File} file */
async function openVoice(file) {
  try {
    const voice = await studio().open(file);
    forgetSpoken("mine");
    update({ voice, speakError: null, training: { ...initial.training, status: "opened" } });
  } catch (error) {
    update({ speakError: failure(error) });
  }
}

async function deleteAll() {
  if (!confirm(t("kept.sure"))) return;
  stopPlaying();
  await studio().kept?.clear();
  forgetSpoken("mine");
  update({ recordings: new Map(), files: [], fileErrors: [], voice: null, training: initial.training, current: 0 });
}

// ---- what a visitor does ----

/** @param {string} id @param {(event: any) => unknown} action */
const onClick = (id, action) => $(id).addEventListener("click", action);

onClick("reload", () => location.reload());
onClick("record-button", toggleRecording);
onClick("play", playClip);
onClick("discard", discard);
onClick("back", () => go(state.current - 1));
onClick("next", () => go(state.current + 1));
onClick("close-microphone", closeMicrophone);
onClick("prompt-list", ({ target }) => target.dataset.prompt && go(Number(target.dataset.prompt)));
onClick("train-start", () => train("clone"));
onClick("train-resume", () => train("resume"));
onClick("train-stop", () => stopping.abort());
onClick("train-cancel", () => cancelling.abort());
onClick("save", saveVoice);
onClick("delete-all", deleteAll);
for (const which of /** @type {const} */ (["base", "mine"])) {
  onClick(which, ({ target }) => {
    if (target.matches(".say")) speak(which);
    else if (target.matches(".play")) togglePlaying(which, state.spoken[which].speech);
  });
}

for (const radio of document.querySelectorAll("input[name=source]")) {
  radio.addEventListener("change", () => {
    if (state.microphone === "open") closeMicrophone();
    update({ source: /** @type {"record" | "files"} */ (/** @type {HTMLInputElement} */ (radio).value) });
  });
}
$("open").addEventListener("change", (/** @type {any} */ { target }) => {
  if (target.files[0]) openVoice(target.files[0]);
  target.value = ""; // the same file may be chosen again
});
$("file-input").addEventListener("change", async (/** @type {any} */ { target }) => {
  await addFiles(target.files);
  target.value = "";
});
$("file-list").addEventListener("input", (/** @type {any} */ { target }) => {
  update({ files: state.files.map((clip) => (clip.id === target.dataset.file ? { ...clip, text: target.value } : clip)) });
});
onClick("file-list", ({ target }) => {
  if (target.dataset.remove) update({ files: state.files.filter(({ id }) => id !== target.dataset.remove) });
});

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

start();
