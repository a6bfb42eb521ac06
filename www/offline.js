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
  const showState = () => update({ offline: { ready: state.studio?.cached ?? false, newer: isSuperseded || Boolean(registration?.waiting), failed: !state.studio?.cached } });
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

/** Removes the program and the base voice from this machine; this visit goes on with what it has loaded. */
export async function forgetSite() {
  const registrations = (await navigator.serviceWorker?.getRegistrations()) ?? [];
  for (const other of registrations) if (other.scope === new URL(".", document.baseURI).href) await other.unregister();
  const names = ((await globalThis.caches?.keys()) ?? []).filter((name) => name.startsWith("ownvoice-"));
  await Promise.all(names.map((name) => caches.delete(name)));
  update({ offline: { ready: false, newer: false, failed: false } });
}
