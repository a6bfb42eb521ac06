// The npm packages as they are installed: the tarballs of `cargo xtask pack` (OWNVOICE_TARBALL, OWNVOICE_BASE_TARBALL) are checked by publint and attw, and used
// by a plain page, Vite, webpack and Next.js. Each runs the first example of the package's README in Chromium.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { publint } from "publint";
import { build, createServer as viteServer } from "vite";
import webpack from "webpack";
import { ROOT, open } from "../browser/harness.mjs";
import { BASE_TARBALL, CLIPS, IMPORT_MAP, TARBALL, install, serve } from "./consumer.mjs";

const MINUTE = 60_000;
const TOOLS = join(ROOT, "tests/node_modules/.bin");

/** A folder in which the tarballs are installed. */
let installed = "";
before(() => void (installed = install()));

const shipped = (name = "ownvoice") => join(installed, "node_modules", name);

/** Copies both packages into a folder. @param {string} folder */
function copyPackages(folder) {
  for (const name of ["ownvoice", "ownvoice-base"]) cpSync(shipped(name), join(folder, name), { recursive: true });
}

/** Returns the files of a package, and their megabytes, which are also stated. @param {import("node:test").TestContext} t @param {string} name */
function filesOf(t, name) {
  const files = readdirSync(shipped(name), { recursive: true, encoding: "utf8" }).filter((file) => statSync(join(shipped(name), file)).isFile());
  const megabytes = files.reduce((sum, file) => sum + statSync(join(shipped(name), file)).size, 0) / 1e6;
  t.diagnostic(`${megabytes.toFixed(2)} MB in ${files.length} files`);
  return { files, megabytes };
}

test("ownvoice is under 8 MB unpacked, without weights, with what its README needs", (t) => {
  const { files, megabytes } = filesOf(t, "ownvoice");
  assert.ok(megabytes < 8, `${megabytes.toFixed(2)} MB`);
  assert.deepEqual(files.filter((file) => file.endsWith(".safetensors")), []);
  for (const file of ["README.md", "LICENSE-MIT", "js/index.js", "js/types/index.d.ts"]) assert.ok(files.includes(file), file);
  // The licences of the libraries require that they are named.
  const notices = readFileSync(join(shipped(), "pkg/third-party.txt"), "utf8");
  assert.match(notices, /^ {2}burn \d[^]*^ {2}wgpu \d[^]*Permission is hereby granted/m);
  assert.doesNotMatch(notices, /^ {2}ownvoice/m);
});

test("ownvoice-base is under 20 MB unpacked: the files of its manifest, each with its hash, sentences, licences and credits", async (t) => {
  const { files, megabytes } = filesOf(t, "ownvoice-base");
  assert.ok(megabytes < 20, `${megabytes.toFixed(2)} MB`);
  const folder = shipped("ownvoice-base");
  const manifest = JSON.parse(readFileSync(join(folder, "base/manifest.json"), "utf8"));
  const { prompts, manifest: named, ...parts } = (await import(join(folder, "index.js"))).default;
  const { speaker_encoder: _, ...played } = manifest.files;
  assert.deepEqual(Object.keys(parts).sort(), Object.keys(played).sort(), "the module names what a browser fetches");
  const listed = Object.entries(manifest.files).map(([part, { path, sha256 }]) => {
    const file = join("base", path);
    assert.equal(createHash("sha256").update(readFileSync(join(folder, file))).digest("hex"), sha256, part);
    if (part in parts) assert.equal(new URL(parts[part]).pathname, join(folder, file));
    return file;
  });
  assert.equal(new URL(named).pathname, join(folder, "base/manifest.json"));
  assert.ok(JSON.parse(readFileSync(new URL(prompts).pathname, "utf8")).length > 10);
  const others = ["CREDITS.md", "LICENSE-APACHE", "LICENSE-MIT", "README.md", "base/manifest.json", "index.d.ts", "index.js", "lexicon/LICENSE-CMUDICT", "package.json", "prompts.json"];
  assert.deepEqual(files.sort(), [...listed, ...others].sort());
});

test("the documented address on a CDN is that of this version", () => {
  const { version } = JSON.parse(readFileSync(join(shipped("ownvoice-base"), "package.json"), "utf8"));
  assert.ok(readFileSync(join(shipped(), "README.md"), "utf8").includes(`/npm/ownvoice-base@${version}/base/`), version);
});

test("publint finds nothing", async () => {
  for (const name of ["ownvoice", "ownvoice-base"]) {
    const { messages } = await publint({ pkgDir: shipped(name), strict: true, pack: false });
    assert.deepEqual(messages, [], name);
  }
});

