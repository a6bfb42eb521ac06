// The page without the internet: its files are kept by sw.js, the base voice by the engine. And newer versions, which come only when the visitor says so.

import { state, update } from "./state.js";

/** @type {ServiceWorkerRegistration | undefined} */
let registration;

/** After the page has loaded, so that nothing waits for it. */
export async function workOffline() {
  if (!("serviceWorker" in navigator) || state.load.status !== "ready") return;
  try {
    registration = await navigator.serviceWorker.register("sw.js", { updateViaCache: "none" });
    await navigator.serviceWorker.ready;
  } catch (error) {
    console.info(`This page will need the network again: ${/** @type {Error} */ (error).message}`); // a private window, or files that changed meanwhile
    return;
  }
  const look = () => update({ offline: { ready: state.studio?.cached ?? false, newer: Boolean(registration?.waiting) } });
  registration.addEventListener("updatefound", () => registration?.installing?.addEventListener("statechange", look));
  look();
}

/** Lets the newer version take over, and starts it. */
export function activate() {
  navigator.serviceWorker.addEventListener("controllerchange", () => location.reload(), { once: true });
  registration?.waiting?.postMessage("activate");
}

/** Takes the program and the base voice off this machine; this visit goes on with what it has loaded. */
export async function forgetSite() {
  await registration?.unregister();
  const ours = (await globalThis.caches?.keys() ?? []).filter((name) => name.startsWith("ownvoice-"));
  await Promise.all(ours.map((name) => caches.delete(name)));
  update({ offline: { ready: false, newer: false } });
}
