// The npm package as it is installed: the tarball of `cargo xtask pack` (OWNVOICE_TARBALL) is checked by publint and attw, and used by a plain page, Vite,
// webpack and Next.js. Each runs the first example of the package's README in Chromium, on a tiny base.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { publint } from "publint";
import { build, createServer as viteServer } from "vite";
import webpack from "webpack";
import { ROOT, open } from "../browser/harness.mjs";
import { CLIPS, TARBALL, baseFile, install, serve } from "./consumer.mjs";

const MINUTE = 60_000;
const TOOLS = join(ROOT, "tests/node_modules/.bin");

/** A folder in which the tarball is installed. */
let installed = "";
before(() => void (installed = install()));

const shipped = () => join(installed, "node_modules/ownvoice");

test("under 8 MB unpacked, without weights, with what its README needs", (t) => {
  const files = readdirSync(shipped(), { recursive: true, encoding: "utf8" }).filter((file) => statSync(join(shipped(), file)).isFile());
  const megabytes = files.reduce((sum, file) => sum + statSync(join(shipped(), file)).size, 0) / 1e6;
  t.diagnostic(`${megabytes.toFixed(2)} MB in ${files.length} files`);
  assert.ok(megabytes < 8, `${megabytes.toFixed(2)} MB`);
  assert.deepEqual(files.filter((file) => file.endsWith(".safetensors")), []);
  for (const file of ["README.md", "LICENSE-MIT", "js/index.js", "js/types/index.d.ts"]) assert.ok(files.includes(file), file);
  // The licences of the libraries require that they are named.
  const notices = readFileSync(join(shipped(), "pkg/third-party.txt"), "utf8");
  assert.match(notices, /^ {2}burn \d[^]*^ {2}wgpu \d[^]*Permission is hereby granted/m);
  assert.doesNotMatch(notices, /^ {2}ownvoice/m);
});

test("publint finds nothing", async () => {
  const { messages } = await publint({ pkgDir: shipped(), strict: true, pack: false });
  assert.deepEqual(messages, []);
});

test("attw finds no wrong types", () => {
  execFileSync(join(TOOLS, "attw"), [TARBALL, "--profile", "esm-only", "--no-color"], { stdio: "inherit" });
});

/** Returns the first example of the package's README, with fewer iterations, and with its results stored where the test finds them. */
function fiveLines() {
  const readme = readFileSync(join(shipped(), "README.md"), "utf8");
  const code = readme.match(/```js\n([^]*?)```/)?.[1] ?? "";
  assert.match(code, /studio\.clone\(clips\)/);
  return `${code.replace("clone(clips)", "clone(clips, { iterations: 3 })")}
Object.assign(document.documentElement.dataset, { wav: wav.size, seconds: speech.samples.length / speech.sampleRate, device: studio.device.kind, cores: \`\${studio.device.cores} of \${Math.min(4, navigator.hardwareConcurrency)}\` });`;
}

/** Creates the folder of one project: the example, and clips. @param {string} name @param {string} head */
function consumer(name, head) {
  const folder = join(installed, name);
  mkdirSync(join(folder, "public"), { recursive: true });
  writeFileSync(join(folder, "clips.js"), CLIPS);
  writeFileSync(join(folder, "main.js"), `import { clips } from "./clips.js";\n${fiveLines()}\n`);
  writeFileSync(join(folder, "index.html"), `<!doctype html><html lang="en"><head><title>${name}</title><link rel="icon" href="data:,">${head}</head><body></body></html>\n`);
  return folder;
}

/** Opens the project's page and waits until it has spoken. @param {import("node:test").TestContext} t @param {string} url @param {RegExp[]} [expected] On the
 * console. @param {string} [cdn] The only other host. */
async function speaks(t, url, expected, cdn) {
  const session = await open({ device: "cpu", url });
  t.after(() => session.close());
  await session.goto();
  await session.page.waitForFunction(() => document.documentElement.dataset.wav, null, { timeout: 2 * MINUTE }).catch(() => assert.fail(`it does not speak: ${JSON.stringify(session.problems)}`));
  const { wav, seconds, device, cores = "" } = await session.page.evaluate(() => ({ ...document.documentElement.dataset }));
  assert.ok(Number(wav) > 10_000 && Number(seconds) > 0.3, `${wav} bytes, ${seconds} s`);
  assert.equal(device, "cpu");
  const [used, available] = cores.split(" of ");
  assert.equal(used, available, "helpers start from the worker's script in this bundle too");
  const hosts = new Set(session.requests.map(({ url }) => new URL(url).host));
  assert.deepEqual([...hosts].sort(), [url, ...(cdn ? [cdn] : [])].map((url) => new URL(url).host).sort());
  session.assertQuiet(expected);
}

test("a plain page, with an import map", { timeout: 5 * MINUTE }, async (t) => {
  const folder = consumer("plain", '<script type="importmap">{ "imports": { "ownvoice": "/ownvoice/js/index.js" } }</script><script type="module" src="main.js"></script>');
  cpSync(shipped(), join(folder, "ownvoice"), { recursive: true });
  const { url, stop } = await serve(folder);
  t.after(stop);
  await speaks(t, url);
});

const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; img-src data:";
const meta = (/** @type {string} */ policy) => `<meta http-equiv="Content-Security-Policy" content="${policy}">`;

