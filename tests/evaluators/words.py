"""How many words are misheard, by an external evaluator: CMU's recogniser with its English model, as PyPI's `pocketsphinx` carries it.

A development tool: nothing of the product needs it.

    pip install pocketsphinx jiwer soundfile
    python tests/evaluators/words.py FOLDER [FOLDER ..]      # 16 kHz WAV files, what they say in ../texts.txt, a line a file; a line a folder

`ownvoice evaluate --wavs DIR` writes such folders. An engine's voice is no person's: read a voice's rate beside that of the recordings.
"""

import pathlib
import sys

import jiwer
import soundfile
from pocketsphinx import Decoder

SPOKEN = jiwer.Compose([jiwer.ToLowerCase(), jiwer.SubstituteRegexes({r"[^a-z' ]": " "}), jiwer.RemoveMultipleSpaces(), jiwer.Strip(), jiwer.ReduceToListOfListOfWords()])


def recognise(evaluator, path):
    samples, rate = soundfile.read(path, dtype="int16")
    if rate != 16000 or samples.ndim != 1 or not len(samples):
        sys.exit(f"{path}: 16 kHz, one channel and some samples are wanted")
    evaluator.start_utt()
    evaluator.process_raw(samples.tobytes(), full_utt=True)
    evaluator.end_utt()
    recognised = evaluator.hyp()
    return recognised.hypstr if recognised else ""


def main(folders):
    for folder in map(pathlib.Path, folders):
        files = sorted(folder.glob("*.wav"))
        texts = (folder.parent / "texts.txt").read_text().splitlines()
        if not files or len(files) > len(texts):
            sys.exit(f"{folder}: no WAV files, or more than ../texts.txt has lines")
        # A decoder adapts to its input: each folder gets its own.
        evaluator = Decoder(loglevel="FATAL", samprate=16000)
        recognised = [recognise(evaluator, file) for file in files]
        found = jiwer.process_words(texts[: len(files)], recognised, reference_transform=SPOKEN, hypothesis_transform=SPOKEN)
        words = found.hits + found.substitutions + found.deletions
        print(f"{folder}: {len(files)} clips, {words} words, {100 * found.wer:.1f} % wrong, {found.deletions} left out, {found.insertions} too many")


if __name__ == "__main__":
    main(sys.argv[1:]) if len(sys.argv) > 1 else sys.exit(__doc__)
