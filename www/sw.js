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

/** Fetches a file from the network; rejects where its hash is wrong. @param {string} path */
async function fetched(path) {
  const response = await fetch(new URL(path, SCOPE), { cache: "no-cache" });
  const bytes = await response.arrayBuffer();
  if (!response.ok || !(await isListed(path, bytes))) throw new Error(`${path} is not the file that this version lists`);
  const headers = HEADERS.flatMap((name) => (response.headers.has(name) ? [[name, response.headers.get(name) ?? ""]] : []));
  return new Response(bytes, { headers: Object.fromEntries(headers) });
}

/** Returns a cached file if its hash is right: other scripts may write to the cache, and disks fail. @param {Cache} cache @param {string} path */
async function cached(cache, path) {
  const response = await cache.match(key(FILES[path]));
  const isIntact = response && (await isListed(path, await response.clone().arrayBuffer()));
  return isIntact ? response : undefined;
}

/** Caches all files, or fails: an incomplete version never serves. */
async function install() {
  const cache = await caches.open(CACHE);
  for (const path of Object.keys(FILES)) if (!(await cached(cache, path))) await cache.put(key(FILES[path]), await fetched(path));
}

/** Removes the files of other versions. */
async function removeOthers() {
  const cache = await caches.open(CACHE);
  const wanted = new Set(Object.values(FILES).map(key));
  for (const { url } of await cache.keys()) if (!wanted.has(url)) await cache.delete(url);
}

/** @param {string} path */
async function serve(path) {
  const cache = await caches.open(CACHE).catch(() => null); // a cache that fails counts as none
  const intact = await (cache && cached(cache, path).catch(() => null));
  if (intact) return intact;
  try {
    const response = await fetched(path); // the browser has evicted it, or it is damaged
    await cache?.put(key(FILES[path]), response.clone()).catch(() => {}); // the disk is full: the next visit fetches it again
    return response;
  } catch {
    // The server has another version by now, and this one is incomplete: the next visit installs the other one.
    await worker.registration.unregister();
    return Response.error();
  }
}

worker.addEventListener("install", (/** @type {any} */ event) => event.waitUntil(install()));
worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(removeOthers()));
worker.addEventListener("message", (/** @type {any} */ { data }) => data === "activate" && worker.skipWaiting());
worker.addEventListener("fetch", (/** @type {any} */ event) => {
  const { method, url } = event.request;
  const path = url.startsWith(SCOPE) && (decodeURIComponent(url.slice(SCOPE.length).split(/[?#]/)[0]) || "index.html");
  if (method === "GET" && path && Object.hasOwn(FILES, path)) event.respondWith(serve(path));
});
