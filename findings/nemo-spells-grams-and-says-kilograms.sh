#!/usr/bin/env bash
# NeMo's English text normaliser (PyPI nemo_text_processing 1.2.0): which abbreviations of units are words differs from unit to unit.
#
# "2 kg" becomes "two kilograms", but "200 g" becomes "two hundred G", the name of a letter. "2 hr" becomes "two hours", but "2 hrs" becomes "two HRS",
# in capitals, which a synthesiser spells. Likewise "5 km" and "5 m", "15 min" and "2 h". A range is joined by "to" where it has a hyphen ("25-30 min"), and
# keeps its sign where it has the en dash that typesetters use ("25–30 min"). No error or warning is given. So the output may still hold
# abbreviations, and whoever feeds it to a synthesiser needs rules of his own behind it.
#
# Exits with 0 if the behaviour is as described, otherwise with 1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check nemo_text_processing==1.2.0

cat > finding.py <<'PYTHON'
import logging
import sys
from importlib.metadata import version

from nemo_text_processing.text_normalization.normalize import Normalizer

logging.disable(logging.CRITICAL)
print("nemo_text_processing", version("nemo_text_processing"))
expected = {
    "Add 2 kg sugar.": "Add two kilograms sugar.",
    "Add 200 g sugar.": "Add two hundred G sugar.",
    "Run 5 km.": "Run five kilometers.",
    "It is 5 m long.": "It is five M long.",
    "Wait 2 hr.": "Wait two hours.",
    "Wait 2 hrs.": "Wait two HRS.",
    "Wait 15 min.": "Wait fifteen minutes.",
    "Wait 2 h.": "Wait two H.",
    "Wait 25-30 min.": "Wait twenty five to thirty minutes.",
    "Wait 25–30 min.": "Wait twenty five– thirty minutes.",
}
normalizer = Normalizer(input_case="cased", lang="en")
holds = True
for text, reading in expected.items():
    found = normalizer.normalize(text)
    print(f"{text:20} {found}")
    holds &= found == reading
print("Some units are words, and some are letters." if holds else "The behaviour has changed.")
sys.exit(not holds)
PYTHON
python/bin/python finding.py 2>/dev/null
