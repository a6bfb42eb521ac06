// Makes tests/fixtures/lips: a silent video of a drawn face that says a sentence of no training, and the speech that the command line makes from it. Run it
// by hand, with ffmpeg and `ownvoice` installed, when models/lips changes.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "./harness.mjs";

const OUT = join(ROOT, "tests/fixtures/lips");
const VOICE = "kokoro-af_heart";
const drawn = mkdtempSync(join(tmpdir(), "ownvoice-lips-"));
/** @param {string[]} options */
const ownvoice = (...options) => execFileSync("ownvoice", options, { cwd: ROOT, stdio: "inherit" });

mkdirSync(OUT, { recursive: true });
ownvoice("lips", "corpus", "--out", drawn, "--voices", VOICE, "--sentences", "1", "--texts", "held-out-commands", "--seed", "2");
const video = join(OUT, "silent.mp4");
execFileSync("ffmpeg", ["-v", "error", "-y", "-bitexact", "-i", join(drawn, VOICE, `${VOICE}-0000.mp4`), "-an", "-c:v", "libx264", "-preset", "veryslow", "-crf", "27", video]);
ownvoice("lips", "say", video, "--base", "models/lips", "--speaker", VOICE, "--out", join(OUT, "heard.wav"));
