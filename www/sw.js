// Service worker for offline visits. A version of the page is a list of its files by hash, pkg/site-files.js, which `cargo xtask build` writes. A file whose
// hash differs from the list is neither cached nor served. Versions share files of the same hash.

/** @type {any} */
const worker = self;

worker.importScripts("pkg/site-files.js");
/** @type {{ [path: string]: string }} The first half of the SHA-256, by path. */
const FILES = worker.OWNVOICE_FILES;
/** Hashes of unpacked gzip files: a host that declares them as Content-Encoding makes the browser unpack them. @type {{ [path: string]: string }} */
const UNPACKED = worker.OWNVOICE_UNPACKED;

const SCOPE = worker.registration.scope;
const CACHE = "ownvoice-site";
/** Headers that describe the file; all others belong to the transfer. */
const HEADERS = ["content-type", "content-security-policy", "x-content-type-options", "referrer-policy"];

/** @param {string} hash */
const key = (hash) => new URL(`sha256/${hash}`, SCOPE).href;

/** @param {BufferSource} bytes */
async function sha256(bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes), 0, 16);
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @param {string} path @param {BufferSource} bytes */
const isListed = async (path, bytes) => [FILES[path], UNPACKED[path]].includes(await sha256(bytes));

/** The server has another file than this version lists. */
class Superseded extends Error {}

/** Fetches a file from the network; rejects with `Superseded` where its hash is wrong, and otherwise where there is no network. @param {string} path */
async function fetched(path) {
  const response = await fetch(new URL(path, SCOPE), { cache: "no-cache" });
  const bytes = await response.arrayBuffer();
  if (response.status >= 500) throw new Error(`the server answers ${response.status}`);
  if (!response.ok || !(await isListed(path, bytes))) throw new Superseded(`${path} is not the file that this version lists`);
  const headers = HEADERS.flatMap((name) => (response.headers.has(name) ? [[name, response.headers.get(name) ?? ""]] : []));
  return new Response(bytes, { headers: Object.fromEntries(headers) });
}

/** Returns a cached file if its hash is right: other scripts may write to the cache, and disks fail. @param {Cache} cache @param {string} path */
async function cached(cache, path) {
  const response = await cache.match(key(FILES[path]));
  const isIntact = response && (await isListed(path, await response.clone().arrayBuffer()));
  return isIntact ? response : undefined;
}

/** Caches all files, or fails: an incomplete version is never installed. */
async function install() {
  const cache = await caches.open(CACHE);
  for (const path of Object.keys(FILES)) if (!(await cached(cache, path))) await cache.put(key(FILES[path]), await fetched(path));
}

/** Removes the files of other versions. Other copies of the site on this origin have files in the same cache, which are left alone. */
async function removeOthers() {
  const cache = await caches.open(CACHE);
  const wanted = new Set(Object.values(FILES).map(key));
  for (const { url } of await cache.keys()) if (url.startsWith(key("")) && !wanted.has(url)) await cache.delete(url);
}

/** Returns a file of this version, from the cache or from the network, and caches it again where it is missing. @param {string} path @returns {Promise<Response>} */
async function file(path) {
  const cache = await caches.open(CACHE).catch(() => null); // a cache that fails counts as none
  const intact = await (cache && cached(cache, path).catch(() => null));
  if (intact) return intact;
  const response = await fetched(path); // the browser has evicted it, or it is damaged
  await cache?.put(key(FILES[path]), response.clone()).catch(() => {}); // the disk is full: the next visit fetches it again
  return response;
}

/** @param {string} path */
async function serve(path) {
  try {
    return await file(path);
  } catch (error) {
    // The server has another version by now, and this one is incomplete: the next visit installs the other one.
    if (error instanceof Superseded) await worker.registration.unregister();
    return Response.error();
  }
}

/** Without these files the page cannot even say what is missing. */
const NEEDED = Object.keys(FILES).filter((path) => path === "index.html" || path.endsWith(".js"));

/** Serves the page, or a page that says why it cannot be shown. @param {string} url */
async function serveVisit(url) {
  try {
    await Promise.all(NEEDED.map(file));
    return await file("index.html");
  } catch (error) {
    if (!(error instanceof Superseded)) return missing();
    await worker.registration.unregister();
    return Response.redirect(url); // to the server, which has the other version
  }
}

/** Returns what is shown where a part of the page is missing and there is no network. The words are here because the page's own may be missing too. */
function missing() {
  const isGerman = navigator.language.startsWith("de");
  const [title, words, again] = isGerman
    ? ["Ein Teil dieser Seite fehlt", "Der Browser hat einen Teil dieser Seite gelöscht, und gerade gibt es kein Internet. Ihre Aufnahmen und Stimmen sind noch da. Verbinden Sie das Gerät mit dem Internet und laden Sie die Seite neu.", "Neu laden"]
    : ["A part of this page is missing", "The browser has deleted a part of this page, and there is no internet right now. Your recordings and voices are still here. Connect to the internet, then reload.", "Reload"];
  const html = `<!doctype html><html lang="${isGerman ? "de" : "en"}"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>ownvoice</title><link rel="stylesheet" href="style.css"><body><main><h1>${title}</h1><p>${words}</p><p><a class="button primary" href="">${again}</a></p></main>`;
  return new Response(html, { status: 503, headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": "default-src 'none'; style-src 'self'" } });
}

/** Opens the page with a text that another app shares. It is put into the fragment, which is sent nowhere. @param {Request} request */
async function share(request) {
  const form = await request.formData();
  const words = ["title", "text"].map((name) => form.get(name)).filter(Boolean);
  return Response.redirect(`${SCOPE}#say=${encodeURIComponent(String(words.at(-1) ?? ""))}`, 303);
}

/** Fetches files again that are missing in the cache. @returns {Promise<boolean>} Whether all are cached. */
async function complete() {
  try {
    await install();
    return true;
  } catch {
    return false; // no network, no space, or another version on the server
  }
}

worker.addEventListener("install", (/** @type {any} */ event) => event.waitUntil(install()));
worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(removeOthers()));
worker.addEventListener("message", (/** @type {any} */ event) => {
  if (event.data === "activate") worker.skipWaiting();
  if (event.data === "complete") event.waitUntil(complete().then((isComplete) => event.ports[0].postMessage(isComplete)));
});
worker.addEventListener("fetch", (/** @type {any} */ event) => {
  const { method, url, mode } = event.request;
  const path = url.startsWith(SCOPE) && (decodeURIComponent(url.slice(SCOPE.length).split(/[?#]/)[0]) || "index.html");
  if (method === "POST" && path === "share") event.respondWith(share(event.request));
  if (!path || !Object.hasOwn(FILES, path)) return;
  if (method === "GET") event.respondWith(path === "index.html" && mode === "navigate" ? serveVisit(url) : serve(path));
});
