// The contract of the JavaScript package: the code of each bad input, the calls that can be cancelled, and good input of every kind.
// The tests share one visit, which is why this file is long.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { ROOT } from "./harness.mjs";
import { run, visit, withPackage } from "./steps.mjs";
import { waveHeader } from "./wave.mjs";

/** @import { Session } from "./harness.mjs" */

const TINY = join(ROOT, "tests/fixtures/tiny-base");

/** @type {Session} */
let session;

/** @param {string} body @param {any} [input] */
const inPage = (body, input) => run(session, body, input);

/** @param {string} code @param {string} body @param {any} [input] */
async function fails(code, body, input) {
  const error = await inPage(body, input);
  assert.deepEqual({ code: error?.code, name: error?.name }, { code, name: code === "cancelled" ? "AbortError" : "OwnvoiceError" }, error?.message);
  assert.ok(error.message.length > 5, "it has a message");
}

before(async () => {
  session = await visit({ device: "cpu", path: "icon.svg", tiny: true });
  await withPackage(session, 3);
});
after(() => session.close());

describe("clips", () => {
  const checked = "return studio.checkClip(input ?? clip)";
  test("a good clip is reported", async () => {
    const report = await inPage(checked);
    assert.ok(report.speechSeconds > 1 && report.speechSeconds < report.seconds, JSON.stringify(report));
    assert.ok(report.levelDb < 0 && report.levelDb > -45 && report.snrDb > 10 && report.clippedPercent < 0.5, JSON.stringify(report));
  });
  test("empty", () => fails("clip-empty", "return studio.checkClip({ samples: new Float32Array(), sampleRate: 16000 })"));
  test("silent", () => fails("clip-too-quiet", "return studio.checkClip({ samples: new Float32Array(48000), sampleRate: 16000 })"));
  test("quiet", () => fails("clip-too-quiet", "return studio.checkClip({ ...clip, samples: clip.samples.map((x) => x / 1000) })"));
  test("too short", () => fails("clip-too-short", "const at = clip.samples.findIndex((x) => Math.abs(x) > 0.1); return studio.checkClip({ ...clip, samples: clip.samples.slice(at, at + 3000) })"));
  test("clipped", () => fails("clip-clipped", "return studio.checkClip({ ...clip, samples: clip.samples.map((x) => Math.max(-1, Math.min(1, x * 40))) })"));
  test("noisy", () => fails("clip-noisy", "let state = 1; const noise = () => (state = (state * 16807) % 2147483647) / 2147483647 - 0.5; return studio.checkClip({ ...clip, samples: clip.samples.map((x) => x + 0.5 * noise()) })"));
  test("started late or stopped early, which is reported and not refused", async () => {
    const edges = await inPage(`const half = clip.samples.length >> 1;
      const loudest = (from, to) => clip.samples.slice(from, to).reduce((best, x, i, all) => (Math.abs(x) > Math.abs(all[best]) ? i : best), 0) + from;
      const { samples, sampleRate } = clip;
      const [late, early] = [samples.slice(loudest(0, half)), samples.slice(0, loudest(half, samples.length))];
      return [(await studio.checkClip({ samples: late, sampleRate })).cutOff, (await studio.checkClip({ samples: early, sampleRate })).cutOff, (await studio.checkClip({ samples, sampleRate })).cutOff]`);
    assert.deepEqual(edges, ["start", "end", null]);
  });
  test("an unsupported rate", () => fails("rate-unsupported", "return studio.checkClip({ ...clip, sampleRate: 1000 })"));
  test("no clips", () => fails("no-clips", "return studio.clone([])"));
  /** Clones from clips, and returns the code and index of each that was left out. @param {string} clips */
  const leftOut = (clips) =>
    inPage(`const left = [];
      const voice = await studio.clone(${clips}, { iterations: 1, onStep: ({ status, code, clip }) => status === "left-out" && left.push([code, clip]) });
      await voice.close();
      return left`);
  test("a silent clip among good ones is left out, and one alone is refused", async () => {
    const silent = "{ ...clip, samples: new Float32Array(48000) }";
    assert.deepEqual(await leftOut(`[${silent}, ...clips]`), [["clip-too-quiet", 0]]);
    await fails("clip-too-quiet", `return studio.clone([${silent}])`);
  });
  test("one of many clips that does not match its text is left out", async () => {
    assert.deepEqual(await leftOut("[clips[0], { ...clips[1], text: clips[2].text }]"), [["clip-mismatch", 1]]);
  });
  test("a clip is compared with its text", async () => {
    const { score } = await inPage("return studio.checkClip(clip)");
    assert.ok(score < 0 && score > -2.8, `score ${score}`);
    await fails("clip-mismatch", "return studio.checkClip({ ...clip, text: clips[1].text })");
    const found = (/** @type {string} */ change) => inPage(`return studio.checkClip({ ...clip, ${change} }).then(() => null, ({ code, found }) => [code, Math.sign(found)])`);
    assert.deepEqual(await found("text: `${clip.text} ${clips[1].text}`"), ["clip-mismatch", -1]);
    assert.deepEqual(await found("samples: Float32Array.from([...clip.samples, ...clips[1].samples])"), ["clip-mismatch", 1]);
    const { score: none } = await inPage("return studio.checkClip({ ...clip, text: undefined })");
    assert.equal(none, null);
  });
  test("the measured value of a bad clip", async () => {
    const found = await inPage("try { await studio.checkClip({ ...clip, samples: clip.samples.map((x) => x / 1000) }) } catch ({ found }) { return found }");
    assert.ok(found < -45 && found > -120, `${found} dB`);
  });
  test("without a text", () => fails("text-empty", "return studio.clone([{ ...clip, text: ' ' }])"));
});

