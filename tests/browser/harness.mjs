// What every browser test starts from: a Chromium with the right device and microphone, a record of each request, a watch on the console,
// and screenshots. Test files are `*.test.mjs` beside this one; `cargo xtask test browser` builds the page, serves it and runs them all.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createServer, request as forward } from "node:http";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** Where screenshots go: `OWNVOICE_SCREENSHOTS`, else tests/browser/screenshots. */
export const SCREENSHOTS = resolve(process.env.OWNVOICE_SCREENSHOTS ?? join(ROOT, "tests/browser/screenshots"));

/**
 * `cpu`: no adapter is offered. `webgpu`: the adapter is SwiftShader, WebGPU on the processor. `default`: whatever this machine has.
 * @typedef {"cpu" | "webgpu" | "default"} DeviceKind
 */

/**
 * @typedef {object} Options
 * @property {DeviceKind} [device] default `cpu`
 * @property {string} [microphone] a WAV file that the fake microphone plays, over and over; without it, the browser's beep
 * @property {boolean} [microphoneLoops] false: the file is played once, then silence
 * @property {string} [camera] a Y4M file that the fake camera shows, over and over; without it, the browser's test picture
 * @property {"allow" | "deny"} [permission] what the visitor answers when asked for the microphone or the camera; default `allow`
 * @property {string} [profile] a folder that holds the browser's storage, so that a second session finds what the first left
 * @property {{ width: number, height: number }} [viewport]
 * @property {string[]} [flags] more of Chromium's flags
 * @property {boolean} [serviceWorker] whether the browser has service workers; default false, so that tests see the server and not a cache
 * @property {string} [url] where to go, if not to the page itself
 * @property {string} [locale] the visitor's language; default en-US
 */

/**
 * One request that the browser sent, with the time since its start.
 * @typedef {{ url: string, method: string, seconds: number }} Recorded
 */

/** The browser's own network noise off, so that each request is the page's. */
const QUIET = [
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--autoplay-policy=no-user-gesture-required",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
];

/** @type {Record<DeviceKind, string[]>} */
const DEVICE_FLAGS = {
  cpu: ["--disable-gpu"],
  webgpu: ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"],
  default: ["--enable-unsafe-webgpu"],
};

/** The Chromium to drive: `CHROMIUM` if set, else the first found on PATH or in the usual places. */
export function findChromium() {
  const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  const places = [
    ...(process.env.CHROMIUM ? [process.env.CHROMIUM] : []),
    ...(process.env.PATH ?? "").split(delimiter).flatMap((folder) => names.map((name) => join(folder, name))),
    "/usr/bin/chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
  ];
  const found = places.find((place) => existsSync(place));
  if (!found) throw new Error("no Chromium found: install it, or set CHROMIUM to its path");
  return found;
}

/** @type {Promise<{ url: string, stop: () => void }> | undefined} */
let served;

/**
 * The address of the page. `cargo xtask test` serves it and passes the address (`OWNVOICE_URL`); a test file run by hand serves it itself.
 * @returns {Promise<{ url: string, stop: () => void }>}
 */
export function site() {
  served ??= process.env.OWNVOICE_URL ? Promise.resolve({ url: process.env.OWNVOICE_URL, stop() {} }) : serve();
  return served;
}

