// The codes of errors: the package's README lists each that a caller can get, and the pages have a text for each that a visitor can.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { en as lips } from "../../www/lips/strings/en.js";
import { en as nets } from "../../www/nets/strings/en.js";
import { en } from "../../www/strings/en.js";
import { ROOT } from "../browser/harness.mjs";

/** @param {string} path */
const read = (path) => readFileSync(join(ROOT, path), "utf8");
/** @param {string} folder @param {RegExp} found */
const inFolder = (folder, found) => readdirSync(join(ROOT, folder)).filter((name) => /\.(js|rs)$/.test(name)).flatMap((name) => codes(read(`${folder}/${name}`), found));
/** @param {string} text @param {RegExp} found */
const codes = (text, found) => [...text.matchAll(found)].map(([, ...code]) => code.find(Boolean) ?? "");

/** Only the command line reads corpora, files and PyTorch's checkpoints, starts programs, and trains in ranks. */
const NATIVE = ["rank-lost", "checkpoint-unsupported", "io", "corpus-invalid", "several-speakers", "program-missing"];
/** Only the command line and the page of lips read videos. */
const OF_VIDEOS = ["video-unreadable", "video-cut", "no-face", "several-faces", "lengths-differ"];
/** Only the command line and the page of nets read pictures. */
const OF_NETS = ["picture-unreadable", "picture-size", "weights-mismatch", "classes-too-few", "class-empty", "example-invalid"];
/** Faults of a program, which no visitor sees, or of ownvoice, for which the page has other texts. */
const OF_PROGRAMS = ["option-invalid", "closed", "cancelled", "internal", "device-unavailable", "precision-unsupported", "microphone-closed"];

/** Whether the package can throw a code. @param {string} code */
const isOfPackage = (code) => !NATIVE.includes(code) && !OF_VIDEOS.includes(code) && !OF_NETS.includes(code);

const all = new Set([
  ...codes(read("crate/ownvoice/src/error.rs"), /^ {4}\w+ = "([a-z-]+)",$/gm),
  ...inFolder("web/js", /OwnvoiceError\(\s*"([a-z-]+)"/g),
  ...codes(read("web/js/rpc.js"), /"(worker-[a-z]+)"/g),
  ...inFolder("web/src", /js_error\(\s*"([a-z-]+)"/g),
]);

test("the package's README lists the codes that a caller can get, and no others", () => {
  assert.ok(all.size > 35, [...all].join(" "));
  const listed = codes(read("web/README.md"), /^\| `([a-z-]+)` \| /gm);
  assert.deepEqual(listed.sort(), [...all].filter(isOfPackage).sort());
});

test("the type of codes has the same codes", () => {
  const [, union] = read("web/js/errors.js").match(/@typedef \{\(([^}]*)\)\} ErrorCode/) ?? [];
  assert.deepEqual(codes(union ?? "", /"([a-z-]+)"/g).sort(), [...all].filter(isOfPackage).sort());
});

test("the page has a text for each code that a visitor can get", () => {
  const without = [...all].filter((code) => isOfPackage(code) && !OF_PROGRAMS.includes(code) && !(`error.${code}` in en));
  assert.deepEqual(without, []);
});

/** The codes that scripts of a page throw themselves. @param {string} folder */
const thrown = (folder) => inFolder(folder, /"((?:camera|capture)-[a-z]+)"|OwnvoiceError\("([a-z-]+)"/g).filter((code) => code && code !== "cancelled");
/** The codes of a camera, without those of a microphone beside it. */
const OF_CAMERA = thrown("www/shared").filter((code) => code.startsWith("camera-"));
const OF_LOADING = ["download-failed", "base-corrupt", "base-unsupported", "worker-unavailable", "worker-crashed", "message-failed"];

test("the page of lips has a text for each code of its own, and of loading, reading and training", () => {
  const own = [...thrown("www/lips"), ...thrown("www/shared").filter((code) => /^(camera|capture)-/.test(code))];
  const read = ["clip-too-short", "clip-too-long", ...OF_VIDEOS];
  const learned = ["audio-unreadable", "clip-empty", "clip-too-quiet", "clip-clipped", "clip-noisy", "rate-unsupported", "no-clips", "training-diverged", "voice-corrupt", "base-mismatch"];
  assert.ok(own.includes("camera-denied") && own.includes("capture-denied"), own.join(" "));
  const without = [...own, ...OF_LOADING, ...read, ...learned].filter((code) => !(`error.${code}` in lips));
  assert.deepEqual(without, []);
});

test("the page of things has a text for each code of its own, and of loading, storing, pictures and training", () => {
  const own = thrown("www/nets");
  assert.ok(own.includes("picture-size") && OF_CAMERA.includes("camera-denied"), [...own, ...OF_CAMERA].join(" "));
  const stored = ["storage-full", "storage-failed", "checkpoint-corrupt", "base-mismatch", "training-diverged"];
  const without = [...own, ...OF_CAMERA, ...OF_LOADING, ...OF_NETS, ...stored].filter((code) => !(`error.${code}` in nets));
  assert.deepEqual(without, []);
});