describe("WAV files", () => {
  const read = "const audio = await studio.readWav(new Blob([new Uint8Array(input)])); return { rate: audio.sampleRate, length: audio.samples.length, peak: audio.samples.reduce((a, b) => Math.max(a, Math.abs(b)), 0) }";
  /** A tone of one second. @param {number} rate @param {number} channels */
  const tone = (rate, channels) => {
    const data = Buffer.alloc(rate * channels * 2);
    for (let i = 0; i < rate * channels; i++) data.writeInt16LE(Math.round(16384 * Math.sin((2 * Math.PI * 440 * Math.floor(i / channels)) / rate)), i * 2);
    return Buffer.concat([waveHeader(data.length, rate, { channels }), data]);
  };
  for (const [rate, channels] of [[8000, 1], [96000, 1], [44100, 2], [48000, 2]]) {
    test(`${rate} Hz, ${channels} channels`, async () => {
      const { rate: found, length, peak } = await inPage(read, [...tone(rate, channels)]);
      assert.equal(found, rate);
      assert.equal(length, rate);
      assert.ok(Math.abs(peak - 0.5) < 0.01, `peak ${peak}`);
    });
  }
  test("not a WAV", () => fails("audio-unreadable", read, [...Buffer.from("This is a letter, and no sound at all. It is longer than a header is.")]));
  test("empty", () => fails("audio-unreadable", read, []));
  test("truncated in its header", () => fails("audio-unreadable", read, [...tone(8000, 1).subarray(0, 30)]));
});

