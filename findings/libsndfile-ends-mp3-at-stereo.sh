#!/usr/bin/env bash
# libsndfile 1.2.2 (PyPI soundfile 0.14.0) ends an MP3 file where it turns from mono to stereo, with no error; FFmpeg (PyPI av 18.1.0) and miniaudio 1.71 read
# all of it.
#
# The number of channels is stated in the header of each MP3 frame, so that two recordings can be joined by joining their bytes, as podcast hosts and recorders
# that change their microphone do. libsndfile also reports the length of the first part as the length of the file. symphonia 0.6.1 reads on, and refuses each
# frame of the second part as damaged.
#
# Exits with 0 if the behaviour is as described, otherwise with 1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m pip install --quiet --disable-pip-version-check --no-compile --target python numpy==2.4.6 av==18.1.0 soundfile==0.14.0 miniaudio==1.71

cat > finding.py <<'PYTHON'
import io
import sys

import av
import miniaudio
import numpy as np
import soundfile

print("soundfile", soundfile.__version__, soundfile.__libsndfile_version__, "av", av.__version__)
RATE = 48000


def mp3(layout):
    """Encodes a second of a sine as bare MP3 frames."""
    file = io.BytesIO()
    sine = (0.4 * np.sin(2 * np.pi * 440 * np.arange(RATE) / RATE)).astype(np.float32)
    with av.open(file, "w", format="mp3", options={"write_xing": "0", "id3v2_version": "0"}) as container:
        stream = container.add_stream("libmp3lame", rate=RATE, layout=layout)
        frame = av.AudioFrame.from_ndarray(np.tile(sine, (2 if layout == "stereo" else 1, 1)), format="fltp", layout=layout)
        frame.sample_rate = RATE
        for packet in [*stream.encode(frame), *stream.encode(None)]:
            container.mux(packet)
    return file.getvalue()


def by_ffmpeg(path):
    with av.open(path) as file:
        return sum(frame.samples for frame in file.decode(audio=0)) / RATE


def by_miniaudio(path):
    decoded = miniaudio.decode_file(path)
    return decoded.num_frames / decoded.sample_rate


def by_libsndfile(path):
    samples, rate = soundfile.read(path)
    return len(samples) / rate


parts = {"mono": mp3("mono"), "stereo": mp3("stereo")}
parts["mono, then mono"] = parts["mono"] * 2
parts["mono, then stereo"] = parts["mono"] + parts["stereo"]
seconds = {}
for name, content in parts.items():
    with open("a.mp3", "wb") as file:
        file.write(content)
    seconds[name] = [by_libsndfile("a.mp3"), by_ffmpeg("a.mp3"), by_miniaudio("a.mp3")]
    print(f"{name}: " + ", ".join(f"{length:.2f} s by {reader}" for reader, length in zip(["libsndfile", "FFmpeg", "miniaudio"], seconds[name])))
whole = all(length > 2 for length in seconds["mono, then mono"] + seconds["mono, then stereo"][1:])
holds = whole and seconds["mono, then stereo"][0] < 1.1
print("libsndfile alone ends at the change." if holds else "The behaviour has changed.")
sys.exit(not holds)
PYTHON
PYTHONPATH=python python3 finding.py
