"""How clean and natural speech sounds, by external evaluators: DNSMOS P.835 (Reddy et al. 2022) and P.808 (Reddy et al. 2021), as PyPI's `speechmos` carries them.

A development tool: nothing of the product needs it. `install.py` beside it says how to install it.

    python tests/evaluators/dnsmos.py FOLDER [FOLDER ..] [--shifts N]      # WAV files; a line a folder

Prints the means of opinions from 1 to 5: of the speech, of the background, of the whole (P.835), and P.808, with the standard error that the shifts leave.

Both networks listen to 9.01 s; a shorter clip is repeated, as the authors do. Neither hears the same in a clip that starts some samples later, although nobody could: each clip is
therefore heard from several starts, and each opinion is the mean. P.808's spectra are relative to their maximum, so that it is deaf to gain; P.835's are not, so that every clip is
brought to -26 dBFS active first. Recordings and synthetic speech are trimmed alike (`audio.py`).
"""

import argparse
import pathlib
from importlib.util import find_spec

import numpy as np
import onnxruntime

import audio

SAMPLES = 144160  # What the networks listen to at once: 9.01 s.
# From one start, an opinion of P.835 errs by .1 to .15 and one of P.808 by .06 to .08 (standard deviation): the mean of fifteen clips from six starts each by .016 and .008 at most.
SHIFTS = 6
# From P.835's outputs to opinions, as the authors fitted them.
SPEECH = np.poly1d([-0.08397278, 1.22083953, 0.0052439])
BACKGROUND = np.poly1d([-0.13166888, 1.60915514, -0.39604546])
OVERALL = np.poly1d([-0.06766283, 1.11546468, 0.04602535])
NAMES = ("speech", "background", "overall", "P.808")


class Dnsmos:
    def __init__(self, threads=1):
        folder = pathlib.Path(find_spec("speechmos").submodule_search_locations[0]) / "dnsmos_models"
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.p835, self.p808 = (onnxruntime.InferenceSession(str(folder / name), options) for name in ("sig_bak_ovr.onnx", "model_v8.onnx"))
        self.filters = audio.mel_filters(120, 321)

    def listen(self, samples):
        """The four opinions of 9.01 s, `[4]`."""
        mels = audio.power_spectra(samples[:-160], 321, 160) @ self.filters.T
        db = 10 * np.log10(np.maximum(mels, 1e-10) / max(mels.max(), 1e-10))
        features = ((np.maximum(db, db.max() - 80) + 40) / 40).astype(np.float32)
        natural = self.p808.run(None, {"input_1": features[None]})[0][0][0]
        speech, background, overall = self.p835.run(None, {"input_1": samples[None].astype(np.float32)})[0][0]
        return np.array([SPEECH(speech), BACKGROUND(background), OVERALL(overall), natural])

    def opinions(self, samples, shifts=SHIFTS):
        """The opinions of a clip from each start, `[shifts, 4]`."""
        return np.stack([self.listen(np.resize(np.roll(samples, -start), SAMPLES)) for start in starts(len(samples), shifts)])


def starts(samples, shifts):
    """Starts that are spread over the clip and, by steps of 37 samples, over the networks' hop of 160."""
    return [(samples * shift // shifts + 37 * shift % 160) % samples for shift in range(shifts)]


def folder_opinions(evaluator, folder, shifts=SHIFTS):
    """The means of a folder, `[4]`, the standard errors that the shifts leave in them, `[4]`, and the number of clips."""
    heard = np.stack([evaluator.opinions(audio.read(path), shifts) for path in audio.files(folder)])  # [clips, shifts, 4]
    errors = np.sqrt(heard.var(1, ddof=1).mean(0) / shifts / len(heard)) if shifts > 1 else np.full(4, np.nan)
    return heard.mean((0, 1)), errors, len(heard)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--shifts", type=int, default=SHIFTS)
    given = parser.parse_args()
    evaluator = Dnsmos()
    for folder in given.folders:
        means, errors, clips = folder_opinions(evaluator, folder, given.shifts)
        print(f"{folder}: {clips} clips, " + ", ".join(f"{name} {mean:.2f} (±{error:.3f})" for name, mean, error in zip(NAMES, means, errors)), flush=True)


if __name__ == "__main__":
    main()