describe("texts", () => {
  test("are spoken faster when asked", async () => {
    const seconds = (/** @type {string} */ options) => inPage(`const { samples, sampleRate } = await studio.base.say("Good morning, how are you?", ${options}); return samples.length / sampleRate`);
    const ratio = (await seconds("{ speed: 2 }")) / (await seconds("{}"));
    assert.ok(ratio > 0.45 && ratio < 0.65, `${ratio}`);
  });
  test("a base without pitch reports it", async () => {
    assert.equal(await inPage("return studio.base.info.hasPitch"), false);
    await fails("option-invalid", "return studio.base.say('Hello.', { pitch: 2 })");
  });
  test("an impossible speed", () => fails("option-invalid", "return studio.base.say('Hello.', { speed: 9 })"));
  test("an impossible pitch", () => fails("option-invalid", "return studio.base.say('Hello.', { pitch: 40 })"));

  test("are spoken, and nothing is left open", async () => {
    const speech = await inPage(`const { samples, sampleRate, mel, durations, toBlob } = await studio.base.say("Good morning, how are you?");
      const blob = (await studio.base.say("Yes.")).toBlob();
      return { seconds: samples.length / sampleRate, frames: mel.data.length / mel.mels, durations: durations.reduce((a, b) => a + b, 0), wav: blob.type, bytes: blob.size }`);
    assert.ok(speech.seconds > 0.3 && speech.seconds < 20, JSON.stringify(speech));
    assert.ok(speech.frames > 20);
    assert.equal(speech.durations, speech.frames, "the durations are those of the mel");
    assert.equal(speech.wav, "audio/wav");
  });
  test("empty", () => fails("text-empty", "return studio.base.say('')"));
  test("only spaces", () => fails("text-empty", "return studio.base.say(' \\n ')"));
  test("nothing that can be spoken", () => fails("text-unsupported", "return studio.base.say('☃☃☃')"));
  test("very long", () => fails("text-too-long", "return studio.base.say('word '.repeat(200000))"));
});

