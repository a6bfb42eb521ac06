// Counts GPU dispatches and the bytes of their buffers.

const METHODS = /** @type {const} */ (["dispatchWorkgroups", "dispatchWorkgroupsIndirect"]);

/**
 * Counts until `end()`. `bytes` is the size of the buffers bound at each dispatch: the memory traffic if no cache survives from one dispatch to the next and
 * nothing is read twice within one.
 */
export function countDispatches() {
  /** Restore the methods. @type {(() => void)[]} */
  const ends = [];
  /** Bytes of a group of buffers. @type {WeakMap<GPUBindGroup, number>} */
  const sizes = new WeakMap();
  /** Bytes bound for a pass's next dispatch, by group index. @type {WeakMap<GPUComputePassEncoder, Map<number, number>>} */
  const bound = new WeakMap();
  const counter = { dispatches: 0, bytes: 0, end: () => ends.forEach((end) => end()) };

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

  watch(GPUDevice.prototype, "createBindGroup", (_, [{ entries }], group) => sizes.set(group, sum([...entries].map(bytesOf))));
  watch(GPUComputePassEncoder.prototype, "setBindGroup", (pass, [place, group]) => {
    const groups = bound.get(pass) ?? new Map();
    bound.set(pass, groups.set(place, sizes.get(group) ?? 0));
  });
  for (const name of METHODS) {
    watch(GPUComputePassEncoder.prototype, name, (pass) => {
      counter.dispatches += 1;
      counter.bytes += sum([...(bound.get(pass)?.values() ?? [])]);
    });
  }
  return counter;
}

/** Bytes of a buffer, or of the bound part of it. @param {{ resource: any }} entry @returns {number} */
const bytesOf = ({ resource }) => resource.size ?? (resource.buffer ? resource.buffer.size - (resource.offset ?? 0) : 0);

/** @param {number[]} values */
const sum = (values) => values.reduce((all, value) => all + value, 0);
