"""How alike two voices are, by external evaluators: the encoder of Wan et al. 2018 (GE2E), as PyPI's `resemblyzer` carries it, and Praat's pitch beside it.

A development tool: nothing of the product needs it. `install.py` beside it says how to install it.

    python tests/evaluators/speaker.py TARGET FOLDER [FOLDER ..]      # WAV files; a line a folder

Prints for each folder the cosine between its voice and that of the first, and how many semitones the mean of its pitch and the spread of its pitch are above the target's. GE2E barely
hears pitch: a voice seven semitones off passes. The first line is the ceiling, every second recording of the target against the others; give the base's folder for the floor.
`ownvoice evaluate --wavs DIR` and `ownvoice measure --wavs DIR` write such folders.
"""

import collections
import pathlib
import pickle
import sys
from importlib.util import find_spec

import numpy as np

import audio
import blur

WINDOW, HOP, CHANNELS = 400, 160, 40  # 25 ms, 10 ms
PARTIAL, STEP = 160, 77  # Frames of one piece, and from the start of one piece to the next.
LOUDNESS = 10 ** (-30 / 20)
CELLS, LAYERS = 256, 3


class Unpickler(pickle.Unpickler):
    """Reads the tensors of a PyTorch checkpoint of before 2020 and nothing else, so that PyTorch's gigabytes are not needed."""

    def __init__(self, file):
        super().__init__(file)
        self.storages = {}

    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda storage, offset, shape, strides, *_: (storage, offset, tuple(shape), tuple(strides))
        if module == "torch" and name.endswith("Storage"):
            return name
        raise pickle.UnpicklingError(f"{module}.{name} is not expected")

    def persistent_load(self, identity):
        _, kind, key, _, length, _ = identity
        self.storages[key] = (kind, length)
        return key


def tensors(path):
    """The floating-point tensors of a checkpoint's `model_state`, by name."""
    with open(path, "rb") as file:
        for _ in range(3):  # A magic number, the version, the machine.
            pickle.load(file)
        reader = Unpickler(file)
        state = reader.load()["model_state"]
        data = {}
        for key in pickle.load(file):
            kind, _ = reader.storages[key]
            length = int.from_bytes(file.read(8), "little")
            form = {"FloatStorage": "<f4", "LongStorage": "<i8", "DoubleStorage": "<f8", "IntStorage": "<i4"}[kind]
            data[key] = np.frombuffer(file.read(length * int(form[2])), form)
    strided = np.lib.stride_tricks.as_strided
    return {
        name: strided(data[storage][offset:], shape, [4 * stride for stride in strides]) for name, (storage, offset, shape, strides) in state.items() if data[storage].dtype == np.float32
    }


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class SpeakerEncoder:
    def __init__(self):
        folder = pathlib.Path(find_spec("resemblyzer").submodule_search_locations[0])
        weights = tensors(folder / "pretrained.pt")
        named = [[weights[f"lstm.{part}_l{layer}"] for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")] for layer in range(LAYERS)]
        self.layers = [(inputs.T, hidden.T, one + other) for inputs, hidden, one, other in named]
        self.linear = weights["linear.weight"].T, weights["linear.bias"]
        self.filters = audio.mel_filters(CHANNELS, WINDOW)

    def last_hidden(self, sequence):
        """The topmost LSTM's last state, `[pieces, frames, CHANNELS]` to `[pieces, CELLS]`; PyTorch's order of gates: input, forget, cell, output."""
        for inputs, recurrent, bias in self.layers:
            projected = sequence @ inputs + bias
            hidden = cell = np.zeros((len(sequence), CELLS), np.float32)
            states = []
            for at in range(sequence.shape[1]):
                entering, kept, candidate, leaving = np.split(projected[:, at] + hidden @ recurrent, 4, axis=1)
                cell = sigmoid(kept) * cell + sigmoid(entering) * np.tanh(candidate)
                hidden = sigmoid(leaving) * np.tanh(cell)
                states.append(hidden)
            sequence = np.stack(states, axis=1)
        return hidden

    def listen(self, samples):
        """The voice of one clip, `[CELLS]`: a vector of unit length, the mean over its pieces."""
        samples = samples * max(1, LOUDNESS / np.sqrt(np.mean(samples**2) + 1e-12))
        mels = (audio.power_spectra(samples, WINDOW, HOP) @ self.filters.T).astype(np.float32)
        mels = np.pad(mels, ((0, max(0, PARTIAL - len(mels))), (0, 0)))
        pieces = np.stack([mels[at : at + PARTIAL] for at in range(0, len(mels) - PARTIAL + 1, STEP)])
        weight, bias = self.linear
        return unit(unit(np.maximum(0, self.last_hidden(pieces) @ weight + bias)).mean(0))


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


class Speaker:
    """Who speaks in some clips: the mean vector, and the mean and the spread of pitch in semitones."""

    def __init__(self, encoder, clips):
        self.clips = len(clips)
        self.vector = unit(np.mean([encoder.listen(clip) for clip in clips], axis=0))
        semitones = blur.semitones(clips)
        self.pitch, self.spread = float(semitones.mean()), float(semitones.std())

    def against(self, target):
        return {"similarity": float(self.vector @ target.vector), "pitch_error": self.pitch - target.pitch, "spread_error": self.spread - target.spread}


def main(target, *folders):
    encoder = SpeakerEncoder()
    recordings = [audio.read(path) for path in audio.files(target)]
    wanted = Speaker(encoder, recordings)
    rows = [("every second recording against the others", Speaker(encoder, recordings[::2]), Speaker(encoder, recordings[1::2]))] if len(recordings) > 1 else []
    rows += [(folder, Speaker(encoder, [audio.read(path) for path in audio.files(folder)]), wanted) for folder in folders]
    for name, found, other in rows:
        errors = found.against(other)
        print(f"{name}: {found.clips} clips, similarity {errors['similarity']:.3f}, mean pitch {errors['pitch_error']:+.1f} and spread {errors['spread_error']:+.1f} semitones")


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) > 2 else sys.exit(__doc__)