describe("a stream", () => {
  const three = "One is short. Two is not much longer. Is this three?";
  test("yields one speech per sentence, each as if it were spoken alone, which join to the whole", async () => {
    const { texts, pauses, alike, whole, mel, words, saidWords } = await inPage(`const pieces = [];
      for await (const speech of studio.base.stream(input)) pieces.push(speech);
      const same = (a, b) => a.length === b.length && a.every((x, i) => x === b[i]);
      const alone = [];
      for (const { text } of pieces) alone.push(await studio.base.say(text));
      const joined = ownvoice.Speech.join(pieces);
      const said = await studio.base.say(input);
      return { texts: pieces.map(({ text }) => text), pauses: pieces.map(({ pauseSeconds }) => pauseSeconds),
        alike: pieces.map(({ samples }, i) => same(samples, alone[i].samples)), whole: same(joined.samples, said.samples), mel: [joined.mel.data.length, said.mel.data.length], words: joined.words, saidWords: said.words }`, three);
    assert.deepEqual(texts, ["One is short.", "Two is not much longer.", "Is this three?"]);
    assert.deepEqual(alike, [true, true, true]);
    assert.equal(whole, true);
    assert.equal(mel[0], mel[1]);
    assert.deepEqual(words.map((/** @type {any} */ { text }) => text), "one is short two is not much longer is this three".split(" "));
    words.forEach((/** @type {any} */ { begin, end }, /** @type {number} */ at) => {
      assert.ok(begin < end && end <= (words[at + 1]?.begin ?? Infinity) + 1e-3, `${JSON.stringify(words)}`);
      assert.ok(Math.abs(begin - saidWords[at].begin) < 0.02 && Math.abs(end - saidWords[at].end) < 0.02, "as in the whole");
    });
    assert.ok(pauses[0] > 0.1 && pauses[0] === pauses[1] && pauses[2] === 0, JSON.stringify(pauses));
  });
  test("begins with a clause where the first sentence is long", async () => {
    const texts = await inPage("const texts = []; for await (const { text } of studio.base.stream(input)) texts.push(text); return texts", "When you hear this voice, remember that it was learned on this machine, and nowhere else.");
    assert.deepEqual(texts, ["When you hear this voice,", "remember that it was learned on this machine, and nowhere else."]);
  });
  test("speaks a text that is still being written, each sentence once another one begins", async () => {
    const text = "When you hear this voice, remember that it was learned on this machine, and nowhere else. It costs $5.20, says Mr. Smith, who came by train, by bus and then on foot.\n\nAnd ☃ now?  ☃";
    const { whole, written, before, closed } = await inPage(`const listen = async (text) => { const said = []; for await (const { text: part, pauseSeconds } of studio.base.stream(text)) said.push([part, pauseSeconds]); return said; };
      const pieces = async function* () { for (let at = 0; at < input.length; at += 3) yield input.slice(at, at + 3); };
      const [whole, written] = [await listen(input), await listen(pieces())];
      let before = 0, closed = false, heard;
      const first = new Promise((resolve) => (heard = resolve));
      const slow = async function* () { try { yield "One is short. "; yield "Two"; before = await Promise.race([first, new Promise((resolve) => setTimeout(resolve, 10_000, "waited"))]); yield " is not. Three."; } finally { closed = true; } };
      for await (const { text } of studio.base.stream(slow())) { heard(text); if (text !== "One is short.") break; }
      await new Promise((resolve) => setTimeout(resolve, 100));
      return { whole, written, before, closed }`, text);
    assert.deepEqual(written, whole);
    assert.deepEqual(whole.map((/** @type {any[]} */ [part]) => part), ["When you hear this voice,", "remember that it was learned on this machine, and nowhere else.", "It costs $5.20, says Mr. Smith, who came by train, by bus and then on foot.", "And ☃ now?"]);
    assert.equal(before, "One is short.", "the first sentence came before the rest was written");
    assert.equal(closed, true, "the text ends with the loop");
  });
  test("of a text that is never written fails as one of an empty text", () => fails("text-empty", "for await (const speech of studio.base.stream((async function* () { yield ' '; })()));"));
  /** Records the messages from the page to the worker. @param {string} body */
  const told = (body) => inPage(`const { postMessage } = Worker.prototype;
    const told = [];
    Worker.prototype.postMessage = function (message, ...rest) { told.push(message.signal ?? message.method); return postMessage.call(this, message, ...rest); };
    try { ${body} } finally { Worker.prototype.postMessage = postMessage; }`, three);
  test("ends with the loop, and so does the work", async () => {
    const [done, messages] = await told(`const stream = studio.base.stream(input);
      for await (const speech of stream) { await new Promise((resolve) => setTimeout(resolve)); break; } // the second sentence has been requested by now
      return [(await stream.next()).done, told]`);
    assert.equal(done, true);
    assert.deepEqual(messages, ["parts", "say", "say", "cancel"], "the second sentence was in progress, the third was never requested");
  });
  test("ends with the signal", async () => {
    const [code, heard, done] = await told(`const end = new AbortController();
      const stream = studio.base.stream(input, { signal: end.signal });
      let heard = 0;
      try { for await (const speech of stream) {
        heard += 1;
        await new Promise((resolve) => setTimeout(resolve, 1000)); // the next sentence is complete by now
        end.abort();
      } } catch ({ code }) { return [code, heard, (await stream.next()).done]; }`);
    assert.deepEqual([code, heard, done], ["cancelled", 1, true]);
  });
  test("ends with the studio", () => fails("closed", "const other = await ownvoice.load({ base: 'models/base', device: 'cpu' }); for await (const speech of other.base.stream('One. Two. Three.')) other.close();"));
  test("of an empty text fails as `say` does", () => fails("text-empty", "for await (const speech of studio.base.stream(' '));"));
});

