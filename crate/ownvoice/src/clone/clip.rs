//! Clips: the check of their level, and the alignment of their phones. Cloning begins with both; a page runs them after each recording.

use std::{borrow::Borrow, path::Path};

use crate::{
    Error, Result,
    align::{
        Alignment, ForcedAligner,
        adapt::{AdaptConfig, AdaptationClip, adapt},
        segment::{self, Cut},
    },
    audio::{
        Audio, Note,
        level::{self, ClipReport},
        mel::{Mel, MelExtractor},
        pitch, prepare_checked, wav,
    },
    files,
    synth::sentence::{SentenceProsody, synthesise_sentence},
    text::{
        self,
        symbols::{SILENCE, Symbol, by_frame, is_phone, is_vowel},
    },
    voice::{Base, Voice},
};

/// A recording and its text.
#[warn(missing_docs)]
#[derive(Debug, Clone, PartialEq)]
pub struct Clip {
    /// The recording.
    pub audio: Audio,
    /// The text that is spoken, word for word.
    pub text: String,
}

#[warn(missing_docs)]
impl Clip {
    /// Reads a clip from the bytes of a WAV file. Fails with `audio-unreadable`.
    pub fn from_wav(wav: &[u8], text: impl Into<String>) -> Result<Self> {
        Ok(Self { audio: wav::read(wav)?, text: text.into() })
    }

    /// Reads a clip from a WAV file, or from a file of any common format with the feature `formats`. Fails with `io` or `audio-unreadable`; the error names the
    /// file.
    pub fn open(path: impl AsRef<Path>, text: impl Into<String>) -> Result<Self> {
        Ok(Self { audio: files::read_audio(path.as_ref())?, text: text.into() })
    }
}

/// A clip with the duration of each symbol.
#[derive(Clone)]
pub struct AlignedClip {
    pub symbols: Vec<Symbol>,
    pub durations: Vec<u32>,
    /// `[T, M]`
    pub mel: Vec<f32>,
    /// `[T]`, 0 where unvoiced
    pub f0_hz: Vec<f32>,
    /// Whether its phones are mapped from another language.
    pub foreign: bool,
}

impl AlignedClip {
    /// Returns the number of frames T.
    pub fn frames(&self) -> usize {
        self.durations.iter().sum::<u32>() as usize
    }

    /// Synthesises a sentence with the learned durations and pitch of a voice.
    pub async fn synthesise(voice: &Voice, sentence: &str) -> Result<Self> {
        let spoken = synthesise_sentence(voice, sentence).await?;
        let SentenceProsody { symbols, durations, f0_hz } = spoken.prosody;
        Ok(Self { symbols, durations, mel: spoken.mel.data, f0_hz, foreign: false })
    }

    /// Returns the spectrogram.
    ///
    /// * `mels`: the number of bands M
    pub fn spectrogram(&self, mels: usize) -> Mel {
        Mel { mels, data: self.mel.clone() }
    }

    /// Returns the symbol of each frame.
    pub fn phones(&self) -> Vec<Symbol> {
        by_frame(&self.symbols, &self.durations)
    }
}

/// The most recordings that the aligner is adapted to before the clips of a speaker are selected.
const ADAPTED_TO: usize = 40;
/// The length of a run of phones of minimum duration that indicates an unspoken word.
const UNSPOKEN_PHONES: usize = 5;

/// The voiced share of vowels, in percent, below which a clip is whispered.
const WHISPERED_PERCENT: f32 = 35.0;
/// The phones of a second above which speech is fast.
const FAST_PHONES_PER_SECOND: f32 = 20.0;

/// A clip before its alignment.
struct Prepared {
    mel: Mel,
    f0_hz: Vec<f32>,
    symbols: Vec<Symbol>,
    word_ends: Vec<bool>,
    foreign: bool,
}

impl Prepared {
    async fn new(base: &Base, clip: &Clip) -> Result<Self> {
        Self::with_report(base, clip).await.map(|(prepared, _)| prepared)
    }

    async fn with_report(base: &Base, clip: &Clip) -> Result<(Self, ClipReport)> {
        let config = base.mel_config();
        let (samples, report) = prepare_checked(&clip.audio, config)?;
        let samples = level::shorten_pauses(samples, config.sample_rate_hz);
        let mel = MelExtractor::new(config.clone()).extract(&samples);
        let f0_hz = pitch::track(&samples, config.sample_rate_hz, config.hop_length).f0_hz;
        let (symbols, word_ends) = base.aligner.spoken_symbols(&base.phonemizer, &mel, &clip.text).await?;
        Ok((Self { mel, f0_hz, symbols, word_ends, foreign: is_foreign(&clip.text) }, report))
    }

