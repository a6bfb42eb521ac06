// How often something is launched on the graphics card.

const LAUNCHES = /** @type {const} */ (["dispatchWorkgroups", "dispatchWorkgroupsIndirect"]);

/** Counts from now on, until `end()`. */
export function countLaunches() {
  const { prototype } = GPUComputePassEncoder;
  const before = LAUNCHES.map((name) => prototype[name]);
  const counter = { launches: 0, end: () => LAUNCHES.forEach((name, index) => Object.assign(prototype, { [name]: before[index] })) };
  for (const name of LAUNCHES) {
    const launch = /** @type {(...args: any[]) => undefined} */ (prototype[name]);
    prototype[name] = function (/** @type {any[]} */ ...args) {
      counter.launches += 1;
      return launch.apply(this, args);
    };
  }
  return counter;
}
