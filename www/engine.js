// Loads the engine, and restores what an earlier visit has stored.

import { activity } from "./activities.js";
import { restoreVoices } from "./bank.js";
import { checkRestored, isStoredFile, restoredFiles } from "./files.js";
import { isLost } from "./js/errors.js";
import { OwnvoiceError, load } from "./js/index.js";
import { restoreMicrophone } from "./recording.js";
import { restoreSaid } from "./said.js";
import { loadingProgress, workerUnderPolicy } from "./shared/page.js";
import { SENTENCES, STORAGE, cards, checkClip, isOwn, measureUsage, state, update } from "./state.js";

/** @import { Studio } from "./js/index.js" */
/** @import { Failure, State } from "./state.js" */

/** The folder of the base voice from the page's address. Anybody can write such an address, so only this host is allowed. @param {string} path */
function baseUrl(path) {
  const url = new URL(path, document.baseURI);
  if (url.origin !== location.origin) throw new OwnvoiceError("base-elsewhere", `${url.host} is another host`);
  return url;
}

/** Resolves when the page is ready, or shows why it could not start. */
export const start = () =>
  activity.perform("loading", async (run) => {
    const { signal } = run;
    const query = new URLSearchParams(location.search);
    const device = /** @type {"auto" | "webgpu" | "cpu"} */ (query.get("device") ?? "auto");
    const showProgress = loadingProgress();
    /** @type {Studio | undefined} */
    let studio;
    try {
      studio = await load({
        base: baseUrl(query.get("base") ?? "models/base/"),
        device,
        prompts: "models/prompts.json",
        microphone: true,
        storage: STORAGE,
        workerUrl: workerUnderPolicy("js/worker.js"),
        onProgress: (progress) => update({ loading: showProgress(progress) }),
        onRecovery: (engine) => update({ engine }),
        signal,
      });
      update({ studio });
      await restore(studio, signal);
    } catch (error) {
      if (signal.aborted) studio?.close();
      update({ loadError: signal.aborted ? { code: "deleted", message: "" } : /** @type {Failure} */ (error) });
      run.to("failed");
    }
    await measureUsage();
  });

/** Restores recordings, training and voice of an earlier visit. @param {Studio} studio @param {AbortSignal} signal */
async function restore(studio, signal) {
  const recordings = new Map();
  /** @type {State["files"]} */
  let files = [];
  /** @type {Partial<State>} */
  let restored = {};
  let { training } = state;
  if (studio.storage) {
    try {
      const stored = await studio.storage.recordings();
      files = restoredFiles(stored.filter(isStoredFile));
      for (const recording of stored.filter((each) => !isStoredFile(each))) {
        recordings.set(recording.id, await checkClip(recording, "recording"));
        signal.throwIfAborted();
      }
      const { checkpoint } = await studio.storage.training();
      training = { ...training, resumable: checkpoint };
      await restoreSaid(studio.storage);
      await restoreMicrophone(studio.storage);
      const { voice, similarity } = await restoreVoices(studio);
      if (voice) {
        restored = { voice, likeness: similarity ? { status: "done", part: 1, similarity } : state.likeness };
        training = { ...training, outcome: "opened" };
      }
    } catch (error) {
      // What cannot be read now may be readable at the next visit: the page works without it.
      if (isLost(error)) throw error;
      training = { ...training, error: /** @type {Failure} */ (error) };
    }
  }
  signal.throwIfAborted();
  const own = [...recordings.values()].filter(isOwn).map(({ id, text }) => ({ id, text }));
  const prompts = cards(studio, Math.max(SENTENCES, 1 + studio.prompts.findLastIndex(({ id }) => recordings.has(id))), own);
  const firstOpen = prompts.findIndex(({ id }) => !recordings.get(id)?.report);
  update({ ...restored, prompts, recordings, files, source: files.length && !recordings.size ? "files" : "record", training, current: Math.max(0, firstOpen) });
  checkRestored();
}
