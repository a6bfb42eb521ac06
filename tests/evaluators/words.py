"""How many words are misheard, by an external evaluator: Whisper base (Radford et al. 2022) by `faster-whisper`, beam 5, English, compared after Whisper's own normaliser of texts.

A development tool: nothing of the product needs it. `install.py` beside it says how to install it.

    python tests/evaluators/words.py FOLDER [FOLDER ..] [--show]      # WAV files, what they say in FOLDER/../texts.txt, a line a file; a line a folder

`ownvoice evaluate --wavs DIR` and `ownvoice measure --wavs DIR` write such folders. Read a voice's rate beside that of the recordings and of the base.

Whisper is a language model as well: it writes a repeated word once, and makes up words in silence. Two counts beside the words meet that, both from the times that it gives to words:
- *stretched*: words during which sound lasts more than twice as long as a word of so many letters does in this folder, and at least .4 s longer: something was said twice, or drawn out.
- *made up*: words during which less than 20 ms of sound are heard. They are left out before words are counted, and so is what Whisper itself takes for silence (`no_speech_prob` over .6).
Neither sees phones: `ownvoice evaluate --by-error` counts faults by the aligner.
"""

import pathlib
import re
import sys
from collections import namedtuple

import jiwer
import numpy as np
from faster_whisper import WhisperModel
from whisper_normalizer.english import EnglishTextNormalizer

import audio
import install

Word = namedtuple("Word", "text begin end")  # Times in seconds.
NO_SPEECH = 0.6
TOO_LONG, TOO_LONG_SECONDS, SILENT_SECONDS = 2.0, 0.4, 0.02

Misheard = namedtuple("Misheard", "words wrong substituted left_out added stretched made_up heard")


class Recogniser:
    def __init__(self, threads=2):
        self.model = WhisperModel(str(pathlib.Path(sys.prefix) / install.WHISPER), device="cpu", compute_type="int8", cpu_threads=threads)
        self.normalise = EnglishTextNormalizer()

    def listen(self, samples):
        """The words of a clip, without those of segments that Whisper takes for silence. At temperature 0 alone: the others draw at random."""
        segments, _ = self.model.transcribe(samples, language="en", beam_size=5, temperature=0.0, condition_on_previous_text=False, word_timestamps=True)
        return [Word(word.word, word.start, word.end) for segment in segments if segment.no_speech_prob <= NO_SPEECH for word in segment.words]


def sound_seconds(samples, words):
    """How much sound there is during each word: from its begin to that of the next, since Whisper's ends are early."""
    speech = audio.is_speech(samples)
    frame = audio.FRAME / audio.RATE
    begins = [0.0, *(word.begin for word in words[1:]), len(samples) / audio.RATE]
    return [frame * float(np.count_nonzero(speech[round(begin / frame) : round(end / frame)])) for begin, end in zip(begins, begins[1:])]


def letters(word):
    return max(2, len(re.sub(r"[^a-z0-9]", "", word.text.lower())))


def durations(clips):
    """Which words of each clip are stretched or made up. `clips`: for each its words, and the seconds of sound during each of them."""
    pairs = [(letters(word), seconds) for words, sounds in clips for word, seconds in zip(words, sounds) if seconds >= SILENT_SECONDS]
    pace = np.median([seconds / length for length, seconds in pairs]) if pairs else 0.0
    expected = [[pace * letters(word) for word in words] for words, _ in clips]
    stretched = [
        sum(seconds > max(TOO_LONG * wanted, wanted + TOO_LONG_SECONDS) for seconds, wanted in zip(sounds, wants)) for (_, sounds), wants in zip(clips, expected)
    ]
    return stretched, [[seconds < SILENT_SECONDS for seconds in sounds] for _, sounds in clips]


def misheard(recogniser, folder, texts=None):
    """Words of all clips of a folder; rates are in % of the words of the texts."""
    files = audio.files(folder)
    texts = texts or (pathlib.Path(folder).parent / "texts.txt").read_text(encoding="utf-8").splitlines()
    if len(files) > len(texts):
        sys.exit(f"{folder}: more WAV files than ../texts.txt has lines")
    clips = []
    for path in files:
        samples = audio.read(path)
        words = recogniser.listen(samples)
        clips.append((words, sound_seconds(samples, words)))
    stretched, made_up = durations(clips)
    heard = ["".join(word.text for word, invented in zip(words, marks) if not invented) for (words, _), marks in zip(clips, made_up)]
    compared = [(recogniser.normalise(text).strip(), recogniser.normalise(one).strip()) for text, one in zip(texts, heard)]
    found = jiwer.process_words([text for text, _ in compared], [one for _, one in compared])
    count = found.hits + found.substitutions + found.deletions
    wrong = found.substitutions + found.deletions + found.insertions
    return Misheard(count, wrong, found.substitutions, found.deletions, found.insertions, int(sum(stretched)), int(sum(map(sum, made_up))), compared)


def main(folders):
    show = "--show" in folders
    recogniser = Recogniser()
    for folder in folders:
        if folder == "--show":
            continue
        found = misheard(recogniser, folder)
        print(
            f"{folder}: {100 * found.wrong / found.words:.1f} % misheard ({found.wrong} of {found.words} words: {found.substituted} others, {found.left_out} left out, "
            f"{found.added} too many); {found.stretched} stretched, {found.made_up} made up",
            flush=True,
        )
        for text, one in found.heard if show else []:
            if text != one:
                print(f"    {text}\n    {one}")


if __name__ == "__main__":
    main(sys.argv[1:]) if len(sys.argv) > 1 else sys.exit(__doc__)
