// What the tests of faults have in common: which points a run tries, and how they are tried.

import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { visit, wav } from "../steps.mjs";
import { walk } from "./walk.mjs";

/** @import { Session } from "../harness.mjs" */
/** @import { Fault } from "./inject.mjs" */

export const MINUTE = 60_000;
/** `FAULTS=1` tries each of the points, which takes hours on two cores; `FAULTS=9` each ninth, `FAULTS=2/9` each ninth from the second on: nine runs try all.
 * Without it, one of each kind is tried. Points of storage and messages are calls, those of the graphics card the results that wait for one: see `awaited`. */
const [STRIDE = 0, FIRST = 1] = (process.env.FAULTS ?? "").split("/").filter(Boolean).map(Number).reverse();
export { STRIDE };
export const LONG = (STRIDE ? 300 : 20) * MINUTE;

/** A page on which nothing runs, in a browser whose microphone hears nothing. @param {Parameters<typeof visit>[0]} options */
export function quiet(options) {
  const microphone = join(mkdtempSync(join(tmpdir(), "ownvoice-silence-")), "silence.wav");
  writeFileSync(microphone, wav(Buffer.alloc(32_000)));
  return visit({ path: "icon.svg", tiny: true, microphone, ...options });
}

/** Those that this run tries, of all points. @param {Fault[]} all */
export const ofThisRun = (all) => all.filter((_, i) => i % STRIDE === FIRST - 1);

/** @param {Session} session @param {Fault} fault @param {import("node:test").TestContext} t */
export async function tried(session, fault, t) {
  const before = session.problems.length;
  let found;
  try {
    found = await walk(session, fault);
  } catch (error) {
    throw new Error(`${JSON.stringify(fault)}: ${/** @type {Error} */ (error).message}`, { cause: error });
  }
  const uncaught = session.problems.slice(before).filter(({ kind }) => kind === "exception");
  assert.deepEqual(uncaught, [], `no error is left to the console; ${JSON.stringify(fault)}`);
  if (found.said.length) t.diagnostic(`${fault.where}: ${fault.name} ${fault.at}${fault.how ? ` (${fault.how})` : ""}: ${found.said.join(" | ")}`);
  return found;
}

/**
 * Tries one point after the other. A walk that failed is told in `faults`, and what follows begins in a new browser, where nothing is left of it.
 * `missed` are the points that their walks did not reach: how often a page reports differs from run to run. Later calls from the same place are not tried.
 * @param {Session} session @param {Fault[]} points @param {import("node:test").TestContext} t @param {() => Promise<Session>} open
 */
export async function triedInTurn(session, points, t, open) {
  const missed = /** @type {Fault[]} */ ([]);
  const faults = /** @type {string[]} */ ([]);
  let failed = 0;
  for (const point of points) {
    if (missed.some(({ where, name, place, at }) => where === point.where && name === point.name && place === point.place && at <= point.at)) continue;
    try {
      const { fired } = await tried(session, point, t);
      if (fired === 0) missed.push(point);
      failed += fired;
    } catch (error) {
      faults.push(/** @type {Error} */ (error).message);
      await session.close();
      session = await open();
    }
  }
  return { session, failed, missed, faults };
}
