"""How every evaluator reads a WAV file: 16 kHz, one channel, the same trimming and the same level for recordings and for synthetic speech.

The networks hear more than speech: DNSMOS' overall follows a mere gain, and both of its opinions follow the silence around a sentence. Recordings that our own loader has trimmed
beside speech that nobody trimmed are therefore not comparable until both have gone through here.
"""

import pathlib
import sys

import numpy as np
import soundfile

RATE = 16000
ACTIVE_DBFS = -26.0
MARGIN_SECONDS = 0.05  # Around the speech: what the product's own trimming leaves, so that it changes nothing here.
FRAME = RATE // 50  # 20 ms


def resample(samples, rate):
    """To 16 kHz, by the spectrum of the whole clip."""
    if rate == RATE:
        return samples
    pad = rate // 10
    wanted = round(len(samples) * RATE / rate)
    # Both lengths hold a whole number of tenths of a second, so that their ratio is exact; the padding keeps the ends apart.
    tenths = -(-(len(samples) + pad) // pad)
    spectrum = np.fft.rfft(samples, tenths * pad)
    length = tenths * RATE // 10
    bins = min(len(spectrum), length // 2 + 1)
    return np.fft.irfft(spectrum[:bins], length)[:wanted].astype(np.float32) * (length / (tenths * pad))


def active_level_db(samples):
    """The active speech level as ITU-T P.56 (method B) defines it, in dBFS, on blocks of one millisecond; -inf for digital silence.

    The envelope is smoothed twice by 30 ms and held for 200 ms; the threshold is the one that lies 15.9 dB below the level of what exceeds it. Thresholds are steps of 1 dB from the
    clip's own RMS and not from full scale, so that a gain shifts the level by exactly itself.
    """
    rms = float(np.sqrt(np.mean(np.square(samples, dtype=np.float64)))) if len(samples) else 0.0
    if rms == 0:
        return -np.inf
    block = RATE // 1000
    blocks = np.abs(samples[: len(samples) // block * block].astype(np.float64) / rms).reshape(-1, block).mean(1)
    keep = np.exp(-1 / 30)
    once = twice = 0.0
    envelope = np.empty(len(blocks))
    for at, value in enumerate(blocks):
        once = keep * once + (1 - keep) * value
        twice = keep * twice + (1 - keep) * once
        envelope[at] = twice
    thresholds = np.arange(-50, 20)
    last = np.maximum.accumulate(np.where(envelope >= 10 ** (thresholds[:, None] / 20), np.arange(len(envelope)), -1000), axis=1)
    active = (np.arange(len(envelope)) - last <= 200).mean(1)
    levels = -10 * np.log10(np.maximum(active, 1e-9))
    beyond = np.nonzero((levels - thresholds <= 15.9) | (active == 0))[0]
    at = max(1, beyond[0])
    above, below = (levels - thresholds)[at - 1], (levels - thresholds)[at]
    share = np.clip((above - 15.9) / (above - below), 0, 1) if active[at] else 0
    return 20 * np.log10(rms) + levels[at - 1] + share * (levels[at] - levels[at - 1] if active[at] else 0)


def is_speech(samples):
    """Whether each frame of 20 ms holds speech: it is less than 30 dB below the active level, and so are two of its four neighbours. A click is not speech."""
    frames = samples[: len(samples) // FRAME * FRAME].reshape(-1, FRAME).astype(np.float64)
    level = 10 * np.log10(np.mean(frames**2, axis=1) + 1e-12)
    loud = level > active_level_db(samples) - 30
    return loud & (np.convolve(loud, np.ones(5), "same") >= 3) if len(loud) >= 5 else loud


def trim(samples, margin=MARGIN_SECONDS):
    found = np.nonzero(is_speech(samples))[0]
    if not len(found):
        return samples
    margin = int(margin * RATE)
    return samples[max(0, found[0] * FRAME - margin) : (found[-1] + 1) * FRAME + margin]


def level(samples):
    """At -26 dBFS active."""
    found = active_level_db(samples)
    return samples if found == -np.inf else (samples * 10 ** ((ACTIVE_DBFS - found) / 20)).astype(np.float32)


def read(path):
    """A clip as every evaluator hears it."""
    samples, rate = soundfile.read(path, dtype="float32")
    if samples.ndim != 1 or len(samples) < RATE // 10 or not np.any(samples):
        sys.exit(f"{path}: one channel and a tenth of a second of sound are wanted")
    return level(trim(resample(samples, rate)))


def files(folder):
    found = sorted(pathlib.Path(folder).glob("*.wav"))
    return found or sys.exit(f"{folder}: no WAV files")


def mel_filters(channels, length):
    """Slaney's mel scale, triangles of unit area (librosa's `filters.mel` with its defaults), `[channels, length // 2 + 1]`."""

    def hz(mel):
        return np.where(mel < 15, mel * 200 / 3, 1000 * np.exp((mel - 15) * np.log(6.4) / 27))

    highest = 15 + 27 * np.log(RATE / 2000) / np.log(6.4)
    edges = hz(np.linspace(0, highest, channels + 2))
    bins = np.arange(length // 2 + 1) * RATE / length
    rising = (bins - edges[:-2, None]) / np.diff(edges)[:-1, None]
    falling = (edges[2:, None] - bins) / np.diff(edges)[1:, None]
    return np.maximum(0, np.minimum(rising, falling)) * (2 / (edges[2:] - edges[:-2]))[:, None]


def power_spectra(samples, length, hop):
    """Hann windows around every `hop`-th sample, zeros beyond both ends, `[frames, length // 2 + 1]`."""
    padded = np.pad(samples, length // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, length)[::hop] * np.hanning(length + 1)[:-1]
    return np.abs(np.fft.rfft(frames)) ** 2