describe("voices", () => {
  const saved = "const voice = await studio.clone(clips, { iterations: 2, seed: 7 }); const bytes = new Uint8Array(await (await voice.save()).arrayBuffer());";
  test("a saved voice speaks the same after opening", async () => {
    const [made, opened, again] = await inPage(`${saved}
      const voices = [voice, await studio.open(new Blob([bytes])), await studio.open(new Blob([bytes]))];
      const said = [];
      for (const voice of voices) said.push(await voice.say("Good morning."));
      return said.map(({ mel, durations }) => ({ mel: [...mel.data], durations: [...durations] }))`);
    // A file stores the differences in eight bits; the same file is the same voice.
    assert.deepEqual(again, opened);
    assert.equal(opened.durations.length, made.durations.length);
    assert.ok(Math.abs(opened.mel.length - made.mel.length) <= 2 * 80, "the same length, to two frames");
    const mean = (/** @type {number[]} */ mel) => mel.reduce((a, b) => a + b, 0) / mel.length;
    assert.ok(Math.abs(mean(opened.mel) - mean(made.mel)) < 0.05);
  });
  test("the same seed gives the same voice", async () => {
    const same = await inPage(`${saved} const other = await studio.clone(clips, { iterations: 2, seed: 7 });
      const [a, b] = [await voice.say("Good morning."), await other.say("Good morning.")];
      return a.samples.length === b.samples.length && a.samples.every((x, i) => x === b.samples[i])`);
    assert.equal(same, true);
  });
  test("learns in half precision too, and reports skipped updates", async () => {
    const steps = await inPage("const steps = []; await studio.clone(clips, { iterations: 5, precision: 'mixed', onStep: (step) => steps.push(step) }); return steps.filter(({ status }) => status === 'training')");
    assert.equal(steps.length, 5);
    assert.ok(steps.every((/** @type {any} */ { loss, overflows }) => Number.isFinite(loss) && overflows < 5), JSON.stringify(steps));
  });
  test("a negative rehearsal", () => fails("option-invalid", "return studio.clone(clips, { rehearsal: -1 })"));
  test("an unknown precision", () => fails("option-invalid", "return studio.clone(clips, { precision: 'double' })"));
  test("a closed voice", () => fails("closed", "const voice = await studio.open(await studio.base.save()); await voice.close(); return voice.say('Hello.')"));
  test("truncated", () => fails("voice-corrupt", `${saved} return studio.open(new Blob([bytes.subarray(0, bytes.length / 2)]))`));
  test("not a voice", () => fails("voice-corrupt", "return studio.open(new Blob(['This is a letter.']))"));
  test("empty", () => fails("voice-corrupt", "return studio.open(new Blob([]))"));
  test("of another base", () => fails("base-mismatch", `${saved}
      const text = new TextDecoder("latin1").decode(bytes);
      const at = text.indexOf(studio.hash);
      if (at < 0) throw new Error("the file does not name its base");
      bytes[at] = bytes[at] === 48 ? 49 : 48;
      return studio.open(new Blob([bytes]))`));
});

describe("likeness", () => {
  test("lies between that of the base and that of the speaker's own recordings", async () => {
    const { base, clone, sameSpeaker, progress } = await inPage(`const voice = await studio.clone(clips, { iterations: 60 });
      const progress = [];
      return { ...(await voice.similarity(clips, { onProgress: ({ sentence, sentences }) => progress.push(sentence + "/" + sentences) })), progress }`);
    assert.ok(base < clone && clone < sameSpeaker && sameSpeaker <= 1, JSON.stringify({ base, clone, sameSpeaker }));
    assert.deepEqual(progress, ["1/2", "2/2"]);
  });
  test("needs recordings", () => fails("option-invalid", "return studio.base.similarity([clip])"));
  test("can be cancelled", () => fails("cancelled", "const end = new AbortController(); return studio.base.similarity(clips, { signal: end.signal, onProgress: () => end.abort() })"));
});

describe("consent", () => {
  const consent = "const consent = { text: 'I agree.', recording: clip }; const voice = await studio.clone(clips, { iterations: 1, consent });";
  test("is stored in the voice file", async () => {
    const [made, opened, hash] = await inPage(`${consent} const again = await studio.open(await voice.save());
      const wav = await ownvoice.wavBlob(clip.samples, clip.sampleRate).arrayBuffer();
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", wav));
      return [voice.info.consent, again.info.consent, [...digest].map((x) => x.toString(16).padStart(2, "0")).join("")]`);
    assert.deepEqual(made, { text: "I agree.", recordingSha256: hash });
    assert.deepEqual(opened, made);
  });
  test("is absent where none was given", async () => {
    assert.equal(await inPage("return (await studio.clone(clips, { iterations: 1 })).info.consent"), null);
  });
});

