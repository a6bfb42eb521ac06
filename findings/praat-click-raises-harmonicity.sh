#!/usr/bin/env bash
# Praat 6.1.38 (PyPI praat-parselmouth 0.4.7): one click raises the mean harmonics-to-noise ratio of a recording, from 21.5 to 29 dB here.
#
# A click is noise, so it should lower the ratio. But `To Harmonicity` has a silence threshold, 0.1 in all of Praat's dialogs, that is relative to the highest
# peak of the whole sound, not to a level. A click of one sample, even in a pause, raises that peak. Every frame below a tenth of it then counts as silent, gets
# -200 dB, and is left out by `Get mean`. What is left out is what is quiet, which is also what is breathy: the mean rises because the worse frames are
# no longer counted. Scaling the sound to a common peak or level beforehand changes nothing. Compare means only beside the number of frames that they
# count, or lower the threshold: at 0.01 the click lowers the mean, as expected.
#
# Exits with 0 if the behaviour is as described, otherwise with 1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m pip install --quiet --disable-pip-version-check --no-compile --target python numpy==2.4.6 praat-parselmouth==0.4.7

cat > finding.py <<'PYTHON'
import sys

import numpy as np
import parselmouth
from parselmouth.praat import call

print("praat-parselmouth", parselmouth.__version__, "Praat", parselmouth.PRAAT_VERSION, "numpy", np.__version__)
RATE = 16000
noise = np.random.default_rng(3)


def vowel(breath):
    """One second of an [a] of 120 Hz with a peak of 0.3, and noise with this standard deviation."""
    time = np.arange(RATE) / RATE
    formants = [(700, 90, 1), (1200, 110, 0.5), (2600, 160, 0.2)]  # centre and bandwidth in Hz, amplitude
    sound = sum(
        sum(amplitude / (1 + ((hz - centre) / width) ** 2) for centre, width, amplitude in formants) * np.sin(2 * np.pi * hz * time)
        for hz in range(120, 4000, 120)
    )
    return 0.3 * sound / np.abs(sound).max() + breath * noise.standard_normal(RATE)


pause = np.zeros(RATE // 4)
# A clear vowel and a quiet, breathy one, as at the end of a phrase.
recording = np.concatenate([pause, vowel(0.003), pause, 0.25 * vowel(0.02), pause])
recording += 1e-5 * noise.standard_normal(len(recording))


def harmonicity(click_at, threshold):
    """Returns Praat's mean in dB and the number of frames that it counts."""
    samples = recording.copy()
    if click_at is not None:
        samples[click_at] += 0.9
    result = parselmouth.Sound(samples, RATE).to_harmonicity_cc(time_step=0.01, minimum_pitch=60, silence_threshold=threshold)
    return call(result, "Get mean", 0, 0), int((result.values > -199).sum())


measured = {}
for threshold in [0.1, 0.01]:
    for place, at in {"no click": None, "click in the first pause": RATE // 8, "click in the clear vowel": 3 * RATE // 4}.items():
        measured[threshold, place] = mean, frames = harmonicity(at, threshold)
        print(f"silence threshold {threshold}, {place}: mean {mean:.1f} dB of {frames} frames")
clean, paused, voiced = (measured[0.1, place][0] for place in ["no click", "click in the first pause", "click in the clear vowel"])
low_clean, low_voiced = (measured[0.01, place][0] for place in ["no click", "click in the clear vowel"])
holds = paused > clean + 5 and voiced > clean + 5 and low_voiced < low_clean
print("One click raises the mean harmonicity." if holds else "The behaviour has changed.")
sys.exit(not holds)
PYTHON
PYTHONPATH=python python3 finding.py
