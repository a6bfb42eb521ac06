// Counts the calls that may fail in a browser, and lets requested ones fail: storage, messages between page, worker and helpers, the GPU. Its text is
// evaluated in page, worker, helper and service worker, before their own scripts. A fault is a function in one of them, with the number of a call.

/** `place`, for calls to the GPU: the positions of the stack.
 * @typedef {{ where: "page" | "worker" | "helper" | "service worker", name: string, place?: string }} Call */
/** `at`: the number of the call, among those from `place` if that is given. `lasting`: all later calls fail too.
 * `how`, for calls to the GPU: the device is lost, out of memory, or the call is invalid; without it, the call throws.
 * @typedef {Call & { at: number, lasting?: boolean, how?: "lost" | "memory" | "invalid" }} Fault */

/** @param {Fault | null} fault @param {boolean} armed Whether the fault belongs to this context, among several that run the same script. */
export function injectFaults(fault, armed) {
  /** Functions by class, with the errors that browsers throw. */
  const CALLS = {
    InvalidStateError: {
      StorageManager: ["getDirectory"],
      FileSystemDirectoryHandle: ["getDirectoryHandle", "getFileHandle", "removeEntry"],
      FileSystemFileHandle: ["createSyncAccessHandle", "getFile"],
      FileSystemSyncAccessHandle: ["write", "flush", "close"],
      CacheStorage: ["open", "delete", "keys"],
      Cache: ["match", "put", "delete", "keys"],
      Storage: ["getItem", "setItem", "removeItem"],
    },
    DataCloneError: { Worker: ["postMessage"] },
    OperationError: {
      GPU: ["requestAdapter"],
      GPUAdapter: ["requestDevice"],
      GPUDevice: ["createBuffer", "popErrorScope"],
      GPUQueue: ["submit"],
      GPUBuffer: ["mapAsync"],
    },
  };
  const SYNCHRONOUS = ["write", "flush", "close", "getItem", "setItem", "removeItem", "postMessage", "createBuffer", "submit"];

  const scope = /** @type {any} */ (globalThis);
  const where = scope.document ? "page" : scope.name === "ownvoice helper" ? "helper" : scope.registration ? "service worker" : "worker";
  const channel = new BroadcastChannel("faults");
  const noted = { calls: /** @type {Call[]} */ ([]), fired: 0, paused: false };
  const note = (/** @type {Call | { fired: number }} */ found) => ("fired" in found ? (noted.fired += found.fired) : noted.calls.push(found));
  if (where === "page") {
    scope.faults = noted;
    channel.onmessage = ({ data }) => note(data);
  }
  const tell = (/** @type {any} */ found) => (where === "page" ? note(found) : channel.postMessage(found));

  Error.stackTraceLimit = 100;
  /** @param {string} name */
  const placeOf = (name) => (name.startsWith("GPU") ? new Error().stack?.match(/0x[\da-f]+|\d+:\d+(?=\))/g)?.join(" ") : undefined);

  let count = 0;
  /** The GPU device in use. @type {any} */
  let card;
  /** Counts a call. @param {string} name @returns {boolean} Whether it is to fail. */
  const fails = (name) => {
    if (noted.paused) return false;
    const place = placeOf(name);
    tell({ where, name, place });
    if (!armed || fault?.where !== where || fault.name !== name || (fault.place && fault.place !== place)) return false;
    count += 1;
    const failing = fault.lasting ? count >= fault.at : count === fault.at;
    if (failing) tell({ fired: 1 });
    return failing;
  };

  /** Does what a failing call does in place of the real one. @param {string} method @param {string} error @param {() => any} real @param {any[]} args @param {(args: any[]) => any} call */
  const fail = (method, error, real, args, call) => {
    if (method === "close") real(); // closed all the same
    if (fault?.how === "lost") return card.destroy(), real();
    if (fault?.how === "memory") return call([{ ...args[0], size: 2 ** 50 }]);
    if (fault?.how === "invalid") return method === "popErrorScope" ? new scope.GPUValidationError("fault") : call([{ ...args[0], usage: 0 }]);
    throw new DOMException(`fault ${fault?.at} at ${fault?.name}`, error);
  };

  /** @param {any} target @param {string} method @param {string} name @param {string} error */
  const wrap = (target, method, name, error) => {
    const original = target[method];
    const attempt = (/** @type {any} */ self, /** @type {any[]} */ args) => {
      const call = (/** @type {any[]} */ args) => original.apply(self, args);
      // This is sessionStorage, which the page does not use.
      if (method.endsWith("Item") && self !== scope.localStorage) return call(args);
      return fails(name) ? fail(method, error, () => call(args), args, call) : call(args);
    };
    target[method] = SYNCHRONOUS.includes(method)
      ? /** @this {any} @param {any[]} args */ function (...args) { return attempt(this, args); }
      : /** @this {any} @param {any[]} args */ async function (...args) {
          const found = await attempt(this, args);
          if (method === "requestDevice") card = found;
          return found;
        };
  };
  for (const [error, classes] of Object.entries(CALLS)) {
    for (const [type, methods] of Object.entries(classes)) {
      for (const method of methods) if (scope[type]?.prototype[method]) wrap(scope[type].prototype, method, `${type}.${method}`, error);
    }
  }
  // A function of a worker's global object, not of its class; pages and service workers have other ones.
  if (where === "worker" || where === "helper") wrap(scope, "postMessage", "postMessage", "DataCloneError");
}
