// The base of every browser test: a Chromium with the right device and microphone, a record of all requests and of the console, and
// screenshots. Test files are `*.test.mjs` beside this one; `cargo xtask test browser` builds the page, serves it and runs them all.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createServer, request as forward } from "node:http";
import { createServer as createNetServer } from "node:net";
import { delimiter, dirname, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** The folder of screenshots: `OWNVOICE_SCREENSHOTS`, or tests/browser/screenshots. */
export const SCREENSHOTS = resolve(process.env.OWNVOICE_SCREENSHOTS ?? join(ROOT, "tests/browser/screenshots"));

/**
 * `cpu`: no adapter. `webgpu`: SwiftShader, which runs WebGPU on the CPU. `default`: the adapter of this machine.
 * @typedef {"cpu" | "webgpu" | "default"} DeviceKind
 */

/**
 * @typedef {object} Options
 * @property {DeviceKind} [device] default `cpu`
 * @property {string} [microphone] a WAV file that the fake microphone plays in a loop; without it, it beeps
 * @property {boolean} [microphoneLoops] false: the file is played once, followed by silence
 * @property {string} [camera] a Y4M file that the fake camera shows in a loop; without it, a test picture
 * @property {"allow" | "deny"} [permission] the answer to the prompts for microphone and camera; default `allow`
 * @property {string} [profile] a folder for the browser's storage, so that a second session finds what the first one stored
 * @property {{ width: number, height: number }} [viewport]
 * @property {string[]} [flags] further flags of Chromium
 * @property {boolean} [serviceWorker] whether the browser has service workers; default false, so that tests see the server and not a cache
 * @property {string} [url] the address of the site, if not that of `site()`
 * @property {string} [locale] the visitor's language; default en-US
 */

/**
 * One request that the browser sent, with the time since its start.
 * @typedef {{ url: string, method: string, seconds: number }} Recorded
 */

/** Disables requests by the browser itself, so that all requests are the page's. */
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

/** @returns {Promise<number>} A port that nothing listens on. */
export const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createNetServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });

/** Returns the path of Chromium: `CHROMIUM`, or the first one on PATH or in the usual places. */
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
 * Returns the address of the page. `cargo xtask test` serves the page and passes its address (`OWNVOICE_URL`); a test file that is run by hand serves it itself.
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

/** Hosts to which Chromium itself sends requests, for updates, accounts and forms, whatever the flags are. Requests to them are refused like all others. */
const BROWSER_HOSTS = [
  "update.googleapis.com",
  "accounts.google.com",
  "clients2.google.com",
  "android.clients.google.com",
  "optimizationguide-pa.googleapis.com",
  "content-autofill.googleapis.com",
];

/**
 * A proxy that records each request of the browser, forwards those to this machine and refuses all others. Unlike the events of a debugger it misses none,
 * whether from the page, a worker, a worklet or a beacon.
 */
