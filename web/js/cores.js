// How many cores a training uses. Determined on the page: a worker has no access to the kind of the screen.

// The eight windows of an iteration are divided among the cores. Each helper holds a WebAssembly module and a shard in memory, of which phones and tablets have
// little; with less than MIN_MEMORY GiB there are no helpers.
const MAX_CORES = 4;
const MAX_CORES_OF_A_PHONE = 2;
const MIN_MEMORY = 4;

/** The properties of `navigator` that decide. @typedef {{ hardwareConcurrency?: number, deviceMemory?: number, userAgent?: string, maxTouchPoints?: number }} Machine */

/** Returns the number of cores, the worker's own included. @param {number | undefined} wanted @param {Machine} machine */
export function coresFor(wanted, { hardwareConcurrency = 1, deviceMemory = MIN_MEMORY, userAgent = "", maxTouchPoints = 0 }) {
  if (wanted !== undefined) return Math.min(wanted, MAX_CORES);
  if (deviceMemory < MIN_MEMORY) return 1;
  // An iPad reports itself as a Mac, and no Mac has a touch screen.
  const mobile = /Mobi|Android/.test(userAgent) || (/Macintosh/.test(userAgent) && maxTouchPoints > 1);
  return Math.min(hardwareConcurrency, mobile ? MAX_CORES_OF_A_PHONE : MAX_CORES);
}
