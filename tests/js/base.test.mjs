// The option `base` of `load`, and what is made of the files that hosts answer with.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import { fetchBase, fetchManifest, inFolder } from "../../web/js/download.js";
import { load } from "../../web/js/index.js";
import { fakePage } from "./fake-worker.mjs";

describe("the addresses that the worker fetches", () => {
  /** Returns them. @param {import("node:test").TestContext} t @param {import("../../web/js/options.js").LoadOptions["base"]} base */
  async function addresses(t, base) {
    const workers = fakePage(t);
    await load({ base });
    return workers[0].sent[0].args.base;
  }

  test("of a folder", async (t) => {
    for (const base of ["/models/base", "/models/base/", "../models/base/", new URL("https://example.org/models/base/")]) {
      assert.deepEqual(await addresses(t, base), { manifest: "https://example.org/models/base/manifest.json" });
    }
  });

  test("of files, one by one, as bundlers name them", async (t) => {
    const base = { manifest: "/assets/manifest-1.json", weights: new URL("https://cdn.example/weights-2"), vocoder: undefined };
    assert.deepEqual(await addresses(t, base), { manifest: "https://example.org/assets/manifest-1.json", weights: "https://cdn.example/weights-2" });
  });

  test("of neither, and of none", async (t) => {
    const workers = fakePage(t);
    await assert.rejects(load({ base: /** @type {any} */ ({ default: {} }) }), { code: "option-invalid" });
    await assert.rejects(load(), { code: "base-missing" }); // ownvoice-base is not installed here
    assert.equal(workers.length, 0);
  });
});

describe("the files of a base", () => {
  const { signal } = new AbortController();
  const weights = "the weights";
  const file = { path: "weights", bytes: weights.length, sha256: createHash("sha256").update(weights).digest("hex") };
  const manifest = JSON.stringify({ files: { weights: file } });
  const PAGE = "\n<!doctype html><title>Not here</title>";

  /** Answers requests from a list of files. @param {import("node:test").TestContext} t @param {{ [url: string]: string }} site */
  function host(t, site) {
    t.mock.method(globalThis, "fetch", async (/** @type {string | URL} */ url) => (`${url}` in site ? new Response(site[`${url}`]) : new Response("", { status: 404 })));
  }
  const fetched = (/** @type {import("../../web/js/download.js").Addresses} */ base) => fetchBase(base, manifest, ["weights"], false, [], signal, () => {});

  test("are beside the manifest, or where their addresses say", async (t) => {
    host(t, { "http://a/base/weights": weights, "http://b/assets/w-1": weights });
    for (const base of [inFolder("http://a/base/"), { manifest: "http://a/m-2", weights: "http://b/assets/w-1" }]) {
      assert.equal(new TextDecoder().decode((await fetched(base)).parts.weights), weights);
    }
  });

  test("that are missing, replaced by a page, or damaged have an error with a code and their name", async (t) => {
    const base = { manifest: "http://a/m-2", weights: "http://a/assets/w-1" };
    host(t, {});
    await assert.rejects(fetched(base), { code: "download-failed", message: /\/assets\/w-1 .*404/ });
    await assert.rejects(fetchManifest(base, signal), { code: "download-failed", message: /\/m-2 / });
    host(t, { "http://a/assets/w-1": PAGE, "http://a/m-2": PAGE });
    await assert.rejects(fetched(base), { code: "download-failed", message: /\/assets\/w-1 .*web page/ });
    await assert.rejects(fetchManifest(base, signal), { code: "download-failed", message: /\/m-2 .*web page/ });
    host(t, { "http://a/assets/w-1": "the weight" });
    await assert.rejects(fetched(base), { code: "base-corrupt", message: /\/assets\/w-1 / });
  });

  test("of a newer format are not read", async (t) => {
    const base = inFolder("http://a/");
    for (const [format, code] of [[1, null], [2, "base-unsupported"], ["new", "base-unsupported"]]) {
      host(t, { "http://a/manifest.json": JSON.stringify({ format, files: "elsewhere" }) });
      if (code) await assert.rejects(fetchManifest(base, signal), { code });
      else await fetchManifest(base, signal);
    }
    for (const text of ["{", "null", "{}"]) await assert.rejects(fetchBase(base, text, ["weights"], false, [], signal, () => {}), { code: "base-corrupt" });
  });
});
