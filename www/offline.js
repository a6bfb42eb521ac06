// Offline use: sw.js caches the page's files, the engine the base voice. A newer version takes over when the visitor asks for it.

import { state, update } from "./state.js";

/** @type {ServiceWorkerRegistration | undefined} */
let registration;

/** After the page has loaded, so that nothing waits for it. */
export async function workOffline() {
  if (!("serviceWorker" in navigator) || state.load.status !== "ready") return;
  const { serviceWorker } = navigator;
  // The first version replaces none.
  if (serviceWorker.controller) serviceWorker.addEventListener("controllerchange", replaced);
  try {
    registration = await serviceWorker.register("sw.js", { updateViaCache: "none" });
    await activated(registration);
  } catch (error) {
    console.info(`This page will need the network again: ${/** @type {Error} */ (error).message}`); // a private window, or files that changed meanwhile
    return update({ offline: { ...state.offline, failed: true } });
  }
  const look = () => update({ offline: { ready: state.studio?.cached ?? false, newer: superseded || Boolean(registration?.waiting), failed: !state.studio?.cached } });
  registration.addEventListener("updatefound", () => registration?.installing?.addEventListener("statechange", look));
  look();
}

/** Fails where the first version cannot be installed: `serviceWorker.ready` would wait for ever. @param {ServiceWorkerRegistration} registration @returns {Promise<void>} */
function activated({ active, waiting, installing }) {
  const worker = waiting ?? installing;
  if (active || !worker) return Promise.resolve();
  return new Promise((resolve, reject) =>
    worker.addEventListener("statechange", () => {
      if (worker.state === "activated") resolve();
      if (worker.state === "redundant") reject(new Error("its files could not be kept"));
    }),
  );
}

let asked = false;
/** Whether another tab has let the newer version take over, and this one still shows the old. */
let superseded = false;

/** Lets the newer version take over, and starts it. */
export function activate() {
  asked = true;
  if (registration?.waiting) registration.waiting.postMessage("activate");
  else location.reload(); // another tab has let it take over
}

/** Reloads with the newer version; a tab at work waits for its visitor. */
function replaced() {
  const { training, microphone, files, profile } = state;
  const atWork = ["running", "interrupted", "learned"].includes(training.status) || microphone !== "closed" || files.length > 0 || profile.status === "measuring";
  if (asked || !atWork) location.reload();
  else update({ offline: { ...state.offline, newer: (superseded = true) } });
}

/** Takes the program and the base voice off this machine; this visit goes on with what it has loaded. */
export async function forgetSite() {
  for (const each of (await navigator.serviceWorker?.getRegistrations()) ?? []) if (each.scope === new URL(".", document.baseURI).href) await each.unregister();
  const ours = (await globalThis.caches?.keys() ?? []).filter((name) => name.startsWith("ownvoice-"));
  await Promise.all(ours.map((name) => caches.delete(name)));
  update({ offline: { ready: false, newer: false, failed: false } });
}
