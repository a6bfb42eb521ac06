// Offline use: sw.js caches the page's files, and the engine caches the base voice. A newer version takes over when the visitor asks for it.

import { activity } from "./activities.js";
import { phaseOf } from "./shared/activity.js";
import { state, update } from "./state.js";

/** @type {ServiceWorkerRegistration | undefined} */
let registration;

/** Registers the service worker, after the page has loaded, so that nothing waits for it. */
export async function workOffline() {
  if (!("serviceWorker" in navigator) || phaseOf(activity.current) !== "ready") return;
  const { serviceWorker } = navigator;
  // The first version replaces no other.
  if (serviceWorker.controller) serviceWorker.addEventListener("controllerchange", replaced);
  try {
    registration = await serviceWorker.register("sw.js", { updateViaCache: "none" });
    await activated(registration);
  } catch (error) {
    console.info(`This page will need the network again: ${/** @type {Error} */ (error).message}`); // a private window, or files that changed meanwhile
    return update({ offline: { ...state.offline, failed: true } });
  }
  // Browsers delete single files: what is missing is fetched again, and is not said to be there before.
  const isComplete = Boolean(state.studio?.cached) && (await completed(registration));
  const showState = () => update({ offline: { ready: isComplete, newer: isSuperseded || Boolean(registration?.waiting), failed: !isComplete } });
  registration.addEventListener("updatefound", () => registration?.installing?.addEventListener("statechange", showState));
  showState();
}

/** Rejects where the first version cannot be installed: `serviceWorker.ready` would wait for ever. @param {ServiceWorkerRegistration} registration @returns {Promise<void>} */
function activated({ active, waiting, installing }) {
  const worker = waiting ?? installing;
  if (active || !worker) return Promise.resolve();
  return new Promise((resolve, reject) =>
    worker.addEventListener("statechange", () => {
      if (worker.state === "activated") resolve();
      if (worker.state === "redundant") reject(new Error("its files could not be cached"));
    }),
  );
}

/** Lets the service worker fetch what is missing in its cache. @param {ServiceWorkerRegistration} registration @returns {Promise<boolean>} Whether all is cached. */
function completed({ active }) {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = ({ data }) => resolve(data);
    active?.postMessage("complete", [port2]);
  });
}

let isRequested = false;
/** Whether the newer version has taken over at the request of another tab, while this one still shows the old version. */
let isSuperseded = false;

/** Lets the newer version take over, and reloads the page. */
export function activateUpdate() {
  isRequested = true;
  if (registration?.waiting) registration.waiting.postMessage("activate");
  else location.reload(); // it has taken over at the request of another tab
}

/** Reloads the page with the newer version; a tab at work waits for its visitor. */
function replaced() {
  const isAtWork = (phaseOf(activity.current) === "ready" && activity.current !== "idle") || state.files.length > 0;
  if (isRequested || !isAtWork) return location.reload();
  isSuperseded = true;
  update({ offline: { ...state.offline, newer: true } });
}

/** Removes the program and the base voices of this site from this machine; this visit goes on with what it has loaded. What other sites of this origin have cached stays. */
export async function forgetSite() {
  const site = new URL(".", document.baseURI).href;
  const registrations = (await navigator.serviceWorker?.getRegistrations()) ?? [];
  for (const other of registrations) if (other.scope === site) await other.unregister();
  const base = new URL((new URLSearchParams(location.search).get("base") ?? "models/base").replace(/\/?$/, "/"), document.baseURI);
  const own = [`${site}sha256/`, `${site}models/`, `${base}sha256/`];
  for (const name of globalThis.caches ? ["ownvoice-site", "ownvoice-base"] : []) {
    const cache = await caches.open(name);
    const keys = await cache.keys();
    const mine = keys.filter(({ url }) => own.some((prefix) => url.startsWith(prefix)));
    await Promise.all(mine.map((key) => cache.delete(key)));
    if (mine.length === keys.length) await caches.delete(name);
  }
  update({ offline: { ready: false, newer: false, failed: false } });
}
