"""All evaluators over what `ownvoice measure --wavs DIR` wrote: one table a speaker, and the figures as JSON.

A development tool: nothing of the product needs it. See the evaluators beside it for what to install.

    python tests/evaluators/table.py DIR [--json FILE]

A row's similarity and sharpness are those of its new English sentences and, behind the slash, of its recorded sentences. Words are counted in the new ones, which
everybody says in the same language. `same speaker` is what a person's other recordings reach; `clone, own prosody` says the recorded sentences with the recordings'
timing and pitch, so that what it lacks is lost by spectra alone.
"""

import json
import pathlib
import sys

import jiwer
import numpy as np
from pocketsphinx import Decoder

import blur
import dnsmos
import speaker
import words


def misheard(folder):
    texts = (folder.parent / "texts.txt").read_text().splitlines()
    files = sorted(folder.glob("*.wav"))
    evaluator = Decoder(loglevel="FATAL", samprate=16000)
    recognised = [words.recognise(evaluator, file) for file in files]
    return 100 * jiwer.process_words(texts[: len(files)], recognised, reference_transform=words.SPOKEN, hypothesis_transform=words.SPOKEN).wer


def sharpness(folder):
    harmonicity, prominence, semitones = zip(*map(blur.measure, sorted(folder.glob("*.wav"))))
    return float(np.nanmean(harmonicity)), float(np.nanmean(prominence)), float(np.concatenate(semitones).std())


def evaluate_all(folder, encoder, network):
    target, _ = speaker.voice(encoder, folder / "target")

    def of(clips):
        found, _ = speaker.voice(encoder, clips)
        harmonicity, prominence, spread = sharpness(clips)
        opinion = np.mean([dnsmos.opinions(network, file)[2] for file in sorted(clips.glob("*.wav"))])
        return {"similarity": float(target @ found), "dnsmos": float(opinion), "hnr_db": harmonicity, "cpps_db": prominence, "pitch_spread": spread}

    rows = {"same speaker": {"recorded": of(folder / "same-speaker")}}
    for new in sorted((folder / "new").iterdir()):
        if new.is_dir():
            rows[new.name] = {"new": of(new) | {"words_misheard": misheard(new)}, "recorded": of(folder / new.name)}
    if (folder / "own-prosody").is_dir():
        rows["clone, own prosody"] = {"recorded": of(folder / "own-prosody")}
    return rows


COLUMNS = {"similarity": ".3f", "words_misheard": ".0f", "dnsmos": ".2f", "hnr_db": ".1f", "cpps_db": ".1f", "pitch_spread": ".2f"}


def show(name, rows):
    print(f"\n{name}\n\n| | {' | '.join(COLUMNS)} |\n|---|{'---|' * len(COLUMNS)}")
    for row, figures in rows.items():
        cells = [" / ".join(format(part[column], shape) for part in figures.values() if column in part) for column, shape in COLUMNS.items()]
        print(f"| {row} | {' | '.join(cells)} |")


def main(root, *more):
    encoder, network = speaker.SpeakerEncoder().eval(), dnsmos.network()
    folders = [folder for folder in sorted(pathlib.Path(root).iterdir()) if (folder / "target").is_dir()]
    found = {}
    for folder in folders:
        found[folder.name] = evaluate_all(folder, encoder, network)
        show(folder.name, found[folder.name])
    names = set.intersection(*(set(rows) for rows in found.values()))
    means = {}
    for row in [name for name in next(iter(found.values())) if name in names]:
        parts = found[next(iter(found))][row]
        means[row] = {part: {key: float(np.mean([rows[row][part][key] for rows in found.values()])) for key in parts[part]} for part in parts}
    show(f"mean of {len(found)}", means)
    if more:
        pathlib.Path(more[1]).write_text(json.dumps(found | {"mean": means}, indent=2))


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) in (2, 4) else sys.exit(__doc__)
