"""Clones the voices that confirm, by the command line and its defaults, and lays out what `table.py` compares.

A development tool: nothing of the product needs it.

    python tests/evaluators/clones.py HELD_OUT OUT [--ownvoice PROGRAM] [--base FOLDER] [--sentences N] [--voices NAME ..]

`HELD_OUT/NAME` holds the twelve prompts as a voice reads them, and `HELD_OUT/NAME-sentences` the same voice's recordings of sentences that nothing is learned from, each as
`metadata.csv` of `id|text` and `wavs/id.wav`. The voice is cloned from the former, and the clone and the base say the texts of the latter. Written are, for each voice,
`OUT/NAME/clone.ownvoice`, `texts.txt`, and the folders `target` (the recordings of the sentences), `same-speaker` (the prompts), `clone` and `base`. Whatever is there already
is kept, so that an interrupted run goes on.
"""

import argparse
import pathlib
import shutil
import subprocess


def read(folder):
    lines = (folder / "metadata.csv").read_text(encoding="utf-8").splitlines()
    return [(folder / "wavs" / f"{name}.wav", text) for name, text in (line.split("|")[:2] for line in lines)]


def copy(clips, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for index, (path, _) in enumerate(clips):
        shutil.copyfile(path, folder / f"{index:03}.wav")


def say(program, base, voice, clips, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for index, (_, text) in enumerate(clips):
        path = folder / f"{index:03}.wav"
        if not path.exists():
            speaker = ["--voice", voice] if voice else []
            subprocess.run([program, "say", "--quiet", "--base", base, *speaker, "--text", text, "--out", path], check=True)


def lay_out(program, base, held_out, name, out, count):
    sentences = read(held_out / f"{name}-sentences")[:count]
    folder = out / name
    copy(read(held_out / name), folder / "same-speaker")
    copy(sentences, folder / "target")
    (folder / "texts.txt").write_text("".join(f"{text}\n" for _, text in sentences), encoding="utf-8")
    voice = folder / "clone.ownvoice"
    if not voice.exists():
        subprocess.run([program, "clone", "--quiet", "--base", base, "--clips", held_out / name, "--out", voice], check=True)
    say(program, base, None, sentences, folder / "base")
    say(program, base, voice, sentences, folder / "clone")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("held_out", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--ownvoice", default="ownvoice", help="the program (default: the one on the path)")
    parser.add_argument("--base", default="models/base")
    parser.add_argument("--sentences", type=int, default=40)
    parser.add_argument("--voices", nargs="+", help="default: all of the folder")
    given = parser.parse_args()
    names = given.voices or sorted(path.name for path in given.held_out.iterdir() if (given.held_out / f"{path.name}-sentences").is_dir())
    for name in names:
        lay_out(given.ownvoice, given.base, given.held_out, name, given.out, given.sentences)
        print(f"{name}: done", flush=True)


if __name__ == "__main__":
    main()