    fn spoken(&self) -> AdaptationClip<'_> {
        AdaptationClip { mel: &self.mel, symbols: &self.symbols, word_ends: &self.word_ends }
    }

    /// Splits the clip at `cuts`. A segment has a silence at an end where the cut leaves one.
    fn segments(self, cuts: &[Cut]) -> impl Iterator<Item = Self> {
        let ends = cuts.iter().copied().map(Some).chain([None]);
        let begins = [None].into_iter().chain(cuts.iter().copied().map(Some));
        begins.zip(ends).map(move |(from, to)| {
            let (first, begin) = from.map_or((0, 0), |cut| (cut.symbol, cut.begin()));
            let (last, end) =
                to.map_or((self.symbols.len(), self.mel.frames()), |cut| (cut.symbol, cut.end()));
            let (mut symbols, mut word_ends) =
                (self.symbols[first..last].to_vec(), self.word_ends[first..last].to_vec());
            if from.is_some_and(|cut| cut.margins().1 > 0) {
                symbols.insert(0, SILENCE);
                word_ends.insert(0, false);
            }
            let pauses = symbols.iter().rev().take_while(|&&symbol| text::symbols::is_pause(symbol)).count();
            if to.is_some_and(|cut| cut.margins().0 > pauses) {
                symbols.push(SILENCE);
                word_ends.push(false);
            }
            let mel = Mel {
                mels: self.mel.mels,
                data: self.mel.data[begin * self.mel.mels..end * self.mel.mels].to_vec(),
            };
            Self { mel, f0_hz: self.f0_hz[begin..end].to_vec(), symbols, word_ends, foreign: self.foreign }
        })
    }

    /// Aligns the clip. Fails with `clip-mismatch` if another text is spoken, except in foreign clips: the recogniser was not trained on their phones, so that the
    /// score has no meaning.
    async fn align(&self, aligner: &ForcedAligner) -> Result<Alignment> {
        match self.foreign {
            true => aligner.align_unchecked(&self.mel, &self.symbols, &self.word_ends).await,
            false => aligner.align(&self.mel, &self.symbols, &self.word_ends).await,
        }
    }
}

/// Returns the notes on how a clip is spoken.
///
/// * `f0_hz`:         `[T]`, 0 where unvoiced
/// * `frame_seconds`: the length of a frame
fn notes(alignment: &Alignment, f0_hz: &[f32], frame_seconds: f32) -> Vec<Note> {
    let (mut phones, mut phone_frames, mut vowel_frames, mut voiced_frames) = (0, 0, 0, 0);
    let mut at = 0;
    for (&symbol, &frames) in alignment.symbols.iter().zip(&alignment.durations) {
        let frames = frames as usize;
        if is_phone(symbol) {
            (phones, phone_frames) = (phones + 1, phone_frames + frames);
        }
        if is_vowel(symbol) {
            vowel_frames += frames;
            voiced_frames += f0_hz[at..at + frames].iter().filter(|&&hz| hz > 0.0).count();
        }
        at += frames;
    }
    let voiced_percent = 100.0 * voiced_frames as f32 / vowel_frames.max(1) as f32;
    let phones_per_second = phones as f32 / (phone_frames.max(1) as f32 * frame_seconds);
    let is_whispered = vowel_frames > 0 && voiced_percent < WHISPERED_PERCENT;
    let whispered = is_whispered.then_some(Note::Whispered { voiced_percent });
    let fast = (phones_per_second > FAST_PHONES_PER_SECOND).then_some(Note::Fast { phones_per_second });
    whispered.into_iter().chain(fast).collect()
}

/// Returns whether a text consists of phones in braces only, see [`text::Phonemizer::words`]: they are mapped from another language.
fn is_foreign(text: &str) -> bool {
    text.contains('{')
        && !text.split('{').any(|piece| {
            piece.rsplit('}').next().is_some_and(|outside| outside.contains(char::is_alphanumeric))
        })
}

/// Returns the level report of a clip and the score of its alignment (see [`Alignment::score`]). Fails with the codes of
/// [`crate::audio::level::check_clip`], or with `clip-mismatch` if another text is spoken.
pub async fn check_clip(base: &Base, clip: &Clip) -> Result<(ClipReport, f32)> {
    let (prepared, mut report) = Prepared::with_report(base, clip).await?;
    let alignment = prepared.align(&base.aligner).await.map_err(|error| error.comparing(&clip.text))?;
    report.notes.extend(notes(&alignment, &prepared.f0_hz, base.mel_config().frame_seconds()));
    Ok((report, alignment.score))
}

