"""How alike two voices are, by an external evaluator: the encoder of Wan et al. 2018 (GE2E), as PyPI's `resemblyzer` carries it.

A development tool: nothing of the product needs it. The package's own reading of sound wants old versions of others, so only its weights are taken.

    pip install --no-deps resemblyzer && pip install torch numpy soundfile
    python tests/evaluators/speaker.py TARGET FOLDER [FOLDER ..]      # 16 kHz WAV files; a line a folder

Prints the cosine between the voice of the first folder and that of each other: `ownvoice evaluate --wavs DIR` writes such folders.
"""

import pathlib
import sys
from importlib.util import find_spec

import numpy as np
import soundfile
import torch

WINDOW, HOP, CHANNELS = 400, 160, 40  # 25 ms, 10 ms
PARTIAL, STEP = 160, 77  # frames of one piece, and from the start of one piece to the next
LOUDNESS = 10 ** (-30 / 20)


def filterbank():
    """Slaney's mel scale, triangles of unit area (librosa's `filters.mel` with its defaults), `[CHANNELS, WINDOW / 2 + 1]`."""

    def hz(mel):
        return np.where(mel < 15, mel * 200 / 3, 1000 * np.exp((mel - 15) * np.log(6.4) / 27))

    highest = 15 + 27 * np.log(8000 / 1000) / np.log(6.4)
    edges = hz(np.linspace(0, highest, CHANNELS + 2))
    bins = np.linspace(0, 8000, WINDOW // 2 + 1)
    rising = (bins - edges[:-2, None]) / np.diff(edges)[:-1, None]
    falling = (edges[2:, None] - bins) / np.diff(edges)[1:, None]
    return np.maximum(0, np.minimum(rising, falling)) * (2 / (edges[2:] - edges[:-2]))[:, None]


class SpeakerEncoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(CHANNELS, 256, 3, batch_first=True)
        self.linear = torch.nn.Linear(256, 256)
        folder = pathlib.Path(find_spec("resemblyzer").submodule_search_locations[0])
        weights = torch.load(folder / "pretrained.pt", map_location="cpu", weights_only=True)["model_state"]
        self.load_state_dict({name: weights[name] for name in self.state_dict()})
        self.filters = filterbank()

    @torch.no_grad()
    def listen(self, samples):
        """The voice of one clip, `[S]`: a vector of unit length, the mean over its pieces."""
        samples = samples * max(1, LOUDNESS / np.sqrt(np.mean(samples**2) + 1e-12))
        padded = np.pad(samples, WINDOW // 2)
        frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP] * np.hanning(WINDOW + 1)[:-1]
        mels = (np.abs(np.fft.rfft(frames)) ** 2 @ self.filters.T).astype(np.float32)
        mels = np.pad(mels, ((0, max(0, PARTIAL - len(mels))), (0, 0)))
        pieces = np.stack([mels[at : at + PARTIAL] for at in range(0, len(mels) - PARTIAL + 1, STEP)])
        _, (hidden, _) = self.lstm(torch.from_numpy(pieces))
        vectors = torch.nn.functional.normalize(torch.relu(self.linear(hidden[-1])), dim=1)
        return torch.nn.functional.normalize(vectors.mean(0), dim=0)


def voice(evaluator, folder):
    files = sorted(pathlib.Path(folder).glob("*.wav"))
    if not files:
        sys.exit(f"{folder}: no WAV files")
    vectors = []
    for file in files:
        samples, rate = soundfile.read(file, dtype="float32")
        if rate != 16000 or samples.ndim != 1 or not len(samples):
            sys.exit(f"{file}: 16 kHz, one channel and some samples are wanted")
        vectors.append(evaluator.listen(samples))
    return torch.nn.functional.normalize(torch.stack(vectors).mean(0), dim=0), len(files)


def main(target, *folders):
    evaluator = SpeakerEncoder().eval()
    wanted, _ = voice(evaluator, target)
    for folder in folders:
        found, count = voice(evaluator, folder)
        print(f"{folder}: {count} clips, similarity {float(wanted @ found):.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) > 2 else sys.exit(__doc__)
