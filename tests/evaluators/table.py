"""All evaluators over what `ownvoice measure --wavs DIR` wrote: one table a speaker, and the figures as JSON.

A development tool: nothing of the product needs it. `install.py` beside it says how to install it.

    python tests/evaluators/table.py DIR [DIR ..] [--json FILE] [--shifts N]

Those who confirm come first: voices that nothing was trained on and no constant was chosen by. The people, by whom constants are chosen, and the speech engines follow. A person is
measured by new sentences (`new/`), since people read other languages, and a voice by those that it was recorded with. `recordings` is the ceiling, the speaker's other recordings
against the same target, and how the target itself sounds; `base` is the floor. `clone, iteration 0` is the voice before any training. `clone, own prosody` says the recorded sentences with the recordings' timing and pitch, so that what it
lacks is lost by spectra alone.
"""

import argparse
import json
import pathlib

import numpy as np

import audio
import blur
import dnsmos
import speaker
import words

# The prefixes of the names of speakers in each role; all others choose.
ROLES = {"confirm": ("kokoro-",), "choose": (), "engines": ("flite-", "festival-", "espeak-")}
COLUMNS = {
    "similarity": ".3f",
    "pitch_error": "+.1f",
    "spread_error": "+.1f",
    "words_misheard": ".1f",
    "stretched": ".0f",
    "made_up": ".0f",
    "dnsmos": ".2f",
    "p808": ".2f",
    "hnr_db": ".1f",
    "cpps_db": ".1f",
}
HEADINGS = ["similarity", "mean pitch, semitones off", "spread, semitones off", "words misheard, %", "stretched", "made up", "DNSMOS", "P.808", "HNR, dB", "CPPS, dB"]


class Evaluators:
    def __init__(self, shifts):
        self.encoder, self.opinions, self.recogniser, self.shifts = speaker.SpeakerEncoder(), dnsmos.Dnsmos(), words.Recogniser(), shifts

    def sound(self, folder):
        means, _, _ = dnsmos.folder_opinions(self.opinions, folder, self.shifts)
        hnr, cpps = blur.sharpness(clips_of(folder))
        return {"dnsmos": float(means[2]), "p808": float(means[3]), "hnr_db": hnr, "cpps_db": cpps}

    def words(self, folder):
        found = words.misheard(self.recogniser, folder)
        return {"words_misheard": 100 * found.wrong / found.words, "words": found.words, "wrong": found.wrong, "stretched": found.stretched, "made_up": found.made_up}

    def speaker_of(self, folder):
        return speaker.Speaker(self.encoder, clips_of(folder))

    def of(self, folder):
        """The rows of one speaker."""
        target = self.speaker_of(folder / "target")
        new = folder / "new"
        spoken = new if new.is_dir() else folder
        rows = {"recordings": self.speaker_of(folder / "same-speaker").against(target) | self.sound(folder / "target")}
        if spoken == folder:
            rows["recordings"] |= self.words(folder / "target")
        for name in ("base", "clone"):
            rows[name] = self.speaker_of(spoken / name).against(target) | self.sound(spoken / name) | self.words(spoken / name)
        for row, clips in {"clone, iteration 0": spoken / "iteration-0", "clone, own prosody": folder / "own-prosody"}.items():
            if clips.is_dir():
                rows[row] = self.speaker_of(clips).against(target) | self.sound(clips)
        return rows


def clips_of(folder):
    return [audio.read(path) for path in audio.files(folder)]


def show(name, rows):
    print(f"\n{name}\n\n| | {' | '.join(HEADINGS)} |\n|---|{'---|' * len(COLUMNS)}", flush=True)
    for row, figures in rows.items():
        cells = [format(figures[column], form) if column in figures else "" for column, form in COLUMNS.items()]
        print(f"| {row} | {' | '.join(cells)} |", flush=True)


def mean(speakers):
    """Means over speakers, of figures that all of them have. Errors of pitch are means of their absolute values: one too high does not make up for one too low."""
    rows = {}
    for row in set.intersection(*(set(rows) for rows in speakers)):
        figures = [rows[row] for rows in speakers]
        value = lambda key: np.mean([abs(one[key]) if key.endswith("_error") else one[key] for one in figures])
        rows[row] = {key: float(value(key)) for key in set.intersection(*map(set, figures))}
        rows[row]["least_similarity"] = min(one["similarity"] for one in figures)
    return {row: rows[row] for row in speakers[0] if row in rows}


def role_of(name):
    return next((role for role, prefixes in ROLES.items() if name.startswith(prefixes)), "choose")


def by_role(roots):
    """The folders of the speakers of each role."""
    folders = [folder for root in roots for folder in sorted(pathlib.Path(root).iterdir()) if (folder / "target").is_dir()]
    return {role: [folder for folder in folders if role_of(folder.name) == role] for role in ROLES}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--shifts", type=int, default=dnsmos.SHIFTS)
    given = parser.parse_args()
    evaluators = Evaluators(given.shifts)
    found = {}
    for role, folders in by_role(given.folders).items():
        if not folders:
            continue
        found[role] = {}
        for folder in folders:
            found[role][folder.name] = evaluators.of(folder)
            show(f"{folder.name} ({role})", found[role][folder.name])
        means = mean(list(found[role].values()))
        show(f"mean of {len(folders)} ({role})", means)
        print(f"\nleast similarity of a clone: {means['clone']['least_similarity']:.3f}")
        found[role]["mean"] = means
    if given.json:
        given.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