class Recorder {
  /** @type {Recorded[]} */
  requests = [];
  /** Whether there is no network: each connection is closed. */
  offline = false;
  /** Whether files are served without a policy header, as by simple static hosts. */
  plain = false;
  /** Changes of the content of files, by path. @type {Map<string, (body: Buffer) => Buffer>} */
  changes = new Map();
  /** The Content-Encoding of files, by path. @type {Map<string, string>} */
  encodings = new Map();
  #started = performance.now();
  #server = createServer((asked, answer) => {
    const url = new URL(asked.url ?? "");
    this.#record(url.href, asked.method ?? "");
    if (this.offline) return void answer.destroy();
    if (url.hostname !== "127.0.0.1") return void answer.writeHead(502).end();
    const change = this.changes.get(url.pathname);
    // The server's ETags do not know of the change.
    const headers = change ? { ...asked.headers, "if-none-match": "" } : asked.headers;
    // A browser that closes leaves its requests, perhaps after the end of the test.
    const gone = () => void answer.destroy();
    const passed = forward(url, { method: asked.method, headers }, async (answered) => {
      if (this.plain) delete answered.headers["content-security-policy"];
      const encoding = this.encodings.get(url.pathname);
      if (encoding) answered.headers["content-encoding"] = encoding;
      if (!change) {
        answer.writeHead(answered.statusCode ?? 502, answered.headers);
        return void pipeline(answered, answer).catch(gone);
      }
      const chunks = await answered.toArray().catch(gone);
      if (!chunks) return;
      const body = change(Buffer.concat(chunks));
      const { etag, ...rest } = answered.headers;
      answer.writeHead(answered.statusCode ?? 502, { ...rest, "content-length": body.length }).end(body);
    });
    answer.on("close", () => answer.writableFinished || passed.destroy());
    passed.on("error", gone);
    asked.pipe(passed);
  }).on("connect", (asked, socket) => {
    // A tunnel for https or WebSockets, of which the page needs neither.
    this.#record(`tunnel://${asked.url}`, "CONNECT");
    socket.on("error", () => {}); // the browser closed it first
    socket.end("HTTP/1.1 502 Refused\r\n\r\n");
  });

  /** @param {string} url @param {string} method */
  #record(url, method) {
    if (BROWSER_HOSTS.includes(new URL(url).hostname)) return;
    this.requests.push({ url, method, seconds: (performance.now() - this.#started) / 1000 });
  }

  /** Starts the proxy. @returns {Promise<string>} Its address. */
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

/** A browser with one page, and a record of its requests and problems. Close it: `t.after(() => session.close())`. */
export class Session {
  /** Errors and warnings of the consoles, including those of workers, and uncaught exceptions. @type {{ kind: string, text: string }[]} */
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
    /** The address of the site, with a slash at its end. */
    this.url = url;
    this.#recorder = recorder;
    context.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) this.problems.push({ kind: message.type(), text: message.text() });
    });
    context.on("weberror", (event) => this.problems.push({ kind: "exception", text: String(event.error().stack ?? event.error()) }));
    page.on("crash", () => this.problems.push({ kind: "crash", text: "the page crashed" }));
  }

  /** All requests since the start of the browser, in order. */
  get requests() {
    return this.#recorder.requests;
  }

  /** Disconnects the network, or connects it again. @param {boolean} offline */
  setOffline(offline) {
    this.#recorder.offline = offline;
  }

  /** From now on, serves files without a policy header. */
  servePlainly() {
    this.#recorder.plain = true;
  }

  /** From now on, serves a file with a Content-Encoding, as some hosts do with gzip files. @param {string} path @param {string} encoding */
  declare(path, encoding) {
    this.#recorder.encodings.set(new URL(path, this.url).pathname, encoding);
  }

  /** Serves a file with another content, or unchanged again. @param {string} path @param {((body: Buffer) => Buffer) | null} change */
  change(path, change) {
    const { pathname } = new URL(path, this.url);
    if (change) this.#recorder.changes.set(pathname, change);
    else this.#recorder.changes.delete(pathname);
  }

  /** Serves a script with another text, made from its source: the served scripts are minified.
   * @param {string} path @param {(text: string) => string} edit */
  rewrite(path, edit) {
    const source = readFileSync(join(ROOT, path.startsWith("js/") ? "web" : "www", path), "utf8");
    const edited = edit(source);
    assert.notEqual(edited, source, `${path} contains the text to be replaced`);
    this.change(path, () => Buffer.from(edited));
  }

  /** Goes to a path of the page and waits until it has loaded. @param {string} [path] */
  async goto(path = "") {
    const response = await this.page.goto(new URL(path, this.url).href, { waitUntil: "load" });
    assert.ok(response?.ok(), `${path || "/"} answers ${response?.status()}`);
  }

  /** Marks a position in the record of requests: `const mark = session.mark(); ...; session.assertNoRequestsSince(mark)`. */
  mark() {
    return this.requests.length;
  }

  /** @param {number} mark @param {string} [during] what happened meanwhile, for the message */
  assertNoRequestsSince(mark, during = "since the mark") {
    assert.deepEqual(this.requests.slice(mark).map(({ method, url }) => `${method} ${url}`), [], `no request ${during}`);
  }

  /** Asserts that no request went to another host. */
  assertNothingLeft() {
    const { host } = new URL(this.url);
    const outside = this.requests.filter(({ url }) => new URL(url).host !== host);
    assert.deepEqual(outside.map(({ method, url }) => `${method} ${url}`), [], "no request to another host");
  }

  /** Asserts that there were no errors, warnings or exceptions except the expected ones. @param {RegExp[]} [expected] */
  assertQuiet(expected = []) {
    const unexpected = this.problems.filter(({ text }) => !expected.some((pattern) => pattern.test(text)));
    assert.deepEqual(unexpected, [], "a quiet console");
  }

  /** Returns the adapter of this browser. Without one, the test fails. */
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

/** Counts the seconds of sound from the page's microphone since it was last opened. On a busy machine the file behind it is read with a delay, so that
 * wall-clock time runs ahead of it. */
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
 * Starts a Chromium with an empty page; `session.goto()` loads the page under test. The record of requests starts here.
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
    // An open proxy would keep the test file from ending.
    recorder.stop();
    throw error;
  }
}
