// Counts GPU dispatches and the bytes of their buffers.

const METHODS = /** @type {const} */ (["dispatchWorkgroups", "dispatchWorkgroupsIndirect"]);

/**
 * Counts until `end()` is called. `bytes` is the size of the buffers bound at each dispatch: the memory traffic if no cache survives from one dispatch to the next and
 * nothing is read twice within one.
 */
export function countDispatches() {
  /** Functions that restore the original methods. @type {(() => void)[]} */
  const ends = [];
  /** Bytes of each bind group. @type {WeakMap<GPUBindGroup, number>} */
  const sizes = new WeakMap();
  /** Bytes bound in each pass, by group index. @type {WeakMap<GPUComputePassEncoder, Map<number, number>>} */
  const bound = new WeakMap();
  const counter = { dispatches: 0, bytes: 0, end: () => ends.forEach((end) => end()) };

  /** Calls `observe` after each call of a method. @param {any} prototype @param {string} name @param {(self: any, args: any[], result: any) => void} observe */
  function watch(prototype, name, observe) {
    const original = prototype[name];
    prototype[name] = function (/** @type {any[]} */ ...args) {
      const result = original.apply(this, args);
      observe(this, args, result);
      return result;
    };
    ends.push(() => (prototype[name] = original));
  }

  watch(GPUDevice.prototype, "createBindGroup", (_, [{ entries }], group) => sizes.set(group, sum([...entries].map(bytesOf))));
  watch(GPUComputePassEncoder.prototype, "setBindGroup", (pass, [index, group]) => {
    const groups = bound.get(pass) ?? new Map();
    bound.set(pass, groups.set(index, sizes.get(group) ?? 0));
  });
  for (const name of METHODS) {
    watch(GPUComputePassEncoder.prototype, name, (pass) => {
      counter.dispatches += 1;
      counter.bytes += sum([...(bound.get(pass)?.values() ?? [])]);
    });
  }
  return counter;
}

/** Returns the bytes of a buffer, or of the bound part of it. @param {{ resource: any }} entry @returns {number} */
const bytesOf = ({ resource }) => resource.size ?? (resource.buffer ? resource.buffer.size - (resource.offset ?? 0) : 0);

/** @param {number[]} values */
const sum = (values) => values.reduce((all, value) => all + value, 0);
