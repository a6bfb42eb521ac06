// How a visit begins: with a voice or as an app, at the text; or with a text that another app has shared, which sw.js puts into the fragment, so that no server sees it.

import { $ } from "./dom.js";
import { show } from "./path.js";
import { say } from "./said.js";
import { consented, state } from "./state.js";

/** Longest time that an audio device takes to start. */
const START_MS = 1000;

/** Takes the fragment out of the address, which the history would keep. */
function taken() {
  const { hash } = location;
  if (hash) history.replaceState(null, "", location.pathname + location.search);
  return hash;
}

const hash = taken();
const shared = /^#say=(.*)$/s.exec(hash)?.[1];

/** Goes to where the visitor was: to the text, which is spoken if it was shared, or on with the making of a voice. Call it once the page is ready. */
export async function arrive() {
  // Those who come back with a voice speak first.
  if (state.voice) {
    document.body.dataset.home = "";
    $("steps").prepend($("talk"));
    $("base").before($("mine"));
  }
  const wantsText = hash === "#speak" || shared !== undefined;
  show(state.voice || state.bank.length || wantsText ? "talk" : state.training.resumable ? "train" : consented(state) ? "read" : "agree");
  if (!wantsText) return;
  if (shared !== undefined) $("text").value = decodeURIComponent(shared);
  $("speak-title").scrollIntoView();
  $("text").focus({ preventScroll: true });
  if (shared === undefined) return;
  // Some browsers play nothing before a click: the context then never starts.
  const probe = new AudioContext();
  const isAllowed = await Promise.race([probe.resume().then(() => true), new Promise((resolve) => setTimeout(resolve, START_MS, false))]);
  await probe.close();
  if (isAllowed) await say();
}
