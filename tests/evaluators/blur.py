"""How sharp speech is, by an external evaluator: Praat (Boersma 2001), as PyPI's `praat-parselmouth` carries it.

A development tool: nothing of the product needs it.

    pip install praat-parselmouth numpy
    python tests/evaluators/blur.py FOLDER [FOLDER ..]      # WAV files; a line a folder

Prints the means of harmonicity (HNR, dB, of the frames that have a pitch) and of the smoothed cepstral peak's prominence (CPPS, dB), and the pitch's median (Hz) and
spread (standard deviation over all voiced frames, semitones). A mean of several renditions is less harmonic than each: what is blurred falls below its recordings.
"""

import pathlib
import sys

import numpy as np
import parselmouth
from parselmouth.praat import call

FLOOR_HZ, CEILING_HZ = 60, 500


def measure(path):
    sound = parselmouth.Sound(str(path))
    harmonicity = sound.to_harmonicity_cc(time_step=0.01, minimum_pitch=FLOOR_HZ).values
    cepstrogram = call(sound, "To PowerCepstrogram", FLOOR_HZ, 0.002, 5000, 50)
    prominence = call(cepstrogram, "Get CPPS", "no", 0.02, 0.0005, FLOOR_HZ, 330, 0.05, "Parabolic", 0.001, 0.05, "Straight", "Robust")
    pitch = sound.to_pitch_ac(time_step=0.01, pitch_floor=FLOOR_HZ, pitch_ceiling=CEILING_HZ).selected_array["frequency"]
    voiced = harmonicity[harmonicity > -199]
    return voiced.mean() if len(voiced) else np.nan, prominence, 12 * np.log2(pitch[pitch > 0])


def main(folders):
    for folder in folders:
        files = sorted(pathlib.Path(folder).glob("*.wav"))
        if not files:
            sys.exit(f"{folder}: no WAV files")
        harmonicity, prominence, semitones = zip(*map(measure, files))
        semitones = np.concatenate(semitones)
        hz = 2 ** (np.median(semitones) / 12) if len(semitones) else np.nan
        print(
            f"{folder}: {len(files)} clips, HNR {np.nanmean(harmonicity):.1f} dB, CPPS {np.nanmean(prominence):.1f} dB, "
            f"pitch {hz:.0f} Hz, spread {semitones.std():.2f} semitones"
        )


if __name__ == "__main__":
    main(sys.argv[1:] or sys.exit(__doc__))