/// Returns whether the whole text of each clip is spoken, by an aligner that is adapted to their speaker. This works for foreign clips too, whose score has no
/// meaning: the phones of an unspoken word have the minimum duration. An error carries the index of its clip.
pub async fn spoken_throughout(base: &Base, clips: &[Clip]) -> Result<Vec<bool>> {
    let mut prepared = Vec::with_capacity(clips.len());
    for (index, clip) in clips.iter().enumerate() {
        prepared.push(Prepared::new(base, clip).await.map_err(|error| error.in_clip(index))?);
    }
    let recordings: Vec<AdaptationClip> =
        prepared.iter().step_by(clips.len().div_ceil(ADAPTED_TO).max(1)).map(Prepared::spoken).collect();
    let aligner = adapt(&base.aligner, &recordings, &AdaptConfig::default()).await?;
    let mut throughout = Vec::with_capacity(clips.len());
    for (index, clip) in prepared.iter().enumerate() {
        let found = aligner.align_unchecked(&clip.mel, &clip.symbols, &clip.word_ends).await;
        throughout
            .push(found.map_err(|error| error.in_clip(index))?.longest_min_duration_run() < UNSPOKEN_PHONES);
    }
    Ok(throughout)
}

/// The aligned clips of a speaker.
pub struct AlignedClips {
    pub clips: Vec<AlignedClip>,
    /// The aligner, adapted to the speaker.
    pub aligner: ForcedAligner,
    /// Why clips were left out. Each error carries the index of its clip.
    pub left_out: Vec<Error>,
    /// The notes on the other clips, each with the index of its clip.
    pub notes: Vec<(usize, Note)>,
}

/// Cuts the clips as [`segment::choose`] decides, and aligns the segments by an aligner that is adapted to their speaker. Clips that cannot be used are left out.
///
/// * `clips`: in memory, or read one by one, since only their spectrograms are kept
///
/// # Errors
/// Fails with the error of the first clip if all are left out, and with `no-clips` if there are none.
pub async fn align_clips<C: Borrow<Clip>>(
    base: &Base,
    clips: impl IntoIterator<Item = C>,
) -> Result<AlignedClips> {
    let (mut prepared, mut boundaries) = (Vec::new(), Vec::new());
    let (mut left_out, mut found) = (Vec::new(), Vec::new());
    for (index, clip) in clips.into_iter().enumerate() {
        let clip = clip.borrow();
        // Clips with another text are left out before the aligner is adapted to them.
        let checked = async {
            let (prepared, report) = Prepared::with_report(base, clip).await?;
            let alignment = prepared.align(&base.aligner).await?;
            Ok::<_, Error>((prepared, report, alignment))
        };
        match checked.await {
            Ok((clip, report, alignment)) => {
                let spoken = notes(&alignment, &clip.f0_hz, base.mel_config().frame_seconds());
                found.extend(report.notes.into_iter().chain(spoken).map(|note| (index, note)));
                let ends = segment::boundaries(&clip.symbols, &clip.word_ends, &alignment);
                boundaries.push((clip.mel.frames(), ends));
                prepared.push(clip);
            }
            Err(error) if error.is_about_clip() => {
                left_out.push(error.comparing(&clip.text).in_clip(index));
            }
            Err(error) => return Err(error),
        }
    }
    if prepared.is_empty() {
        return Err(if left_out.is_empty() { Error::no_clips() } else { left_out.remove(0) });
    }
    let cuts = segment::choose(&boundaries);
    let prepared: Vec<Prepared> =
        prepared.into_iter().zip(&cuts).flat_map(|(clip, cuts)| clip.segments(cuts)).collect();
    let recordings: Vec<AdaptationClip> = prepared.iter().map(Prepared::spoken).collect();
    let aligner = adapt(&base.aligner, &recordings, &AdaptConfig::default()).await?;
    let mut aligned = Vec::with_capacity(prepared.len());
    for Prepared { mel, f0_hz, symbols, word_ends, foreign } in prepared {
        let Alignment { symbols, durations, .. } =
            aligner.align_unchecked(&mel, &symbols, &word_ends).await?;
        aligned.push(AlignedClip { symbols, durations, mel: mel.data, f0_hz, foreign });
    }
    Ok(AlignedClips { clips: aligned, aligner, left_out, notes: found })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_phones_only_is_foreign() {
        assert!(is_foreign("{D AA1 T} {IH0 S}, {V R AA1 K}?"));
        assert!(
            !is_foreign("The {T AH0 M EY1 T OW2} is ripe.")
                && !is_foreign("{T AH0 M EY1 T OW2} is ripe.")
                && !is_foreign("Ripe.")
        );
    }
}
