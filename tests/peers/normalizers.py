"""Counts the everyday texts of this project that other text normalisers write out as a reader would say them.

    pip install nemo_text_processing==1.2.0 wetext==0.1.8
    python3 tests/peers/normalizers.py nemo|wetext

Words are compared without case, punctuation and the blanks between them, so that "a.m." is "A M".
"""

import re
import sys
from pathlib import Path

TEXTS = Path(__file__).parents[2] / "crate/ownvoice/tests/data/everyday.tsv"


def nemo():
    from nemo_text_processing.text_normalization.normalize import Normalizer

    normalizer = Normalizer(input_case="cased", lang="en")
    return lambda text: " ".join(normalizer.normalize(line) for line in text.splitlines() if line.strip())


def wetext():
    from wetext import Normalizer

    return Normalizer(lang="en", operator="tn").normalize


def expand(reading):
    """All readings that the alternatives in parentheses allow."""
    if "(" not in reading:
        return [reading]
    before, rest = reading.split("(", 1)
    alternatives, after = rest.split(")", 1)
    return [before + alternative + end for alternative in alternatives.split("|") for end in expand(after)]


def letters(words):
    return re.sub(r"[^a-z0-9]", "", words.lower())


def main(name):
    normalize = {"nemo": nemo, "wetext": wetext}[name]()
    right = {}
    for line in TEXTS.read_text().splitlines():
        if line.startswith("# "):
            continue
        half, _, text, readings = line.split("\t")
        # `|` outside parentheses separates whole readings.
        accepted = [each for reading in re.split(r"\|(?![^(]*\))", readings) for each in expand(reading)]
        try:
            spoken = normalize(text.replace("\\n", "\n").replace("\\t", "\t"))
        except AssertionError:  # wetext, where a line ends within a text
            spoken = ""
        right.setdefault(half, []).append(letters(spoken) in map(letters, accepted))
    for half, found in right.items():
        print(f"{name}, {half}: {sum(found)} of {len(found)}")
    print(f"{name}: {sum(map(sum, right.values()))} of {sum(map(len, right.values()))}")


main(*sys.argv[1:])