describe("a training under way", () => {
  test("speaks previews, which do not change the voice", async () => {
    const [previews, same] = await inPage(`const previews = [];
      const onStep = (step) => step.status === "preview" && previews.push([step.iteration, step.speech.samples.length]);
      const [a, b] = [await studio.clone(clips, { iterations: 55, preview: "Hello.", onStep }), await studio.clone(clips, { iterations: 55 })];
      return [previews, a.info.id === b.info.id]`);
    assert.deepEqual(previews.map((/** @type {number[]} */ preview) => preview[0]), [0, 25, 50], "the first one before any iteration");
    assert.ok(previews.every((/** @type {number[]} */ preview) => preview[1] > 1000), JSON.stringify(previews));
    assert.equal(same, true);
  });
  test("shows pictures on request, which do not change the voice", async () => {
    const [shown, same] = await inPage(`const shown = [];
      const onStep = ({ status, iteration, picture }) => status === "picture" && shown.push({ iteration, ...picture });
      const [a, b] = [await studio.clone(clips, { iterations: 30, pictures: true, onStep }), await studio.clone(clips, { iterations: 30, onStep })];
      return [shown.map(({ iteration, mels, recorded, predicted, alignment, durations, symbols }) => ({ iteration, frames: recorded.length / mels, same: predicted.length === recorded.length,
        spans: durations.reduce((a, b) => a + b, 0), cells: alignment.length / symbols.length })), a.info.id === b.info.id]`);
    assert.deepEqual(shown.map((/** @type {any} */ { iteration }) => iteration), [0, 25, 30]);
    for (const { frames, same, spans, cells } of shown) assert.deepEqual([same, spans, cells], [true, frames, frames]);
    assert.equal(same, true);
  });
  test("pauses and continues", async () => {
    const [rested, last] = await inPage(`let last = 0;
      const training = studio.clone(clips, { iterations: 20, onStep: (step) => { if (step.iteration === 3) studio.updateTraining({ paused: true }); last = step.iteration ?? last; } });
      while (last < 3) await new Promise((resolve) => setTimeout(resolve, 20));
      await new Promise((resolve) => setTimeout(resolve, 200));
      const rested = last;
      await new Promise((resolve) => setTimeout(resolve, 1000));
      const still = last === rested;
      await studio.updateTraining({ paused: false });
      await training;
      return [still && rested < 20, last]`);
    assert.deepEqual([rested, last], [true, 20]);
  });
});

describe("loading", () => {
  const load = "const other = await ownvoice.load({ base: 'models/base', device: 'cpu', ...input }); other.close()";
  /** Loads a changed file, without a cached copy. @param {string} file @param {(bytes: Buffer) => Buffer} change */
  const spoiled = async (file, change) => {
    session.change(`models/base/${file}`, () => change(readFileSync(join(TINY, file))));
    await fails("base-corrupt", load, { cache: false });
    session.change(`models/base/${file}`, () => readFileSync(join(TINY, file)));
  };
  const weights = JSON.parse(readFileSync(join(TINY, "manifest.json"), "utf8")).files.weights.path;

  test("no WebGPU adapter, although it was requested", () => fails("no-adapter", load, { device: "webgpu" }));
  test("no such device", () => fails("option-invalid", load, { device: "abacus" }));
  test("no base at the address", () => fails("download-failed", load, { base: "models/nowhere" }));
  test("a web page in place of a manifest, as hosts answer for a missing file", async () => {
    session.change("models/base/manifest.json", () => Buffer.from("<!doctype html><title>Not found</title>"));
    await fails("download-failed", load, { cache: false });
    session.change("models/base/manifest.json", () => readFileSync(join(TINY, "manifest.json")));
  });
  test("prompts that are no list of sentences", async () => {
    session.change("models/prompts.json", () => Buffer.from('{ "id": "p01" }'));
    await fails("option-invalid", load, { prompts: "models/prompts.json" });
    session.change("models/prompts.json", null);
  });
  test("a worklet that is missing", () => fails("microphone-failed", load, { microphone: true, workletUrl: "js/nowhere.js" }));
  test("an invalid manifest", () => spoiled("manifest.json", () => Buffer.from("{")));
  test("weights with one wrong bit", () =>
    spoiled(weights, (bytes) => {
      bytes[bytes.length >> 1] ^= 1;
      return bytes;
    }));
  test("weights are fetched once, and cached by their hash", async () => {
    const mark = session.mark();
    await inPage("const other = await ownvoice.load({ base: 'models/base', device: 'cpu' }); other.close(); if (!other.cached) throw new Error('not kept')");
    const asked = session.requests.slice(mark).map(({ url }) => new URL(url).pathname);
    assert.deepEqual(asked.filter((path) => /safetensors|lex$/.test(path)), []);
  });
  test("progress reports bytes, and the end", async () => {
    const events = await inPage("const events = []; const other = await ownvoice.load({ base: 'models/base', device: 'cpu', onProgress: (e) => events.push(e) }); other.close(); return events");
    const base = events.filter((/** @type {any} */ event) => event.what === "base").at(-1);
    assert.equal(base.loadedBytes, base.totalBytes);
    assert.equal(events.at(-1).status, "starting");
  });
  test("the device is reported with its reason", async () => {
    const device = await inPage("const other = await ownvoice.load({ base: 'models/base' }); other.close(); return other.device");
    assert.equal(device.kind, "cpu");
    assert.match(device.reason, /CPU is used/);
  });
});

