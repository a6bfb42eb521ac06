// Drives WebKit, the engine of Safari, by WebDriver, in its GTK port on a virtual display. WebDriver opens a private window, which stores nothing.

import { spawn } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const START_SECONDS = 40;
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

  /** @param {import("node:child_process").ChildProcess[]} children @param {string} address */
  constructor(children, address) {
    this.children = children;
    this.address = address;
  }

  /** @param {NonNullable<ReturnType<typeof findWebKit>>} found */
  static async open({ driver, browser, display }) {
    const screen = spawn(display, ["-displayfd", "3", "-screen", "0", "1280x1000x24", "-nolisten", "tcp"], { stdio: ["ignore", "ignore", "ignore", "pipe"] });
    const number = await new Promise((resolve, reject) => {
      screen.once("exit", (code) => reject(new Error(`Xvfb ended with ${code}`)));
      /** @type {import("node:stream").Readable} */ (screen.stdio[3]).once("data", (data) => resolve(String(data).trim()));
    });
    const port = 20_000 + Math.floor(Math.random() * 20_000);
    // Without a language, the browser reports the language "C", which does not exist.
    const environment = { ...process.env, LANG: "en_US.UTF-8", LANGUAGE: "en_US", DISPLAY: `:${number}`, GDK_BACKEND: "x11", LIBGL_ALWAYS_SOFTWARE: "1", NO_AT_BRIDGE: "1" };
    const server = spawn(driver, [`--port=${port}`, "--host=127.0.0.1"], { stdio: "ignore", env: environment });
    const webkit = new WebKit([server, screen], `http://127.0.0.1:${port}`);
    for (const end = Date.now() + 1000 * START_SECONDS; ; await sleep(200)) {
      const ready = await fetch(`${webkit.address}/status`).then((answer) => answer.ok, () => false);
      if (ready) break;
      if (Date.now() > end) throw new Error(`WebKitWebDriver did not start within ${START_SECONDS} s`);
    }
    const options = { binary: browser, args: ["--automation"] };
    const { sessionId, capabilities } = await webkit.#send("POST", "/session", { capabilities: { alwaysMatch: { "webkitgtk:browserOptions": options } } });
    webkit.#session = `/session/${sessionId}`;
    webkit.version = capabilities.browserVersion;
    await webkit.#send("POST", "/timeouts", { script: 1000 * SCRIPT_SECONDS, pageLoad: 1000 * SCRIPT_SECONDS });
    return webkit;
  }

  /** @param {"GET" | "POST" | "DELETE"} method @param {string} path @param {object} [body] @returns {Promise<any>} */
  async #send(method, path, body) {
    const answer = await fetch(this.address + this.#session + path, { method, body: body && JSON.stringify(body), headers: { "content-type": "application/json" } });
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
