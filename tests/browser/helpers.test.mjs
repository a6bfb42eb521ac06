// Training on several cores learns the same as on one core, also where a helper ends.

import assert from "node:assert/strict";
import { test } from "node:test";
import { run, visit, withPackage } from "./steps.mjs";

const TEXT = "The rabbit did not wait for a better offer.";

/** Ends a helper at its third shard without an event, as a browser does that is out of memory. */
const DYING = `
if (self.name === "ownvoice helper") {
  let shares = 0;
  self.addEventListener("message", ({ data }) => {
    if (data.method !== "gradients" || ++shares !== 3) return;
    new BroadcastChannel("deaths").postMessage(shares);
    self.close();
  });
}
`;
/** Ends a helper by an error in its script. */
const THROWING = DYING.replace("self.close()", "setTimeout(() => { throw new Error('a helper fails') })");
/** Counts the workers that the page's worker starts. */
const COUNTING = `
const Own = self.Worker;
let started = 0;
self.Worker = class extends Own { constructor(...args) { super(...args); started++; } };
const post = self.postMessage.bind(self);
self.postMessage = (message, ...rest) => {
  if (message.progress?.status === "training") message.progress.workers = started;
  post(message, ...rest);
};
`;

/** Trains twice on a number of cores; returns the spectrograms of the second voice and of the base. @param {number} cores @param {string} [script] A prefix of the worker's script. */
async function learned(cores, script = "") {
  const session = await visit({ device: "cpu", path: "icon.svg", tiny: true });
  try {
    session.change("js/worker.js", (body) => Buffer.concat([Buffer.from(COUNTING + script), body]));
    await withPackage(session, 2, "cpu", cores);
    return await run(
      session,
      `const losses = [];
      let workers = 0, deaths = 0;
      new BroadcastChannel("deaths").onmessage = () => deaths++;
      const onStep = (step) => { if (step.status === "training") { losses.push(step.loss); workers = step.workers; } };
      await studio.clone(clips, { iterations: 10, seed: 1, rehearsal: 0.3, onStep });
      const voice = await studio.clone(clips, { iterations: 10, seed: 1, rehearsal: 0.3, onStep });
      const mel = async (voice) => [...(await voice.say(input)).mel.data];
      return { losses, workers, deaths, cores: studio.device.cores, clone: await mel(voice), base: await mel(studio.base) };`,
      TEXT,
    );
  } finally {
    await session.close();
  }
}

/** The mean distance in the frames that both have, since a clone has its own timing. @param {number[]} a @param {number[]} b */
const difference = (a, b) => {
  const shared = a.slice(0, b.length);
  return shared.reduce((sum, x, i) => sum + Math.abs(x - b[i]), 0) / shared.length;
};

test("several cores learn the same as one core, whether or not a helper ends", async () => {
  const one = await learned(1);
  assert.equal(one.workers, 0);
  assert.equal(one.losses.length, 20);
  const changed = difference(one.clone, one.base);
  assert.ok(changed > 0.02, `it learned something: ${changed}`);
  for (const [name, cores, script] of /** @type {[string, number, string][]} */ ([["two cores", 2, ""], ["four cores", 4, ""], ["a helper that ends", 2, DYING], ["a helper that fails", 2, THROWING]])) {
    const several = await learned(cores, script);
    assert.deepEqual([several.cores, several.workers, several.deaths], [cores, cores - 1, script ? 1 : 0], name);
    assert.equal(several.losses.length, 20, name);
    several.losses.forEach((/** @type {number} */ loss, /** @type {number} */ i) => assert.ok(Math.abs(loss - one.losses[i]) < 1e-3, `${name}: ${several.losses} and ${one.losses}`));
    assert.equal(several.clone.length, one.clone.length, name);
    const apart = difference(several.clone, one.clone);
    assert.ok(apart < changed / 20, `${name}: ${apart} apart, ${changed} from the base`);
  }
});

test("two trainings at the same time do not mix", async () => {
  const session = await visit({ device: "cpu", path: "icon.svg", tiny: true });
  try {
    await withPackage(session, 4, "cpu", 2);
    const { alone, together, message } = await run(
      session,
      `const learn = async (clips, seed) => {
        const losses = [];
        await studio.clone(clips, { iterations: 10, seed, onStep: (step) => step.status === "training" && losses.push(step.loss) });
        return losses;
      };
      const trainings = [[clips.slice(0, 2), 1], [clips.slice(2), 2]];
      const alone = [];
      for (const [clips, seed] of trainings) alone.push(await learn(clips, seed));
      return { alone, together: await Promise.all(trainings.map(([clips, seed]) => learn(clips, seed))) };`,
    );
    assert.equal(message, undefined);
    assert.equal(alone.flat().length, 20);
    const apart = alone.flat().map((/** @type {number} */ loss, /** @type {number} */ i) => Math.abs(loss - together.flat()[i]));
    assert.ok(Math.max(...apart) < 1e-3, JSON.stringify({ alone, together }));
  } finally {
    await session.close();
  }
});