test("a plain page, with the package on another host, under a policy", { timeout: 5 * MINUTE }, async (t) => {
  const cdn = await serve(shipped());
  t.after(cdn.stop);
  const { origin } = new URL(cdn.url);
  const policy = `default-src 'none'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval' ${origin}; worker-src blob: ${origin}; connect-src 'self' ${origin}; img-src data:`;
  const folder = consumer("cdn", `${meta(policy)}<script type="importmap">{ "imports": { "ownvoice": "${origin}/js/index.js" } }</script><script type="module" src="main.js"></script>`);
  const { url, stop } = await serve(folder);
  t.after(stop);
  await speaks(t, url, [], cdn.url);
});

test("where no worker may start, the error has a code", { timeout: 5 * MINUTE }, async (t) => {
  const folder = consumer("no-worker", '<script type="importmap">{ "imports": { "ownvoice": "/ownvoice/js/index.js" } }</script><script type="module" src="tells.js"></script>');
  cpSync(shipped(), join(folder, "ownvoice"), { recursive: true });
  writeFileSync(
    join(folder, "tells.js"),
    `import { load } from "ownvoice";
globalThis.Worker = class { constructor() { throw new DOMException("Failed to construct 'Worker'", "SecurityError"); } };
load({ base: "/models/base/" }).catch(({ name, code }) => (document.documentElement.dataset.told = name + " " + code));`,
  );
  const { url, stop } = await serve(folder);
  t.after(stop);
  const session = await open({ device: "cpu", url });
  t.after(() => session.close());
  await session.goto();
  await session.page.waitForSelector("html[data-told]", { state: "attached" });
  assert.equal(await session.page.getAttribute("html", "data-told"), "OwnvoiceError worker-unavailable");
});

test("Vite, built", { timeout: 5 * MINUTE }, async (t) => {
  // Under the README's policy no file may have become a data: URL, which Vite makes of small files.
  const root = consumer("vite", `${meta(POLICY)}<script type="module" src="/main.js"></script>`);
  const main = join(root, "main.js");
  writeFileSync(main, readFileSync(main, "utf8").replace("load({", "load({ microphone: true,"));
  await build({ root, logLevel: "error", configFile: false, worker: { format: "es" } });
  const { url, stop } = await serve(join(root, "dist"));
  t.after(stop);
  await speaks(t, url);
});

test("Vite, its development server", { timeout: 5 * MINUTE }, async (t) => {
  const root = consumer("vite-dev", '<script type="module" src="/main.js"></script>');
  const models = {
    name: "models",
    configureServer(/** @type {import("vite").ViteDevServer} */ server) {
      server.middlewares.use((asked, answer, next) => {
        const file = baseFile(new URL(asked.url ?? "", "http://localhost").pathname);
        if (!file) return next();
        answer.end(readFileSync(file));
      });
    },
  };
  const server = await viteServer({ root, logLevel: "error", configFile: false, plugins: [models], optimizeDeps: { exclude: ["ownvoice"] }, server: { host: "127.0.0.1", port: 0, hmr: false, ws: false } });
  await server.listen();
  t.after(() => server.close());
  // Vite's own WebSocket is a tunnel, which the recorder of requests refuses.
  await speaks(t, server.resolvedUrls?.local[0] ?? "", [/WebSocket/]);
});

test("webpack", { timeout: 5 * MINUTE }, async (t) => {
  const context = consumer("webpack", '<script type="module" src="main.js"></script>');
  const path = join(context, "dist");
  const stats = await new Promise((done, failed) =>
    webpack({ mode: "production", context, entry: "./main.js", output: { path, filename: "main.js" }, optimization: { minimize: false } }, (error, stats) => (error ? failed(error) : done(stats))),
  );
  assert.equal(stats.hasErrors(), false, stats.toString("errors-only"));
  cpSync(join(context, "index.html"), join(path, "index.html"));
  const { url, stop } = await serve(path);
  t.after(stop);
  await speaks(t, url);
});

test("Next.js, in a client component", { timeout: 10 * MINUTE }, async (t) => {
  // The folder lies below the one in which Next.js is installed, because Next.js looks for itself upwards.
  const folder = join(ROOT, "tests/dist/next");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "app"), { recursive: true });
  cpSync(shipped(), join(folder, "node_modules/ownvoice"), { recursive: true });
  const [imports, ...rest] = fiveLines().split("\n");
  const files = {
    "package.json": JSON.stringify({ private: true, type: "module" }),
    "next.config.mjs": 'export default { output: "export", images: { unoptimized: true } };',
    "app/layout.js": 'export default function Layout({ children }) { return <html lang="en"><head><title>next</title><link rel="icon" href="data:," /></head><body>{children}</body></html>; }',
    "app/page.js": 'import { Speaker } from "./speaker.js";\nexport default function Page() { return <Speaker />; }',
    "app/clips.js": CLIPS,
    "app/speaker.js": `"use client";\n${imports}\nimport { useEffect } from "react";\nimport { clips } from "./clips.js";\nasync function run() {\n${rest.join("\n")}\n}\nexport function Speaker() { useEffect(() => void run(), []); return <p>It speaks.</p>; }`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  execFileSync(join(TOOLS, "next"), ["build"], { cwd: folder, stdio: "inherit", env: { ...process.env, NEXT_TELEMETRY_DISABLED: "1", CI: "1" } });
  const { url, stop } = await serve(join(folder, "out"));
  t.after(stop);
  await speaks(t, url);
});
