"""How well `ownvoice lips evaluate` is understood, by external evaluators.

A development tool: nothing of the product needs it.

    pip install pocketsphinx jiwer soundfile numpy pystoi pesq
    python tests/evaluators/lips.py DIR [--json FILE]      # what `ownvoice lips evaluate VIDEOS --base BASE --wavs DIR` wrote

Words are recognised by CMU's recogniser with the grammar of drawn corpora, `commands.gram`: six slots, of each of which it hears one of eight words or phrases. Whoever
guesses has 87.5 % of the slots wrong and about three quarters of the words, since some phrases share one. STOI and ESTOI are those of pystoi, PESQ is wide-band; each is
compared with the recorded sound of the same video.

Whisper, which `words.py` uses, knows no grammar: in ten videos it misheard 3 % of the recorded words and 85 % of those that the video shows, where the grammar's recogniser had 0 and
37 % of the slots wrong. Its figure hardly differs from that of a still picture, 98 %.
"""

import json
import pathlib
import re
import sys

import jiwer
import numpy as np
import soundfile
from pesq import pesq
from pocketsphinx import Decoder
from pystoi import stoi

import audio

SPOKEN = jiwer.Compose([jiwer.ToLowerCase(), jiwer.SubstituteRegexes({r"[^a-z' ]": " "}), jiwer.RemoveMultipleSpaces(), jiwer.Strip(), jiwer.ReduceToListOfListOfWords()])
COLUMNS = {"words_misheard": ".1f", "slots_misheard": ".1f", "stoi": ".3f", "estoi": ".3f", "pesq": ".2f"}


def read(path):
    samples, rate = soundfile.read(path, dtype="float32")
    if samples.ndim != 1 or not len(samples):
        sys.exit(f"{path}: one channel and some samples are wanted")
    return audio.resample(samples, rate)


def recognise(recogniser, path):
    recogniser.start_utt()
    recogniser.process_raw((np.clip(read(path), -1, 1) * 32767).astype(np.int16).tobytes(), full_utt=True)
    recogniser.end_utt()
    recognised = recogniser.hyp()
    return recognised.hypstr if recognised else ""


def slots(grammar, text):
    """What is said in each slot; a recogniser that gives up says nothing in the last ones, or half of a phrase."""
    said, rest = [], re.sub(r"[^a-z' ]", "", text.lower()).strip()
    for slot in re.findall(r"\(([^)]*)\)", grammar.replace(" | ", "|")):
        found = re.match(rf"({slot})\b\s*", rest)
        said.append(found and found[1])
        rest = rest[found.end() :] if found else rest
    return said


def slots_misheard(grammar, texts, recognised):
    wrong = [[said != other for said, other in zip(slots(grammar, text), slots(grammar, one), strict=True)] for text, one in zip(texts, recognised, strict=True)]
    return 100 * float(np.mean(sum(wrong, [])))


def evaluate(folder, recorded, texts):
    files = sorted(folder.glob("*.wav"))
    # A decoder adapts to its input: each folder gets its own.
    grammar = folder.parent / "commands.gram"
    recogniser = Decoder(loglevel="FATAL", samprate=audio.RATE, jsgf=str(grammar))
    recognised = [recognise(recogniser, file) for file in files]
    row = {"words_misheard": 100 * jiwer.process_words(texts, recognised, reference_transform=SPOKEN, hypothesis_transform=SPOKEN).wer}
    row["slots_misheard"] = slots_misheard(grammar.read_text(), texts, recognised)
    if folder != recorded:
        pairs = [(read(recorded / file.name), read(file)) for file in files]
        pairs = [(one[: len(other)], other[: len(one)]) for one, other in pairs]
        row["stoi"] = float(np.mean([stoi(one, other, audio.RATE) for one, other in pairs]))
        row["estoi"] = float(np.mean([stoi(one, other, audio.RATE, extended=True) for one, other in pairs]))
        row["pesq"] = float(np.mean([pesq(audio.RATE, one, other, "wb") for one, other in pairs]))
    return row


def main(folder, out=None):
    folder = pathlib.Path(folder)
    texts = (folder / "texts.txt").read_text().splitlines()
    rows = {name: evaluate(folder / name, folder / "recorded", texts) for name in ["recorded", "copy", "lips", "still", "another"]}
    print("| | words misheard, % | slots misheard, % | STOI | ESTOI | PESQ |\n|---|---|---|---|---|---|")
    for name, row in rows.items():
        print(f"| {name} | " + " | ".join(format(row[key], form) if key in row else "" for key, form in COLUMNS.items()) + " |")
    if out:
        pathlib.Path(out).write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    match sys.argv[1:]:
        case [folder]:
            main(folder)
        case [folder, "--json", out]:
            main(folder, out)
        case _:
            sys.exit(__doc__)
