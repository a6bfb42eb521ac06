// Drives WebKit, the engine of Safari, by WebDriver, in its GTK port on a virtual display. WebDriver opens a private window, which stores nothing.

import { spawn } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./harness.mjs";

const STARTS = 3;
const START_SECONDS = 30;
/** The time limit of a script in the page. */
const SCRIPT_SECONDS = 120;

/** @param {string} name */
const onPath = (name) => (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name)).find(existsSync);

/** Returns the programs that are needed; undefined where one is missing. @returns {{ driver: string, browser: string, display: string } | undefined} */
export function findWebKit() {
  const [driver, display] = ["WebKitWebDriver", "Xvfb"].map(onPath);
  const places = ["/usr/lib", "/usr/libexec"].filter(existsSync).flatMap((folder) => ["", ...readdirSync(folder)].map((below) => join(folder, below, "webkit2gtk-4.1/MiniBrowser")));
  const browser = places.find(existsSync);
  return driver && display && browser ? { driver, browser, display } : undefined;
}

/** A WebKit with one page. Close it: `t.after(() => webkit.close())`. */
export class WebKit {
  version = "";
  /** Uncaught errors of the pages before this one. @type {string[]} */
  #problems = [];
  #session = "";
  address = "";

  /** @param {import("node:child_process").ChildProcess[]} children */
  constructor(children) {
    this.children = children;
  }

  /** @param {NonNullable<ReturnType<typeof findWebKit>>} found */
  static async open({ driver, browser, display }) {
    const screen = spawn(display, ["-displayfd", "3", "-screen", "0", "1280x1000x24", "-nolisten", "tcp"], { stdio: ["ignore", "ignore", "ignore", "pipe"] });
    const webkit = new WebKit([screen]);
    try {
      const number = await new Promise((resolve, reject) => {
        screen.once("exit", (code) => reject(new Error(`Xvfb ended with ${code}`)));
        /** @type {import("node:stream").Readable} */ (screen.stdio[3]).once("data", (data) => resolve(String(data).trim()));
      });
      // Without a language, the browser reports the language "C", which does not exist.
      const environment = { ...process.env, LANG: "en_US.UTF-8", LANGUAGE: "en_US", DISPLAY: `:${number}`, GDK_BACKEND: "x11", LIBGL_ALWAYS_SOFTWARE: "1", NO_AT_BRIDGE: "1" };
      await webkit.#start(driver, environment);
      const options = { binary: browser, args: ["--automation"] };
      const { sessionId, capabilities } = await webkit.#send("POST", "/session", { capabilities: { alwaysMatch: { "webkitgtk:browserOptions": options } } });
      webkit.#session = `/session/${sessionId}`;
      webkit.version = capabilities.browserVersion;
      await webkit.#send("POST", "/timeouts", { script: 1000 * SCRIPT_SECONDS, pageLoad: 1000 * SCRIPT_SECONDS });
      return webkit;
    } catch (error) {
      // A child that is left behind keeps Node, and so the whole file of tests, from ending.
      await webkit.close();
      throw error;
    }
  }

  /** Starts the driver. Its port is chosen beforehand, so another program may take it meanwhile: it is started again then. @param {string} driver @param {NodeJS.ProcessEnv} env */
  async #start(driver, env) {
    let failure = "";
    for (let attempt = 0; attempt < STARTS; attempt++) {
      const port = await freePort();
      const server = spawn(driver, [`--port=${port}`, "--host=127.0.0.1"], { stdio: ["ignore", "ignore", "pipe"], env });
      this.children.push(server);
      this.address = `http://127.0.0.1:${port}`;
      server.stderr.on("data", (data) => (failure += data));
      for (const end = Date.now() + 1000 * START_SECONDS; Date.now() < end && server.exitCode === null; await sleep(200)) {
        if (await fetch(`${this.address}/status`, { signal: AbortSignal.timeout(2000) }).then((answer) => answer.ok, () => false)) return;
      }
      failure += ` (exit code ${server.exitCode})\n`;
      server.kill("SIGKILL");
    }
    throw new Error(`WebKitWebDriver did not start: ${failure}`);
  }

  /** @param {"GET" | "POST" | "DELETE"} method @param {string} path @param {object} [body] @returns {Promise<any>} */
  async #send(method, path, body) {
    const answer = await fetch(this.address + this.#session + path, { method, body: body && JSON.stringify(body), headers: { "content-type": "application/json" }, signal: AbortSignal.timeout(1000 * (SCRIPT_SECONDS + 30)) });
    const { value } = /** @type {any} */ (await answer.json());
    if (!answer.ok) throw new Error(`WebKit, ${method} ${path}: ${value.error}: ${value.message}`);
    return value;
  }

  /** @param {string} url */
  async goto(url) {
    this.#problems = await this.problems();
    await this.#send("POST", "/url", { url });
    await this.run(`globalThis.uncaught = [];
      addEventListener("error", (event) => uncaught.push(event.message));
      addEventListener("unhandledrejection", (event) => uncaught.push(String(event.reason)))`);
  }

  /** Returns the uncaught errors so far; WebDriver does not report the console. @returns {Promise<string[]>} */
  async problems() {
    return [...this.#problems, ...(await this.run("return globalThis.uncaught ?? []"))];
  }

  /** Runs statements in the page and returns what they return, as JSON. @param {string} body @param {unknown} [input] @returns {Promise<any>} */
  async run(body, input) {
    const script = `const [text, done] = arguments;
      (async (input) => { ${body} })(JSON.parse(text)).then((value) => done({ value: JSON.stringify(value) }), (error) => done({ error: String(error) }))`;
    const { value, error } = await this.#send("POST", "/execute/async", { script, args: [JSON.stringify(input ?? null)] });
    if (error) throw new Error(error);
    return value == null ? undefined : JSON.parse(value);
  }

  /** Writes a screenshot. @param {string} path */
  async screenshot(path) {
    writeFileSync(path, Buffer.from(await this.#send("GET", "/screenshot"), "base64"));
  }

  async close() {
    await this.#send("DELETE", "").catch(() => {});
    for (const child of this.children) child.kill("SIGKILL");
  }
}