test("attw finds no wrong types", () => {
  for (const tarball of [TARBALL, BASE_TARBALL]) execFileSync(join(TOOLS, "attw"), [tarball, "--profile", "esm-only", "--no-color"], { stdio: "inherit" });
});

/** Returns the first example of the package's README, with fewer iterations, and with its results stored where the test finds them. */
function fiveLines() {
  const readme = readFileSync(join(shipped(), "README.md"), "utf8");
  const code = readme.match(/```js\n([^]*?)```/)?.[1] ?? "";
  assert.match(code, /load\(\);[^]*studio\.clone\(clips\)/);
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

/** Replaces the call of `load` in a project's example. @param {string} folder @param {string} call */
function replaceLoad(folder, call) {
  const main = join(folder, "main.js");
  writeFileSync(main, readFileSync(main, "utf8").replace("load()", call));
}

/** Opens a page whose script fails, and compares the beginning of the error. @param {import("node:test").TestContext} t @param {string} url @param {string} expected */
async function fails(t, url, expected) {
  const session = await open({ device: "cpu", url });
  t.after(() => session.close());
  await session.page.addInitScript(() => {
    const tell = (/** @type {any} */ error) => (document.documentElement.dataset.told = `${error.code}: ${error.message}`);
    addEventListener("error", ({ error }) => tell(error));
    addEventListener("unhandledrejection", ({ reason }) => tell(reason));
  });
  await session.goto();
  const told = await session.page.waitForSelector("html[data-told]", { state: "attached", timeout: MINUTE });
  const text = (await told.getAttribute("data-told")) ?? "";
  assert.ok(text.startsWith(expected), text);
}

// Vite's own WebSocket is a tunnel, which the recorder of requests refuses.
const WEB_SOCKET = [/WebSocket/];

/** Starts Vite's development server with the configuration of the README, and returns its address. @param {import("node:test").TestContext} t @param {string} root */
async function develop(t, root) {
  const server = await viteServer({ root, logLevel: "error", configFile: false, optimizeDeps: { exclude: ["ownvoice", "ownvoice-base"] }, server: { host: "127.0.0.1", port: 0, hmr: false, ws: false } });
  await server.listen();
  t.after(() => server.close());
  return server.resolvedUrls?.local[0] ?? "";
}

/** Runs webpack on main.js and returns its errors and warnings. @param {import("webpack").Configuration} options @returns {Promise<string>} */
const runWebpack = (options) =>
  new Promise((done, failed) =>
    // Large files are warned of, and the base is large.
    webpack({ mode: "production", entry: "./main.js", optimization: { minimize: false }, performance: false, ...options }, (error, stats) => (error || !stats ? failed(error) : done(stats.toString({ all: false, errors: true, warnings: true })))),
  );

test("a plain page, with an import map", { timeout: 5 * MINUTE }, async (t) => {
  const folder = consumer("plain", `${IMPORT_MAP}<script type="module" src="main.js"></script>`);
  copyPackages(folder);
  const { url, stop } = await serve(folder);
  t.after(stop);
  await speaks(t, url);
});

const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; img-src data:";
const meta = (/** @type {string} */ policy) => `<meta http-equiv="Content-Security-Policy" content="${policy}">`;

test("a plain page, with both packages on another host, under a policy", { timeout: 5 * MINUTE }, async (t) => {
  const cdn = await serve(join(installed, "node_modules"));
  t.after(cdn.stop);
  const { origin } = new URL(cdn.url);
  const policy = `default-src 'none'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval' ${origin}; worker-src blob: ${origin}; connect-src 'self' ${origin}; img-src data:`;
  const folder = consumer("cdn", `${meta(policy)}<script type="importmap">{ "imports": { "ownvoice": "${origin}/ownvoice/js/index.js" } }</script><script type="module" src="main.js"></script>`);
  replaceLoad(folder, `load({ base: "${origin}/ownvoice-base/base/" })`);
  const { url, stop } = await serve(folder);
  t.after(stop);
  await speaks(t, url, [], cdn.url);
});

test("where no worker may start, the error has a code", { timeout: 5 * MINUTE }, async (t) => {
  const folder = consumer("no-worker", `${IMPORT_MAP}<script type="module" src="tells.js"></script>`);
  copyPackages(folder);
  writeFileSync(
    join(folder, "tells.js"),
    `import { load } from "ownvoice";
globalThis.Worker = class { constructor() { throw new DOMException("Failed to construct 'Worker'", "SecurityError"); } };
load().catch(({ name, code }) => (document.documentElement.dataset.told = name + " " + code));`,
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
  replaceLoad(root, "load({ microphone: true })");
  await build({ root, logLevel: "error", configFile: false, worker: { format: "es" } });
  const dist = join(root, "dist");
  const { url, stop } = await serve(dist);
  t.after(stop);
  await speaks(t, url);

  // The same site, once a file of the base is missing: some hosts answer with a page.
  const weights = readdirSync(join(dist, "assets")).find((name) => /^weights.*safetensors$/.test(name)) ?? "";
  rmSync(join(dist, "assets", weights));
  for (const elsewhere of [() => null, (/** @type {string} */ path) => (path.endsWith(weights) ? join(dist, "index.html") : null)]) {
    const broken = await serve(dist, elsewhere);
    t.after(broken.stop);
    await fails(t, broken.url, `download-failed: /assets/${weights}`);
  }
});

test("without ownvoice-base, Vite and webpack build, and the error has a code", { timeout: 5 * MINUTE }, async (t) => {
  const root = install([TARBALL]);
  writeFileSync(join(root, "main.js"), 'import { load } from "ownvoice";\nawait load();\n');
  writeFileSync(join(root, "index.html"), '<!doctype html><html lang="en"><head><title>bare</title><link rel="icon" href="data:,"><script type="module" src="/main.js"></script></head></html>');
  await build({ root, logLevel: "error", configFile: false, worker: { format: "es" } });
  const warned = await runWebpack({ context: root, output: { path: join(root, "packed"), filename: "main.js" } });
  assert.match(warned, /Can't resolve 'ownvoice-base'/);
  assert.equal(await runWebpack({ context: root, output: { path: join(root, "aliased"), filename: "main.js" }, resolve: { alias: { "ownvoice-base": false } } }), "");
  for (const folder of ["packed", "aliased"]) cpSync(join(root, "index.html"), join(root, folder, "index.html"));
  for (const folder of ["dist", "packed", "aliased"]) {
    const { url, stop } = await serve(join(root, folder));
    t.after(stop);
    await fails(t, url, "base-missing: there is no base voice");
  }
});

test("Vite, its development server", { timeout: 5 * MINUTE }, async (t) => {
  const root = consumer("vite-dev", '<script type="module" src="/main.js"></script>');
  await speaks(t, await develop(t, root), WEB_SOCKET);
});

test("React in StrictMode, by Vite's development server, leaves one studio", { timeout: 5 * MINUTE }, async (t) => {
  // The folder lies below the one in which React is installed.
  const root = join(ROOT, "tests/dist/react");
  rmSync(root, { recursive: true, force: true });
  copyPackages(join(root, "node_modules"));
  const files = {
    "package.json": JSON.stringify({ private: true, type: "module" }),
    "index.html": '<!doctype html><html lang="en"><head><title>React</title><link rel="icon" href="data:,"></head><body><main></main><script type="module" src="/main.jsx"></script></body></html>',
    "speaker.jsx": readFileSync(join(shipped(), "README.md"), "utf8").match(/```jsx\n([^]*?)```/)?.[1] ?? "",
    "main.jsx": `import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Speaker } from "./speaker.jsx";
const seen = document.documentElement.dataset;
Object.assign(seen, { mounted: 0, running: 0 });
globalThis.AbortController = class extends AbortController { constructor() { super(); seen.mounted++; } };
globalThis.Worker = class extends Worker { constructor(...all) { super(...all); seen.running++; } terminate() { super.terminate(); seen.running--; } };
const { createObjectURL } = URL;
URL.createObjectURL = (blob) => ((seen.wav = blob.size), createObjectURL(blob));
createRoot(document.querySelector("main")).render(<StrictMode><Speaker /></StrictMode>);`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  const session = await open({ device: "cpu", url: await develop(t, root) });
  t.after(() => session.close());
  await session.goto();
  await session.page.locator("button:enabled").click({ timeout: MINUTE }).catch(() => assert.fail(`it does not load: ${JSON.stringify(session.problems)}`));
  await session.page.waitForSelector("html[data-wav]", { state: "attached", timeout: MINUTE });
  const { mounted, running, wav } = await session.page.evaluate(() => ({ ...document.documentElement.dataset }));
  assert.ok(Number(wav) > 10_000, `${wav} bytes`);
  assert.ok(Number(mounted) >= 2, `mounted ${mounted} times`);
  assert.equal(running, "1", "workers of the page");
  session.assertQuiet(WEB_SOCKET);
});

test("webpack", { timeout: 5 * MINUTE }, async (t) => {
  const context = consumer("webpack", '<script type="module" src="main.js"></script>');
  const path = join(context, "dist");
  assert.equal(await runWebpack({ context, output: { path, filename: "main.js" } }), "");
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
  copyPackages(join(folder, "node_modules"));
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
