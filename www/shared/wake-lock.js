// Keeps the screen on during training: a phone that locks itself suspends every page.

let isWanted = false;
/** @type {WakeLockSentinel | null} */
let lock = null;

/** Browsers release the lock when the page is hidden, and refuse it when the battery is low. */
async function request() {
  if (!isWanted || lock || document.visibilityState !== "visible") return;
  try {
    lock = (await navigator.wakeLock?.request("screen")) ?? null;
    lock?.addEventListener("release", () => (lock = null));
    if (!isWanted) await lock?.release();
  } catch (error) {
    console.info(`The screen may turn itself off: ${/** @type {Error} */ (error).message}`);
  }
}

document.addEventListener("visibilitychange", request);

/** @returns {() => void} Lets the screen turn itself off again. */
export function keepScreenOn() {
  isWanted = true;
  request();
  return () => {
    isWanted = false;
    lock?.release();
  };
}
