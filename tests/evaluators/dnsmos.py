"""How clean speech sounds, by an external evaluator: DNSMOS P.835 (Reddy et al. 2022), as PyPI's `speechmos` carries it.

A development tool: nothing of the product needs it.

    pip install --no-deps speechmos && pip install onnxruntime numpy soundfile
    python tests/evaluators/dnsmos.py FOLDER [FOLDER ..]      # 16 kHz WAV files; a line a folder

Prints the means of its opinions from 1 to 5: of the speech, of the background, of the whole.
"""

import pathlib
import sys
from importlib.util import find_spec

import numpy as np
import onnxruntime
import soundfile

SAMPLES = 144160  # what the network listens to at once: 9.01 s; shorter clips are repeated
# From the network's outputs to opinions, as the authors fitted them.
SPEECH = np.poly1d([-0.08397278, 1.22083953, 0.0052439])
BACKGROUND = np.poly1d([-0.13166888, 1.60915514, -0.39604546])
OVERALL = np.poly1d([-0.06766283, 1.11546468, 0.04602535])


def network():
    folder = pathlib.Path(find_spec("speechmos").submodule_search_locations[0])
    return onnxruntime.InferenceSession(str(folder / "dnsmos_models/sig_bak_ovr.onnx"))


def opinions(evaluator, path):
    samples, rate = soundfile.read(path, dtype="float32")
    if rate != 16000 or samples.ndim != 1 or not len(samples):
        sys.exit(f"{path}: 16 kHz, one channel and some samples are wanted")
    samples = np.resize(samples, SAMPLES) if len(samples) < SAMPLES else samples[:SAMPLES]
    speech, background, overall = evaluator.run(None, {evaluator.get_inputs()[0].name: samples[None]})[0][0]
    return SPEECH(speech), BACKGROUND(background), OVERALL(overall)


def main(folders):
    evaluator = network()
    for folder in folders:
        files = sorted(pathlib.Path(folder).glob("*.wav"))
        if not files:
            sys.exit(f"{folder}: no WAV files")
        speech, background, overall = np.mean([opinions(evaluator, file) for file in files], axis=0)
        print(f"{folder}: {len(files)} clips, speech {speech:.2f}, background {background:.2f}, overall {overall:.2f}")


if __name__ == "__main__":
    main(sys.argv[1:] or sys.exit(__doc__))
