#!/usr/bin/env bash
# A WAV file whose chunk "data" states the length 0, with sound behind it, is empty for libsndfile (PyPI soundfile 0.14.0) and for Python's `wave`, with no
# error, and whole for FFmpeg (PyPI av 18.1.0).
#
# A recorder writes this header first and completes it when it stops; one that loses power or is killed leaves the zero. FFmpeg takes 0 for an unknown length.
# RIFF knows no such value, so that an empty recording, with other chunks behind "data", is the other reading: FFmpeg plays the chunk that follows as sound.
#
# Exits with 0 if the behaviour is as described, otherwise with 1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m pip install --quiet --disable-pip-version-check --no-compile --target python numpy==2.4.6 av==18.1.0 soundfile==0.14.0

cat > finding.py <<'PYTHON'
import struct
import sys
import wave

import av
import soundfile

print("soundfile", soundfile.__version__, soundfile.__libsndfile_version__, "av", av.__version__)
RATE, FRAMES = 16000, 8000
SOUND = struct.pack("<hh", 8192, -8192) * (FRAMES // 2)
LIST = b"LIST" + struct.pack("<I", 4 + 8 + 512) + b"INFO" + b"ICMT" + struct.pack("<I", 512) + bytes(512)


def write(stated, behind):
    body = b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, RATE, 2 * RATE, 2, 16) + b"data" + struct.pack("<I", stated) + behind
    with open("a.wav", "wb") as file:
        file.write(b"RIFF" + struct.pack("<I", len(body)) + body)


def by_ffmpeg():
    try:
        with av.open("a.wav") as file:
            return sum(frame.samples for frame in file.decode(audio=0))
    except av.FFmpegError as error:
        return str(error)


def by_wave():
    with wave.open("a.wav") as file:
        return len(file.readframes(10 * FRAMES)) // 2


READERS = {"libsndfile": lambda: len(soundfile.read("a.wav")[0]), "wave": by_wave, "FFmpeg": by_ffmpeg}
found = {}
for name, stated, behind in [("complete", len(SOUND), SOUND), ("stated length 0, sound behind", 0, SOUND), ("no sound, a comment behind", 0, LIST)]:
    write(stated, behind)
    found[name] = {}
    for reader, read in READERS.items():
        try:
            found[name][reader] = read()
        except Exception as error:
            found[name][reader] = f"{type(error).__name__}"
    print(f"{name}: " + ", ".join(f"{frames} frames by {reader}" for reader, frames in found[name].items()))
zero = found["stated length 0, sound behind"]
holds = all(frames == FRAMES for frames in found["complete"].values()) and zero["libsndfile"] == zero["wave"] == 0 and zero["FFmpeg"] == FRAMES and found["no sound, a comment behind"]["FFmpeg"] > 0
print("FFmpeg reads the sound, and a comment as sound; the others read neither." if holds else "The behaviour has changed.")
sys.exit(not holds)
PYTHON
PYTHONPATH=python python3 finding.py
