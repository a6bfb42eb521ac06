// How often something is launched on the graphics card, and how many bytes it is given.

const LAUNCHES = /** @type {const} */ (["dispatchWorkgroups", "dispatchWorkgroupsIndirect"]);

/**
 * Counts from now on, until `end()`. `bytes` are those of the buffers that each launch is given, read or written once: what crosses the card's memory
 * if nothing stays in its caches from one launch to the next, and nothing is read twice within one.
 */
export function countLaunches() {
  /** What is put back in the end. @type {(() => void)[]} */
  const ends = [];
  /** Bytes of a group of buffers. @type {WeakMap<GPUBindGroup, number>} */
  const sizes = new WeakMap();
  /** Those that a pass's next launch is given, by their place. @type {WeakMap<GPUComputePassEncoder, Map<number, number>>} */
  const given = new WeakMap();
  const counter = { launches: 0, bytes: 0, end: () => ends.forEach((end) => end()) };

  /** @param {any} prototype @param {string} name @param {(self: any, args: any[], result: any) => void} see */
  function watch(prototype, name, see) {
    const before = prototype[name];
    prototype[name] = function (/** @type {any[]} */ ...args) {
      const result = before.apply(this, args);
      see(this, args, result);
      return result;
    };
    ends.push(() => (prototype[name] = before));
  }

  watch(GPUDevice.prototype, "createBindGroup", (_, [{ entries }], group) => sizes.set(group, sum([...entries].map(bound))));
  watch(GPUComputePassEncoder.prototype, "setBindGroup", (pass, [place, group]) => {
    const groups = given.get(pass) ?? new Map();
    given.set(pass, groups.set(place, sizes.get(group) ?? 0));
  });
  for (const name of LAUNCHES) {
    watch(GPUComputePassEncoder.prototype, name, (pass) => {
      counter.launches += 1;
      counter.bytes += sum([...(given.get(pass)?.values() ?? [])]);
    });
  }
  return counter;
}

/** Bytes of a buffer, or of a part of one. @param {{ resource: any }} entry @returns {number} */
const bound = ({ resource }) => resource.size ?? (resource.buffer ? resource.buffer.size - (resource.offset ?? 0) : 0);

/** @param {number[]} values */
const sum = (values) => values.reduce((all, value) => all + value, 0);
