// The activities of the pages: one at a time, as a table allows, with clean-ups that are called however the work ends.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Activity } from "../../www/shared/activity.js";

/** @import { Task } from "../../www/shared/activity.js" */
/** @typedef {"loading" | "failed" | "idle" | "opening" | "recording" | "learning"} Name */

/** A machine that has loaded, and a log of its activities. */
function loaded() {
  /** @type {string[]} */
  const log = [];
  /** @type {Activity<Name>} */
  const activity = new Activity(
    { loading: ["idle", "failed"], failed: [], idle: ["opening", "learning"], opening: ["recording", "learning", "idle"], recording: ["learning", "idle"], learning: ["idle", "failed"] },
    { first: "loading", idle: "idle", onChange: (current) => log.push(current) },
  );
  activity.end();
  return { activity, log };
}

test("a task passes through the activities that the table allows", () => {
  const { activity, log } = loaded();
  assert.equal(activity.begin("recording"), null, "not from idle");
  const task = /** @type {Task<Name>} */ (activity.begin("opening"));
  assert.ok(task.to("recording") && task.to("recording"));
  assert.equal(task.to("opening"), false);
  task.end();
  task.end();
  assert.equal(task.to("learning"), false, "a task that has ended changes nothing");
  assert.deepEqual(log, ["idle", "opening", "recording", "idle"]);
});

test("clean-ups are called once, the last first, where a task ends or another begins", () => {
  const { activity, log } = loaded();
  const task = activity.begin("opening");
  for (const name of ["first", "second"]) task?.onEnd(() => log.push(name));
  const next = activity.begin("learning");
  assert.deepEqual(log, ["idle", "opening", "second", "first", "learning"]);
  assert.ok(task?.isOver && task.signal.aborted && !next?.isOver);
  task.onEnd(() => log.push("late"));
  assert.equal(log.at(-1), "late", "at once, where the task is over");
});

test("work is refused, ends or fails, and the page is idle afterwards", async () => {
  const { activity } = loaded();
  const finish = activity.perform("learning", async (task) => {
    const stopped = new Promise((resolve) => task.stopSignal.addEventListener("abort", resolve));
    assert.equal(await activity.perform("opening", () => assert.fail()), false, "not while another activity runs");
    await stopped;
  });
  activity.stop();
  assert.equal(await finish, true);
  await assert.rejects(activity.perform("learning", () => Promise.reject(new Error("it diverged"))), /diverged/);
  assert.equal(activity.current, "idle");
});

test("cancelling waits for the work, ending does not", async () => {
  const { activity } = loaded();
  let isOver = false;
  const work = activity.perform("learning", async (task) => {
    await new Promise((resolve) => task.signal.addEventListener("abort", resolve));
    await new Promise((resolve) => setTimeout(resolve, 5));
    isOver = task.isOver;
  });
  const returned = activity.cancel();
  assert.equal(activity.current, "learning");
  activity.end();
  assert.equal(activity.current, "idle");
  await returned;
  assert.ok(isOver);
  assert.equal(await work, true);
});

test("a page that has failed stays so", async () => {
  const { activity } = loaded();
  await activity.perform("learning", (task) => task.to("failed"));
  activity.end();
  assert.equal(activity.current, "failed");
  assert.equal(activity.begin("learning"), null);
});
