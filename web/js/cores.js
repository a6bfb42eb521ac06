// On how many cores a training may run. Asked on the page: a worker is not told whether its screen is touched.

// An iteration is shared window by window, and eight are learnt from. Each helper holds a program and a share of a training: a telephone or a tablet has little
// memory to spare, and one that says it has less than this, in GiB, none.
const MOST_CORES = 4;
const MOST_CORES_OF_A_PHONE = 2;
const LEAST_MEMORY = 4;

/** @typedef {{ hardwareConcurrency?: number, deviceMemory?: number, userAgent?: string, maxTouchPoints?: number }} Machine What a navigator says of it. */

/** The worker's own among them. @param {number | undefined} wanted @param {Machine} machine */
export function coresFor(wanted, { hardwareConcurrency = 1, deviceMemory = LEAST_MEMORY, userAgent = "", maxTouchPoints = 0 }) {
  if (wanted !== undefined) return Math.min(wanted, MOST_CORES);
  if (deviceMemory < LEAST_MEMORY) return 1;
  // An iPad calls itself a Mac, and no Mac has a screen that is touched.
  const mobile = /Mobi|Android/.test(userAgent) || (/Macintosh/.test(userAgent) && maxTouchPoints > 1);
  return Math.min(hardwareConcurrency, mobile ? MOST_CORES_OF_A_PHONE : MOST_CORES);
}
