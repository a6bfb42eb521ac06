// `ownvoice serve` with the clients that people use, unchanged: the package openai of npm and of Python, and wyoming, by which Home Assistant speaks.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import OpenAI from "openai";
import { ROOT } from "../browser/harness.mjs";

const { OWNVOICE_TARGET_DIR = "", OWNVOICE_CLIENTS_PYTHON } = process.env;
const PROGRAM = join(OWNVOICE_TARGET_DIR, "release", process.platform === "win32" ? "ownvoice.exe" : "ownvoice");
const skip = existsSync(PROGRAM) ? false : "the command line is not built, which the stage native does";

const TEXT = "One comes. Another follows.";
const folder = mkdtempSync(join(tmpdir(), "ownvoice-server-"));
/** The base that ships. */
const BASE = ["--base", join(ROOT, "models/base")];

/** @type {import("node:child_process").ChildProcess | undefined} */
let server;
/** Where the server listens. */
let addresses = { http: "", wyoming: "" };
/** The sound of the text over plain HTTP, which `crate/cli/tests/serve.rs` compares with `ownvoice say`. */
let expected = Buffer.of();
const client = () => new OpenAI({ baseURL: `${addresses.http}/v1`, apiKey: "none", maxRetries: 0 });

before(async () => {
  if (skip) return;
  server = spawn(PROGRAM, ["serve", ...BASE, "--port", "0", "--wyoming-port", "0", "--json"], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: /** @type {import("node:stream").Readable} */ (server.stdout) });
  addresses = JSON.parse((await once(lines, "line"))[0]);
  const answer = await fetch(`${addresses.http}/v1/audio/speech`, { method: "POST", body: JSON.stringify({ input: TEXT, response_format: "pcm" }) });
  expected = Buffer.from(await answer.arrayBuffer());
  assert.ok(answer.ok && expected.length > 48_000, "more than a second of 16-bit samples at 24 kHz");
});

after(() => {
  server?.kill();
  rmSync(folder, { recursive: true });
});

test("the package openai of npm speaks, streams and reads errors", { skip }, async () => {
  const asked = /** @type {const} */ ({ model: "tts-1", voice: "base", input: TEXT });
  const speech = client().audio.speech;
  const pcm = Buffer.from(await (await speech.create({ ...asked, response_format: "pcm" })).arrayBuffer());
  assert.ok(pcm.equals(expected));

  const wav = await speech.create({ ...asked, response_format: "wav" });
  assert.equal(wav.headers.get("content-type"), "audio/wav");
  const file = Buffer.from(await wav.arrayBuffer());
  assert.ok(file.subarray(-expected.length).equals(expected) && file.toString("latin1", 0, 4) === "RIFF");

  const events = await (await speech.create({ ...asked, response_format: "pcm", stream_format: "sse" })).text();
  const parsed = events.trimEnd().split("\n\n").map((event) => JSON.parse(event.replace("data: ", "")));
  assert.deepEqual(parsed.map(({ type }) => type), ["speech.audio.delta", "speech.audio.delta", "speech.audio.done"]);
  assert.ok(Buffer.concat(parsed.slice(0, 2).map(({ audio }) => Buffer.from(audio, "base64"))).equals(expected));

  const models = await client().models.list();
  assert.deepEqual(models.data.map(({ id }) => id), ["ownvoice"]);
  assert.equal((await client().models.retrieve("ownvoice")).id, "ownvoice");
  await assert.rejects(speech.create({ ...asked, voice: "alloy", response_format: "pcm" }), (error) => {
    assert.ok(error instanceof OpenAI.BadRequestError);
    assert.deepEqual([error.code, error.param, error.type], ["option-invalid", "voice", "invalid_request_error"]);
    return true;
  });
  await assert.rejects(client().models.retrieve("gpt-7"), OpenAI.NotFoundError);
});

test("a client that stops listening does not keep others waiting", { skip, timeout: 30_000 }, async () => {
  const input = "It goes on, and on, and on. ".repeat(700);
  const long = await client().audio.speech.create({ model: "tts-1", voice: "base", input, response_format: "pcm" });
  const reader = long.body?.getReader();
  assert.ok((await reader?.read())?.value, "the first sentence is heard long before the last is made");
  await reader?.cancel();
  const next = await client().audio.speech.create({ model: "tts-1", voice: "base", input: "Hello.", response_format: "pcm" });
  assert.ok((await next.arrayBuffer()).byteLength > 10_000);
});

const without = skip || (OWNVOICE_CLIENTS_PYTHON ? false : "Python with its module venv is not installed");
test("the packages openai and wyoming of Python speak", { skip: without }, () => {
  const file = join(folder, "expected.pcm");
  writeFileSync(file, expected);
  execFileSync(/** @type {string} */ (OWNVOICE_CLIENTS_PYTHON), [join(ROOT, "tests/clients/speak.py"), addresses.http, addresses.wyoming, TEXT, file], { stdio: "inherit" });
});

test("README's example of the package of Python runs", { skip: without }, () => {
  const [, example] = /```python\n([^]*?)```/.exec(readFileSync(join(ROOT, "README.md"), "utf8")) ?? [];
  assert.ok(example);
  const here = example.replace("http://127.0.0.1:8880", addresses.http).replace('voice="me"', 'voice="base"');
  execFileSync(/** @type {string} */ (OWNVOICE_CLIENTS_PYTHON), ["-c", here], { cwd: folder, stdio: "inherit" });
  assert.ok(readFileSync(join(folder, "say.wav")).toString("latin1").includes("Synthetic speech, made by ownvoice"));
});
