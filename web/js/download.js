// Fetching with progress, and with the hash that a manifest promises.

import { OwnvoiceError } from "./rpc.js";

/**
 * @param {string | URL} url
 * @param {AbortSignal} signal
 * @returns {Promise<Response>}
 */
export async function get(url, signal) {
  let response;
  try {
    response = await fetch(url, { signal });
  } catch (error) {
    if (signal.aborted) throw new OwnvoiceError("cancelled", "cancelled");
    throw new OwnvoiceError("download-failed", `${new URL(url).pathname} could not be fetched: ${/** @type {Error} */ (error).message}`);
  }
  if (!response.ok) throw new OwnvoiceError("download-failed", `${new URL(url).pathname} answered ${response.status}`);
  return response;
}

/**
 * The same response, with its bytes counted as they pass.
 * @param {Response} response
 * @param {(loadedBytes: number) => void} onBytes
 */
export function counted(response, onBytes) {
  let loaded = 0;
  const counter = new TransformStream({
    transform(chunk, controller) {
      onBytes((loaded += chunk.byteLength));
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body?.pipeThrough(counter), { headers: { "content-type": response.headers.get("content-type") ?? "" } });
}

/** @param {BufferSource} bytes @returns {Promise<string>} */
export async function sha256(bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * @param {URL} url
 * @param {{ bytes: number, sha256: string }} promised
 * @param {AbortSignal} signal
 * @param {(loadedBytes: number) => void} onBytes
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
export async function verified(url, promised, signal, onBytes) {
  const response = counted(await get(url, signal), onBytes);
  let bytes;
  try {
    bytes = new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    if (signal.aborted) throw new OwnvoiceError("cancelled", "cancelled");
    throw new OwnvoiceError("download-failed", `${url.pathname} broke off: ${/** @type {Error} */ (error).message}`);
  }
  const found = await sha256(bytes);
  if (found !== promised.sha256) throw new OwnvoiceError("base-corrupt", `${url.pathname} is not the file that its manifest names`);
  return bytes;
}
