#!/usr/bin/env bash
# FFmpeg (libavcodec 62.28, by PyPI av 18.1.0; 5.1 does the same) reads a correct WAV file of 24-bit integers in 32-bit containers as floating point; libsndfile
# (PyPI soundfile 0.14.0) and scipy 1.17.1 read it correctly.
#
# The header is WAVE_FORMAT_EXTENSIBLE with the subformat PCM (integers), wBitsPerSample 32 and wValidBitsPerSample 24: how sound cards with 24-bit converters
# hand over samples. Microsoft's documentation of that structure states that the valid bits are the upper ones of the container and the others zero, so a
# reader may ignore their number. FFmpeg chooses its codec `pcm_f24le` ("24.0 floating point") for 24 valid bits in blocks of 4 bytes, against the subformat.
# Of a sine with amplitude 0.5, the positive half becomes 0.0000002 and the negative half reaches -10^17, with no error. 24 bits in 24, 32 in 32 and
# 12 in 16 are read correctly.
#
# Exits with 0 if the behaviour is as described, otherwise with 1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m pip install --quiet --disable-pip-version-check --no-compile --target python numpy==2.4.6 av==18.1.0 soundfile==0.14.0 scipy==1.17.1

cat > finding.py <<'PYTHON'
import struct
import sys

import av
import numpy as np
import scipy
import scipy.io.wavfile
import soundfile

print("av", av.__version__, "libavcodec", ".".join(map(str, av.library_versions["libavcodec"])), "soundfile", soundfile.__version__, soundfile.__libsndfile_version__, "scipy", scipy.__version__)
RATE = 16000
PCM = struct.pack("<HHHHHHHH", 1, 0, 0, 0x10, 0x80, 0xAA00, 0x3800, 0x719B)  # KSDATAFORMAT_SUBTYPE_PCM
sine = 0.5 * np.sin(2 * np.pi * 1000 * np.arange(1600) / RATE)


def write(path, valid_bits, container_bits):
    """Writes the sine with the valid bits in the upper part of each container, and zeros below them."""
    samples = np.round(sine * 2 ** (valid_bits - 1)).astype(np.int64) << (container_bits - valid_bits)
    block = container_bits // 8
    data = samples.astype("<i8").view(np.uint8).reshape(-1, 8)[:, :block].tobytes()
    form = struct.pack("<HHIIHHHHI", 0xFFFE, 1, RATE, RATE * block, block, container_bits, 22, valid_bits, 4) + PCM
    body = b"WAVE" + b"fmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(data)) + data
    with open(path, "wb") as file:
        file.write(b"RIFF" + struct.pack("<I", len(body)) + body)


def extremes(samples):
    """Returns the lowest and the highest sample; 1 is full scale."""
    samples = samples.astype(np.float64) / (1 if samples.dtype.kind == "f" else np.iinfo(samples.dtype).max)
    return float(samples.min()), float(samples.max())


def by_ffmpeg(path):
    with av.open(path) as file:
        codec = file.streams.audio[0].codec_context.name
        return codec, extremes(np.concatenate([frame.to_ndarray().ravel() for frame in file.decode(audio=0)]))


def is_right(low, high):
    return abs(low + 0.5) < 0.01 and abs(high - 0.5) < 0.01


holds = True
for valid_bits, container_bits in [(24, 32), (24, 24), (32, 32), (12, 16)]:
    path = f"{valid_bits}-in-{container_bits}.wav"
    write(path, valid_bits, container_bits)
    codec, heard = by_ffmpeg(path)
    others = {"libsndfile": extremes(soundfile.read(path)[0]), "scipy": extremes(scipy.io.wavfile.read(path)[1])}
    print(f"{valid_bits} bits in {container_bits}, a sine from -0.5 to 0.5:")
    for reader, (low, high) in {f"FFmpeg, {codec}": heard, **others}.items():
        print(f"    {low:.3g} to {high:.3g} by {reader}")
    is_wrong = codec == "pcm_f24le" and heard[0] < -1 and heard[1] < 1e-5
    holds &= is_wrong if (valid_bits, container_bits) == (24, 32) else is_right(*heard)
    holds &= all(is_right(*other) for other in others.values())
print("FFmpeg alone misreads 24 bits in 32." if holds else "The behaviour has changed.")
sys.exit(not holds)
PYTHON
PYTHONPATH=python python3 finding.py
