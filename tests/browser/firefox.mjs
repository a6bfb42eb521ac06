// Drives a released Firefox by WebDriver BiDi: Playwright supports only its own builds of Firefox.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { WebSocket } from "ws";

/** The Firefox to drive: `FIREFOX` if set, else the first found; undefined where there is none. @returns {string | undefined} */
export function findFirefox() {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const places = ["firefox", "firefox-esr"].flatMap((name) => folders.map((folder) => join(folder, name)));
  return [process.env.FIREFOX ?? "", ...places, "/Applications/Firefox.app/Contents/MacOS/firefox", "C:/Program Files/Mozilla Firefox/firefox.exe"].find(existsSync);
}

/** No requests by the browser itself, no start page, sound without a user gesture, and a microphone that gives a tone without a permission prompt. */
const PREFERENCES = {
  "app.normandy.enabled": false,
  "app.update.enabled": false,
  "browser.startup.page": 0,
  "datareporting.policy.dataSubmissionEnabled": false,
  "media.autoplay.default": 0,
  "media.navigator.permission.disabled": true,
  "media.navigator.streams.fake": true,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "remote.prefs.recommended": true,
  "services.settings.server": "http://127.0.0.1:9/",
  "toolkit.telemetry.enabled": false,
};

const ANSWER_SECONDS = 40;

/** @param {number} seconds @param {string} what @param {(resolve: (value: any) => void, reject: (error: Error) => void) => void} begin @returns {Promise<any>} */
function within(seconds, what, begin) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`Firefox did not answer to ${what} within ${seconds} s`)), 1000 * seconds);
    begin((value) => (clearTimeout(late), resolve(value)), (error) => (clearTimeout(late), reject(error)));
  });
}

/** A headless Firefox with one page. Close it: `t.after(() => firefox.close())`. */
export class Firefox {
  /** @type {string[]} */
  #problems = [];
  version = "";
  #id = 0;
  /** @type {Map<number, { resolve: (result: any) => void, reject: (error: Error) => void }>} */
  #commands = new Map();
  #context = "";

  /** @param {import("node:child_process").ChildProcess} child @param {WebSocket} socket @param {string} profile */
  constructor(child, socket, profile) {
    this.child = child;
    this.socket = socket;
    this.profile = profile;
    socket.on("message", (data) => this.#receive(JSON.parse(String(data))));
  }

  /** @param {string} path */
  static async open(path) {
    const profile = mkdtempSync(join(tmpdir(), "ownvoice-firefox-"));
    const lines = Object.entries(PREFERENCES).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`);
    writeFileSync(join(profile, "user.js"), lines.join("\n"));
    const child = spawn(path, ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"], { stdio: ["ignore", "ignore", "pipe"] });
    try {
      /** @type {string} */
      const address = await within(ANSWER_SECONDS, "its start", (resolve, reject) => {
        let said = "";
        child.stderr.on("data", (chunk) => {
          said += chunk;
          const found = said.match(/WebDriver BiDi listening on (ws:\S+)/)?.[1];
          if (found) resolve(found);
        });
        child.once("exit", (code) => reject(new Error(`Firefox ended with ${code}: ${said}`)));
      });
      const socket = new WebSocket(`${address}/session`);
      await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
      const firefox = new Firefox(child, socket, profile);
      const { capabilities } = await firefox.send("session.new", { capabilities: {} });
      firefox.version = capabilities.browserVersion;
      await firefox.send("session.subscribe", { events: ["log.entryAdded"] });
      firefox.#context = (await firefox.send("browsingContext.getTree", {})).contexts[0].context;
      return firefox;
    } catch (error) {
      // A child that is left behind keeps Node, and so the whole file of tests, from ending.
      child.kill("SIGKILL");
      throw error;
    }
  }

  /** @param {string} method @param {object} params @returns {Promise<any>} */
  send(method, params) {
    const id = ++this.#id;
    return within(ANSWER_SECONDS, method, (resolve, reject) => {
      this.#commands.set(id, { resolve, reject });
      this.socket.send(JSON.stringify({ id, method, params }));
    });
  }

  /** @param {any} message */
  #receive({ type, id, method, params, result, error, message }) {
    if (type === "event") {
      if (method === "log.entryAdded" && ["error", "warn"].includes(params.level)) this.#problems.push(params.text);
      return;
    }
    const command = this.#commands.get(id);
    this.#commands.delete(id);
    if (type === "success") command?.resolve(result);
    else command?.reject(new Error(`${error}: ${message}`));
  }

  /** Returns the errors and warnings of the console so far, and uncaught exceptions. @returns {Promise<string[]>} */
  async problems() {
    return this.#problems;
  }

  /** @param {string} url */
  goto(url) {
    return this.send("browsingContext.navigate", { context: this.#context, url, wait: "complete" });
  }

  /** Runs statements in the page and returns what they return, as JSON. @param {string} body @param {unknown} [input] @returns {Promise<any>} */
  async run(body, input) {
    const functionDeclaration = `async (input) => JSON.stringify(await (async (input) => { ${body} })(JSON.parse(input)))`;
    const options = { target: { context: this.#context }, awaitPromise: true, userActivation: true };
    const { type, result, exceptionDetails } = await this.send("script.callFunction", { functionDeclaration, arguments: [{ type: "string", value: JSON.stringify(input ?? null) }], ...options });
    if (type === "exception") throw new Error(exceptionDetails.text);
    return result.value === undefined ? undefined : JSON.parse(result.value);
  }

  /** Writes a screenshot. @param {string} path */
  async screenshot(path) {
    const { data } = await this.send("browsingContext.captureScreenshot", { context: this.#context, origin: "document" });
    writeFileSync(path, Buffer.from(data, "base64"));
  }

  async close() {
    const ended = new Promise((resolve) => this.child.once("exit", resolve));
    await this.send("browser.close", {}).catch(() => this.child.kill());
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 5000).unref())]);
    if (this.child.exitCode === null) this.child.kill("SIGKILL");
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
