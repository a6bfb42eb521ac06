// The page answers at once: its thread is never busy for more than 50 ms at a time, beside the start of the program.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { SENTENCES, inOrder, learned, ready, record, sound, visit, wav } from "./steps.mjs";

/** @import { Session } from "./harness.mjs" */

const MINUTE = 60_000;
const MOST_MS = 50;

/** Returns the longest tasks of the page's thread while something is done, in milliseconds of that thread's own time: a busy machine does not count.
 * @param {Session} session @param {() => Promise<unknown>} action */
async function longestTasks({ context, page }, action) {
  const devtools = await context.newCDPSession(page);
  /** @type {any[]} */
  const events = [];
  devtools.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  await devtools.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: { includedCategories: ["toplevel", "devtools.timeline"] } });
  await action();
  const complete = new Promise((resolve) => devtools.once("Tracing.tracingComplete", resolve));
  await devtools.send("Tracing.end");
  await complete;
  await devtools.detach();
  const mains = new Set(events.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain").map(({ pid, tid }) => `${pid} ${tid}`));
  const ofPage = events.filter(({ pid, tid, ph }) => ph === "X" && mains.has(`${pid} ${tid}`));
  const tasks = ofPage.filter(({ name }) => /RunTask$/.test(name)).sort((a, b) => b.tdur - a.tdur);
  assert.ok(tasks.length > 10, "tasks are seen");
  // What each long one did, for the message.
  return tasks.slice(0, 5).map(({ ts, dur, tdur }) => {
    const inside = ofPage.filter((other) => other.ts >= ts && other.ts + other.dur <= ts + dur && other.tdur > tdur / 4 && !/RunTask$/.test(other.name));
    return { ms: Math.round(tdur / 1000), what: inside.map(({ name, args, tdur }) => `${name} ${Math.round(tdur / 1000)} ${args?.data?.functionName ?? args?.data?.type ?? ""} ${args?.data?.url ?? ""}`).slice(0, 6) };
  });
}

test("no task of the page's thread takes more than 50 ms: reading, files, learning with details, speaking", { timeout: 8 * MINUTE }, async (t) => {
  const { path: microphone, parts } = inOrder(1);
  const session = await visit({ device: "cpu", tiny: true, microphone });
  t.after(() => session.close());
  const { page } = session;
  await ready(session);
  await page.waitForTimeout(1000);
  // By their paths: Playwright would make their contents in the page.
  const folder = mkdtempSync(join(tmpdir(), "ownvoice-files-"));
  writeFileSync(join(folder, "metadata.csv"), SENTENCES.map(({ id, text }) => `${id}|${text}`).join("\n"));
  SENTENCES.forEach(({ id }, index) => writeFileSync(join(folder, `${id}.wav`), wav(sound(index))));
  const files = readdirSync(folder).map((name) => join(folder, name));
  const flows = {
    reading: () => record(page, parts),
    files: async () => {
      await page.check("input[value=files]", { force: true });
      await page.setInputFiles("#file-input", files);
      await page.waitForFunction((count) => document.querySelectorAll("#file-list .verdict[data-state=good]").length === count, SENTENCES.length, { timeout: MINUTE });
      await page.check("#files-agreed");
    },
    learning: async () => {
      await page.click("#details > summary");
      await page.click("#train-start");
      await learned(page, 2 * MINUTE);
      await page.waitForSelector("#likeness-bars:not([hidden])", { timeout: MINUTE });
    },
    speaking: async () => {
      await page.fill("#text", SENTENCES.map(({ text }) => text).join(" ").repeat(3));
      await page.click("#mine .say");
      await page.waitForSelector("#mine .download:not([hidden])", { timeout: 2 * MINUTE });
    },
  };
  const long = [];
  for (const [name, flow] of Object.entries(flows)) {
    const longest = await longestTasks(session, flow);
    t.diagnostic(`${name}: ${longest.map(({ ms }) => ms).join(", ")} ms`);
    long.push(...longest.filter(({ ms }) => ms > MOST_MS).map((task) => ({ name, ...task })));
  }
  assert.deepEqual(long, []);
  session.assertQuiet();
});