/** @returns {Promise<{ url: string, stop: () => void }>} */
function serve() {
  const child = spawn("cargo", ["xtask", "serve", "--port", "0"], { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"], detached: true });
  const stop = () => {
    // cargo and the server that it runs share a process group.
    if (child.pid && child.exitCode === null) process.kill(-child.pid);
  };
  process.once("exit", stop);
  child.unref();
  return new Promise((done, failed) => {
    let said = "";
    child.once("error", failed);
    child.once("exit", (code) => failed(new Error(`cargo xtask serve ended with ${code}`)));
    child.stdout.on("data", (chunk) => {
      said += chunk;
      const url = said.match(/http:\/\/127\.0\.0\.1:\d+\//)?.[0];
      if (!url) return;
      // An open pipe would keep the test file alive.
      child.stdout.destroy();
      done({ url, stop });
    });
  });
}

/** Hosts that Chromium itself asks, for updates, accounts and forms, whatever the page does and the flags say. Refused like all others. */
const ERRANDS = [
  "update.googleapis.com",
  "accounts.google.com",
  "clients2.google.com",
  "android.clients.google.com",
  "optimizationguide-pa.googleapis.com",
  "content-autofill.googleapis.com",
];

/**
 * Between the browser and the world: a proxy that notes each request, passes on those to this machine and refuses all others. Unlike a debugger's
 * events it misses nothing, whoever asked: page, worker, worklet or beacon.
 */
class Recorder {
  /** @type {Recorded[]} */
  requests = [];
  /** Whether the machine is without a network: each connection breaks off. */
  offline = false;
  /** Whether the host sends its files without a policy, as plain hosts of static files do. */
  plain = false;
  /** Answers in place of the server's, by path: how a file looks to the browser, whichever of its parts asks. @type {Map<string, (body: Buffer) => Buffer>} */
  changes = new Map();
  /** Files whose content is declared as encoded, by path. @type {Map<string, string>} */
  encodings = new Map();
  #started = performance.now();
  #server = createServer((asked, answer) => {
    const url = new URL(asked.url ?? "");
    this.#note(url.href, asked.method ?? "");
    if (this.offline) return void answer.destroy();
    if (url.hostname !== "127.0.0.1") return void answer.writeHead(502).end();
    const change = this.changes.get(url.pathname);
    // What is changed here is unknown to the server's ETags.
    const headers = change ? { ...asked.headers, "if-none-match": "" } : asked.headers;
    const passed = forward(url, { method: asked.method, headers }, async (answered) => {
      if (this.plain) delete answered.headers["content-security-policy"];
      const encoding = this.encodings.get(url.pathname);
      if (encoding) answered.headers["content-encoding"] = encoding;
      if (!change) {
        answer.writeHead(answered.statusCode ?? 502, answered.headers);
        return void answered.pipe(answer);
      }
      const body = change(Buffer.concat(await answered.toArray()));
      const { etag, ...rest } = answered.headers;
      answer.writeHead(answered.statusCode ?? 502, { ...rest, "content-length": body.length }).end(body);
    });
    passed.on("error", () => answer.destroy());
    asked.pipe(passed);
  }).on("connect", (asked, socket) => {
    // A tunnel, for https and WebSockets: the page needs neither.
    this.#note(`tunnel://${asked.url}`, "CONNECT");
    socket.on("error", () => {}); // the browser hung up first
    socket.end("HTTP/1.1 502 Refused\r\n\r\n");
  });

  /** @param {string} url @param {string} method */
  #note(url, method) {
    if (ERRANDS.includes(new URL(url).hostname)) return;
    this.requests.push({ url, method, seconds: (performance.now() - this.#started) / 1000 });
  }

  /** @returns {Promise<string>} the proxy's address */
  async start() {
    await new Promise((done) => this.#server.listen(0, "127.0.0.1", () => done(undefined)));
    const address = this.#server.address();
    assert.ok(address && typeof address === "object");
    return `http://127.0.0.1:${address.port}`;
  }

  stop() {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** A browser with one page, and its record of requests and problems. Close it: `t.after(() => session.close())`. */
export class Session {
  /** Errors and warnings of the consoles, the workers' too, and uncaught exceptions. @type {{ kind: string, text: string }[]} */
  problems = [];
  #recorder;
  #shots = 0;

  /**
   * @param {import("playwright-core").BrowserContext} context
   * @param {import("playwright-core").Page} page
   * @param {string} url
   * @param {Recorder} recorder
   */
  constructor(context, page, url, recorder) {
    this.context = context;
    this.page = page;
    /** Where the page is served, with a slash at its end. */
    this.url = url;
    this.#recorder = recorder;
    context.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) this.problems.push({ kind: message.type(), text: message.text() });
    });
    context.on("weberror", (event) => this.problems.push({ kind: "exception", text: String(event.error().stack ?? event.error()) }));
    page.on("crash", () => this.problems.push({ kind: "crash", text: "the page crashed" }));
  }

  /** Every request that the page caused since the browser's start, in order, from whichever of its parts. */
  get requests() {
    return this.#recorder.requests;
  }

  /** Takes the network away, or gives it back. @param {boolean} offline */
  setOffline(offline) {
    this.#recorder.offline = offline;
  }

  /** Serves from now on as a host does that sends no policy. */
  servePlainly() {
    this.#recorder.plain = true;
  }

  /** Serves a file from now on with a Content-Encoding, as hosts do that take a gzip file for a packed one. @param {string} path @param {string} encoding */
  declare(path, encoding) {
    this.#recorder.encodings.set(new URL(path, this.url).pathname, encoding);
  }

  /** Lets the browser see another content of a file, or the file itself again. @param {string} path @param {((body: Buffer) => Buffer) | null} change */
  change(path, change) {
    const { pathname } = new URL(path, this.url);
    if (change) this.#recorder.changes.set(pathname, change);
    else this.#recorder.changes.delete(pathname);
  }

  /** Lets the browser see another text of a script, made from what is written by hand: what is served is minified.
   * @param {string} path @param {(text: string) => string} edit */
  rewrite(path, edit) {
    const written = readFileSync(join(ROOT, path.startsWith("js/") ? "web" : "www", path), "utf8");
    const edited = edit(written);
    assert.notEqual(edited, written, `${path} has what was to be replaced`);
    this.change(path, () => Buffer.from(edited));
  }

  /** Goes to a path of the page and waits until it has loaded. @param {string} [path] */
  async goto(path = "") {
    const response = await this.page.goto(new URL(path, this.url).href, { waitUntil: "load" });
    assert.ok(response?.ok(), `${path || "/"} answers ${response?.status()}`);
  }

  /** A mark in the record of requests: `const mark = session.mark(); ...; session.assertNoRequestsSince(mark)`. */
  mark() {
    return this.requests.length;
  }

  /** @param {number} mark @param {string} [during] what was going on, for the message */
  assertNoRequestsSince(mark, during = "since the mark") {
    assert.deepEqual(this.requests.slice(mark).map(({ method, url }) => `${method} ${url}`), [], `no request ${during}`);
  }

  /** Nothing but the page's own server was ever asked for anything. */
  assertNothingLeft() {
    const { host } = new URL(this.url);
    const outside = this.requests.filter(({ url }) => new URL(url).host !== host);
    assert.deepEqual(outside.map(({ method, url }) => `${method} ${url}`), [], "no request to another host");
  }

  /** No console error, warning or exception but those expected. @param {RegExp[]} [expected] */
  assertQuiet(expected = []) {
    const surprising = this.problems.filter(({ text }) => !expected.some((pattern) => pattern.test(text)));
    assert.deepEqual(surprising, [], "a quiet console");
  }

  /** The adapter that this browser offers. There being none is a failure, never a pass. */
  async adapter() {
    const adapter = await this.page.evaluate(async () => {
      const found = await navigator.gpu?.requestAdapter();
      return found && { vendor: found.info.vendor, architecture: found.info.architecture, description: found.info.description };
    });
    assert.ok(adapter, "the browser offers a WebGPU adapter");
    return adapter;
  }

  /** Writes `NN-name.png` of the whole page, or of one element, and returns its path. @param {string} name @param {string} [selector] */
  async screenshot(name, selector) {
    mkdirSync(SCREENSHOTS, { recursive: true });
    const path = join(SCREENSHOTS, `${name}-${String(++this.#shots).padStart(2, "0")}.png`);
    await (selector ? this.page.locator(selector).screenshot({ path }) : this.page.screenshot({ path, fullPage: true }));
    return path;
  }

  async close() {
    const browser = this.context.browser();
    await this.context.close();
    await browser?.close();
    this.#recorder.stop();
  }
}

/** Seconds that the page's microphone has given since it was opened last. On a busy machine a file that stands for it is read late, and clocks on the
 * wall run ahead of it. */
const MICROPHONE_CLOCK = `
window.microphoneSeconds = 0;
if (window.AudioWorkletNode) {
  window.AudioWorkletNode = class extends AudioWorkletNode {
    constructor(context, ...rest) {
      super(context, ...rest);
      window.microphoneSeconds = 0;
      this.port.addEventListener("message", ({ data }) => (window.microphoneSeconds += data.length / context.sampleRate));
    }
  };
}`;

/**
 * Starts a Chromium with one empty page; `session.goto()` loads ours. The record of requests starts here.
 * @param {Options} [options]
 * @returns {Promise<Session>}
 */
export async function open(options = {}) {
  const { device = "cpu", microphone, microphoneLoops = true, camera, permission = "allow", profile, viewport, flags = [], serviceWorker = false, locale } = options;
  const { url } = options.url ? { url: options.url } : await site();
  const args = [...QUIET, ...DEVICE_FLAGS[device], ...flags, "--use-fake-device-for-media-stream"];
  if (permission === "allow") args.push("--use-fake-ui-for-media-stream");
  if (permission === "deny") args.push("--use-fake-ui-for-media-stream=deny");
  if (microphone) {
    const wav = resolve(microphone);
    if (!existsSync(wav)) throw new Error(`no such file for the microphone: ${wav}`);
    args.push(`--use-file-for-fake-audio-capture=${wav}${microphoneLoops ? "" : "%noloop"}`);
  }
  if (camera) args.push(`--use-file-for-fake-video-capture=${resolve(camera)}`);
  const recorder = new Recorder();
  const proxy = { server: await recorder.start(), bypass: "<-loopback>" };
  const launch = { executablePath: findChromium(), headless: true, args, proxy, chromiumSandbox: process.getuid?.() !== 0 };
  try {
    const context = profile
      ? await chromium.launchPersistentContext(profile, { ...launch, viewport, locale })
      : await (await chromium.launch(launch)).newContext({ viewport, locale });
    if (!serviceWorker) await context.addInitScript("delete Navigator.prototype.serviceWorker");
    if (microphone) await context.addInitScript(MICROPHONE_CLOCK);
    return new Session(context, context.pages()[0] ?? (await context.newPage()), url, recorder);
  } catch (error) {
    // A proxy left open would keep the test file from ending.
    recorder.stop();
    throw error;
  }
}
