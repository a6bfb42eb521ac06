// Keeps the screen on during training: a phone that locks itself suspends every page.

let wanted = false;
/** @type {WakeLockSentinel | null} */
let held = null;

/** Browsers release the lock when the page is hidden, and refuse it when the battery is low. */
async function hold() {
  if (!wanted || held || document.visibilityState !== "visible") return;
  try {
    held = (await navigator.wakeLock?.request("screen")) ?? null;
    held?.addEventListener("release", () => (held = null));
    if (!wanted) await held?.release();
  } catch (error) {
    console.info(`The screen may turn itself off: ${/** @type {Error} */ (error).message}`);
  }
}

document.addEventListener("visibilitychange", hold);

/** @param {boolean} on */
export async function stayAwake(on) {
  wanted = on;
  await (on ? hold() : held?.release());
}