describe("cancelling", () => {
  test("before loading, and during it", async () => {
    await fails("cancelled", "return ownvoice.load({ base: 'models/base', device: 'cpu', signal: AbortSignal.abort() })");
    await fails("cancelled", "const end = new AbortController(); return ownvoice.load({ base: 'models/base', device: 'cpu', signal: end.signal, onProgress: () => end.abort() })");
  });
  test("training: at once, while aligning, and later", async () => {
    await fails("cancelled", "return studio.clone(clips, { signal: AbortSignal.abort() })");
    await fails("cancelled", "const end = new AbortController(); return studio.clone(clips, { signal: end.signal, onStep: () => end.abort() })");
    await fails("cancelled", "const end = new AbortController(); return studio.clone(clips, { signal: end.signal, onStep: ({ iteration }) => iteration === 3 && end.abort() })");
  });
  test("a resumed training, and the compilation for it", async () => {
    await fails("nothing-stored", "return studio.resume()");
    await fails("cancelled", "return studio.resume({ signal: AbortSignal.abort() })");
    await fails("cancelled", "return studio.prepare({ signal: AbortSignal.abort() })");
    await fails("cancelled", `const keeper = await ownvoice.load({ base: 'models/base', device: 'cpu', storage: "cancelling" });
      const stop = new AbortController();
      const lost = keeper.clone(clips, { onStep: ({ iteration }) => iteration > 26 && stop.abort() });
      await new Promise((resolve) => stop.signal.addEventListener("abort", resolve));
      keeper.close();
      await lost.catch(() => {});
      const other = await ownvoice.load({ base: 'models/base', device: 'cpu', storage: "cancelling" });
      const end = new AbortController();
      try { return await other.resume({ signal: end.signal, onStep: ({ status, iteration }) => status === "training" && iteration > 25 && end.abort() }); }
      finally { await other.storage.clear(); other.close(); }`);
  });
  test("stopping keeps the result so far", async () => {
    const steps = await inPage("const stop = new AbortController(); let steps = 0; await studio.clone(clips, { stopSignal: stop.signal, onStep: ({ status, iteration }) => { if (status === 'training') steps++; if (iteration === 3) stop.abort(); } }); return steps");
    assert.ok(steps >= 3 && steps <= 5, `${steps} steps`);
  });
  test("the permission prompt of the microphone, which is closed when the answer comes later", async () => {
    const states = await inPage(`const listening = await ownvoice.load({ base: 'models/base', device: 'cpu', microphone: true });
      const { mediaDevices } = navigator;
      const ask = mediaDevices.getUserMedia.bind(mediaDevices);
      try {
        let answer;
        mediaDevices.getUserMedia = (wanted) => new Promise((resolve) => (answer = () => ask(wanted).then((stream) => (resolve(stream), stream))));
        const end = new AbortController();
        const opening = listening.microphone.open(() => {}, () => {}, { signal: end.signal }).catch(({ code }) => code);
        while (!answer) await new Promise((later) => setTimeout(later, 10));
        end.abort();
        const code = await opening;
        const [track] = (await answer()).getTracks();
        for (let tries = 0; tries < 300 && track.readyState !== "ended"; tries++) await new Promise((later) => setTimeout(later, 10));
        const given = [track.readyState, listening.microphone.isOpen];
        mediaDevices.getUserMedia = ask;
        await listening.microphone.open(() => {}, () => {}, { signal: new AbortController().signal });
        return [code, given, listening.microphone.isOpen];
      } finally {
        mediaDevices.getUserMedia = ask;
        listening.microphone.close();
        listening.close();
      }`);
    assert.deepEqual(states, ["cancelled", ["ended", false], true]);
  });
  test("a microphone that the browser grants and then does not open is released, with an error", async () => {
    const found = await inPage(`const { mediaDevices } = navigator;
      const ask = mediaDevices.getUserMedia;
      const { resume } = AudioContext.prototype;
      let made, track;
      mediaDevices.getUserMedia = async function (wanted) { const stream = await ask.call(this, wanted); [track] = stream.getTracks(); return stream; };
      const listening = await ownvoice.load({ base: 'models/base', device: 'cpu', microphone: true });
      try {
        AudioContext.prototype.resume = function () { made = this; return new Promise(() => {}); };
        const code = await listening.microphone.open(() => {}, () => {}).catch(({ code }) => code);
        const found = [code, track.readyState, listening.microphone.isOpen];
        AudioContext.prototype.resume = resume;
        await listening.microphone.open(() => {}, () => {});
        found.push([track.readyState, listening.microphone.isOpen]);
        listening.close();
        for (let tries = 0; tries < 100 && made.state !== "closed"; tries++) await new Promise((later) => setTimeout(later, 20));
        return [...found, [track.readyState, made.state]];
      } finally {
        AudioContext.prototype.resume = resume;
        mediaDevices.getUserMedia = ask;
        listening.close();
      }`);
    // State of the track, and whether the microphone is open: refused, opened, and after the studio was closed, which releases the audio too.
    assert.deepEqual(found, ["microphone-failed", "ended", false, ["live", true], ["ended", "closed"]]);
  });
  test("speaking", () => fails("cancelled", "const end = new AbortController(); return studio.base.say('One. Two. Three. Four. Five. Six.', { signal: end.signal, onProgress: () => end.abort() })"));
  test("for a reason of the caller's own, which is what is thrown", async () => {
    const given = "const end = new AbortController(); const stop = () => end.abort(new ownvoice.OwnvoiceError('enough', 'this is enough'));";
    await fails("enough", `${given} return studio.base.say('One. Two. Three. Four.', { signal: end.signal, onProgress: stop })`);
    await fails("enough", `${given} return studio.clone(clips, { signal: end.signal, onStep: ({ iteration }) => iteration === 3 && stop() })`);
  });
  test("opening, checking, reading and saving", async () => {
    for (const call of ["studio.open(file, { signal })", "studio.checkClip(clip, { signal })", "studio.readWav(wav, { signal })", "studio.base.save({ signal })"]) {
      const given = "const end = new AbortController(); const { signal } = end; const file = await studio.base.save(); const wav = ownvoice.wavBlob(clip.samples, 16000);";
      await fails("cancelled", `${given} end.abort(); return ${call}`);
      await fails("cancelled", `${given} const under = ${call}; await null; end.abort(); return under`);
    }
  });
  test("the worker answers while it trains", async () => {
    const spoke = await inPage("const stop = new AbortController(); const training = studio.clone(clips, { stopSignal: stop.signal }); const speech = await studio.base.say('Hello.'); stop.abort(); await training; return speech.samples.length > 1000");
    assert.equal(spoke, true);
  });
  test("a closed studio", () => fails("closed", "const other = await ownvoice.load({ base: 'models/base', device: 'cpu' }); other.close(); return other.base.say('Hello.')"));
});
