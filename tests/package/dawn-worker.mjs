// Runs the package's worker in a thread of Node, with the globals that it expects of a browser and WebGPU by Dawn, Chrome's implementation. `dawn.mjs` starts it.

import { parentPort, workerData } from "node:worker_threads";

const { create, globals } = await import(workerData.dawn);
const scope = /** @type {any} */ (globalThis);
Object.assign(scope, globals);
scope.self = scope;
scope.WorkerGlobalScope = function WorkerGlobalScope() {}; // wgpu looks for it before it asks for the GPU
Object.defineProperty(scope, "navigator", { value: { gpu: create(workerData.features) } });

/** @type {{ [kind: string]: ((event: any) => void)[] }} */
const listeners = {};
scope.addEventListener = (/** @type {string} */ kind, /** @type {(event: any) => void} */ listener) => (listeners[kind] ??= []).push(listener);
scope.postMessage = (/** @type {unknown} */ message, /** @type {import("node:worker_threads").TransferListItem[]} */ transfer) => parentPort?.postMessage(message, transfer);
scope.close = () => process.exit();
const fire = (/** @type {string} */ kind, /** @type {object} */ event) => listeners[kind]?.forEach((listener) => listener(event));
process.on("unhandledRejection", (reason) => fire("unhandledrejection", { reason }));
process.on("uncaughtException", (error) => fire("error", { error, message: error.message }));

await import(workerData.url);
parentPort?.on("message", (data) => fire("message", { data })); // earlier messages wait for the listener
