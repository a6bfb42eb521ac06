//! Speaks a text sentence by sentence. Every loop has a bound, and how it ended is a value.

use burn::prelude::*;

use crate::{
    Error, Result,
    audio::{
        global_variance_scale::scale_variance,
        mel::{Mel, MelConfig},
        pauses::quiet_pauses,
        wav::{self, Origin},
    },
    model::{pitch::Intonation, stop::StopReason},
    text::{self, NormalizedSentence, Word, symbols::Symbol},
    vocoder::Vocoder,
    voice::{Adapted, Base, Voice},
};
use burn_fused::{Mode, readback::read};

/// How a text is spoken.
#[warn(missing_docs)]
#[derive(Debug, Clone, PartialEq)]
pub struct SpeakOptions {
    /// Times the learned speed, 0.25 to 4.
    pub speed: f32,
    /// Semitones above the learned pitch, -12 to 12; needs a base with pitch.
    pub pitch: f32,
    /// Times the learned pitch_range of the melody, 0 (monotone) to 3; likewise.
    pub pitch_range: f32,
    /// Makes the speech of an attention model repeatable, whose prenet drops values in synthesis too. A base draws nothing.
    pub seed: u64,
}

impl Default for SpeakOptions {
    fn default() -> Self {
        Self { speed: 1.0, pitch: 0.0, pitch_range: 1.0, seed: 0 }
    }
}

impl SpeakOptions {
    /// * `has_pitch`: whether the base can change it
    fn check(&self, has_pitch: bool) -> Result<()> {
        for (name, value, range) in [
            ("speed", self.speed, 0.25..=4.0),
            ("pitch", self.pitch, -12.0..=12.0),
            ("liveliness", self.pitch_range, 0.0..=3.0),
        ] {
            if !range.contains(&value) {
                return Err(Error::option_invalid(format!(
                    "a {name} of {value} is not between {} and {}",
                    range.start(),
                    range.end()
                )));
            }
        }
        let usual = Self::default();
        if !has_pitch && (self.pitch, self.pitch_range) != (usual.pitch, usual.pitch_range) {
            return Err(Error::option_invalid("this base has no pitch that could be changed"));
        }
        Ok(())
    }
}

/// Synthesised speech.
#[warn(missing_docs)]
#[derive(Debug, Clone, PartialEq)]
pub struct Speech {
    /// `[S]`, full scale is -1 to 1.
    pub samples: Vec<f32>,
    /// The rate of the samples.
    pub sample_rate_hz: u32,
    /// The spectrogram that the vocoder was given.
    pub mel: Mel,
    /// The phonemes and pauses.
    pub symbols: Vec<Symbol>,
    /// Frames of each symbol.
    pub durations: Vec<u32>,
    /// Why it ended: [`StopReason::MaxFrames`] where an attention model came to no end.
    pub stop: StopReason,
}

/// One sentence of it, or a part of one, before the vocoder.
pub(super) struct Sentence {
    /// Silence before it, unless it is the first.
    pub pause_frames: usize,
    pub mel: Mel,
    pub symbols: Vec<Symbol>,
    pub durations: Vec<u32>,
    pub stop: StopReason,
}

#[warn(missing_docs)]
impl Speech {
    /// Its length in seconds.
    pub fn seconds(&self) -> f32 {
        self.samples.len() as f32 / self.sample_rate_hz as f32
    }

    /// A WAV file of 16-bit samples that is marked as synthetic, with the id of its voice.
    ///
    /// * `voice_id`: of the voice that speaks, see [`Voice::id`]
    pub fn to_wav(&self, voice_id: &str) -> Vec<u8> {
        wav::write_with_origin(&self.samples, self.sample_rate_hz, &Origin::synthetic(voice_id))
    }

    /// `complete` is how each sentence should end.
    pub(super) fn empty(config: &MelConfig, complete: StopReason) -> Self {
        Self {
            samples: Vec::new(),
            sample_rate_hz: config.sample_rate_hz,
            mel: Mel { mels: config.mels, data: Vec::new() },
            symbols: Vec::new(),
            durations: Vec::new(),
            stop: complete,
        }
    }

    /// Adds a sentence, after its pause unless it is the first.
    pub(super) fn say(&mut self, config: &MelConfig, sentence: Sentence, vocoder: &dyn Vocoder) {
        if !self.symbols.is_empty() {
            self.samples.extend(std::iter::repeat_n(0.0, sentence.pause_frames * config.hop_length));
            self.mel.data.extend(std::iter::repeat_n(config.silence(), sentence.pause_frames * config.mels));
        }
        self.samples.extend(sound(&sentence.mel, config, vocoder));
        self.mel.data.extend(sentence.mel.data);
        self.symbols.extend(sentence.symbols);
        self.durations.extend(sentence.durations);
        if sentence.stop == StopReason::MaxFrames {
            self.stop = sentence.stop;
        }
    }
}

/// The sound of a sentence, its pauses without the room of the recordings.
pub fn sound(mel: &Mel, config: &MelConfig, vocoder: &dyn Vocoder) -> Vec<f32> {
    quiet_pauses(vocoder.vocode(mel), mel, config)
}

/// Splits a text into the sentences that can be spoken, at least one.
pub(super) fn sentences(text: &str) -> Result<Vec<NormalizedSentence>> {
    let characters = text.chars().count();
    if characters > MAX_CHARACTERS {
        return Err(Error::text_too_long(characters, MAX_CHARACTERS));
    }
    text::normalized_sentences(text)
}

/// Texts beyond this are refused: a book is spoken chapter by chapter.
pub const MAX_CHARACTERS: usize = 20_000;
/// No symbol lasts longer, 1 s at 16 kHz.
const MAX_SYMBOL_FRAMES: f32 = 80.0;
/// Bound on what is spoken in one piece, 30 s at 16 kHz. A longer sentence is spoken in several.
pub(super) const MAX_FRAMES: usize = 2400;
/// Silence between sentences, 150 ms.
pub(super) const PAUSE_FRAMES: usize = 12;

/// Speaks `text`. `progress(done, of)` is called before each sentence; `false` cancels.
pub async fn speak_async(
    base: &Base,
    voice: &Voice,
    text: &str,
    options: &SpeakOptions,
    vocoder: &dyn Vocoder,
    mut progress: impl AsyncFnMut(usize, usize) -> bool,
) -> Result<Speech> {
    options.check(base.config().pitch)?;
    let sentences = sentences(text)?;
    let mut speech = Speech::empty(base.mel_config(), StopReason::Durations);
    for (index, sentence) in sentences.iter().enumerate() {
        if !progress(index, sentences.len()).await {
            return Err(Error::cancelled());
        }
        for (part, (symbols, durations)) in
            timed(base, voice, sentence, options).await?.into_iter().enumerate()
        {
            let (mel, _) = frames(base, voice, &symbols, &durations, options).await?;
            let (pause_frames, stop) = (if part == 0 { PAUSE_FRAMES } else { 0 }, StopReason::Durations);
            speech.say(base.mel_config(), Sentence { pause_frames, mel, symbols, durations, stop }, vocoder);
        }
    }
    progress(sentences.len(), sentences.len()).await;
    Ok(speech)
}

/// One sentence with the learned timing: its symbols, their frames, the spectrogram, and the pitch of its frames.
pub async fn say_symbols(
    base: &Base,
    voice: &Voice,
    sentence: &str,
) -> Result<(Vec<Symbol>, Vec<u32>, Mel, Vec<f32>)> {
    let symbols = base.phonemizer.symbols(sentence)?;
    let durations = durations(base, voice, &symbols, &SpeakOptions::default()).await?;
    let (mel, f0_hz) = frames(base, voice, &symbols, &durations, &SpeakOptions::default()).await?;
    Ok((symbols, durations, mel, f0_hz))
}

/// The same without the spectrogram, which takes most of the time.
pub(crate) async fn prosody_of(
    base: &Base,
    voice: &Voice,
    sentence: &str,
) -> Result<(Vec<Symbol>, Vec<u32>, Vec<f32>)> {
    let symbols = base.phonemizer.symbols(sentence)?;
    let durations = durations(base, voice, &symbols, &SpeakOptions::default()).await?;
    let (_, f0_hz) = intoned(base, voice, &symbols, &durations, &SpeakOptions::default()).await?;
    Ok((symbols, durations, f0_hz))
}

/// The parts of a sentence that each last no longer than the bound: halves of halves, and the sentence itself where it fits. Each has its symbols and their
/// frames.
async fn timed(
    base: &Base,
    voice: &Voice,
    sentence: &NormalizedSentence,
    options: &SpeakOptions,
) -> Result<Vec<(Vec<Symbol>, Vec<u32>)>> {
    let (mut rest, mut parts) = (vec![base.phonemizer.words_of(sentence)?], Vec::new());
    while let Some(words) = rest.pop() {
        let symbols = text::to_symbols(&words).0;
        let durations = durations(base, voice, &symbols, options).await?;
        match halves(&words).filter(|_| durations.iter().sum::<u32>() > MAX_FRAMES as u32) {
            Some((first, second)) => rest.extend([second, first]),
            None => parts.push((symbols, durations)),
        }
    }
    Ok(parts)
}

/// Words cut in two: after the pause nearest to their middle, for want of one between words, within the only word at last. `None` for a single phone.
fn halves(words: &[Word]) -> Option<(Vec<Word>, Vec<Word>)> {
    let length = |words: &[Word]| words.iter().map(|word| word.symbols.len()).sum::<usize>();
    let first = words.iter().position(|word| !word.is_pause())?;
    let last = words.iter().rposition(|word| !word.is_pause())?;
    // A half begins with a word, so that a pause ends the half before.
    let cuts = (first + 1..=last).filter(|&at| !words[at].is_pause());
    let nearest = cuts
        .min_by_key(|&at| (!words[at - 1].is_pause(), (2 * length(&words[..at])).abs_diff(length(words))));
    if let Some(at) = nearest {
        return Some((words[..at].to_vec(), words[at..].to_vec()));
    }
    let Word { text, symbols } = &words[first];
    let middle = symbols.len() / 2;
    let half = |symbols: &[Symbol]| Word { text: text.clone(), symbols: symbols.to_vec() };
    let cut = || {
        (
            [&words[..first], &[half(&symbols[..middle])]].concat(),
            [&[half(&symbols[middle..])], &words[last + 1..]].concat(),
        )
    };
    (middle > 0).then(cut)
}

/// Whole frames for each symbol. The rounding error is carried on, so that the sentence keeps its length.
async fn durations(
    base: &Base,
    voice: &Voice,
    symbols: &[Symbol],
    options: &SpeakOptions,
) -> Result<Vec<u32>> {
    let readout = voice.duration_head_delta.as_ref();
    let logs = base.log_durations_async(symbols, &voice.timing_speaker, readout).await?;
    let factor = voice.duration_scale / options.speed;
    let (mut exact, mut total) = (0.0, 0u32);
    let mut durations = Vec::with_capacity(symbols.len());
    for log in logs {
        exact += (log.min(MAX_SYMBOL_FRAMES.ln()).exp() * factor).clamp(1.0, MAX_SYMBOL_FRAMES);
        let frames = (exact.round() as u32).saturating_sub(total).max(1);
        total += frames;
        durations.push(frames);
    }
    Ok(durations)
}

/// The spectrogram of symbols with known durations, and the pitch of each frame in Hz: 0 where unvoiced, empty on a base without pitch.
///
/// Nothing goes back to the host between the first frame and the last but the melody, before the decoder.
async fn frames(
    base: &Base,
    voice: &Voice,
    symbols: &[Symbol],
    durations: &[u32],
    options: &SpeakOptions,
) -> Result<(Mel, Vec<f32>)> {
    let (context, f0_hz) = intoned(base, voice, symbols, durations, options).await?;
    let total = durations.iter().sum::<u32>() as usize;
    let mel = decode(base, voice, base.with_excitation(context, &f0_hz), total).await?;
    Ok((mel, f0_hz))
}

/// The context of known durations without excitation, `[1, T, C]`, and the pitch as [`frames`] returns it.
async fn intoned(
    base: &Base,
    voice: &Voice,
    symbols: &[Symbol],
    durations: &[u32],
    options: &SpeakOptions,
) -> Result<(Tensor<3>, Vec<f32>)> {
    let total = durations.iter().sum::<u32>() as usize;
    let context = base.contexts(symbols, durations, total.next_multiple_of(base.config().reduction));
    let contour = base.contour_async(&context, &voice.timing_speaker, voice.voicing_readout.as_ref());
    let f0_hz = match (contour.await?, voice.intonation) {
        (Some(contour), Some(Intonation { mean_hz, spread })) => {
            let higher = (options.pitch / 12.0).exp2();
            let intonation = Intonation { mean_hz: mean_hz * higher, spread: spread * options.pitch_range };
            let mut f0_hz = contour.f0_hz(intonation);
            f0_hz.truncate(total);
            f0_hz
        }
        _ => Vec::new(),
    };
    Ok((context, f0_hz))
}

/// The spectrogram of symbols whose frames and whose pitch are known, as those of a recording.
///
/// * `durations`: frames of each symbol
/// * `f0_hz`: of each frame, 0 where unvoiced
pub async fn copy_prosody(
    base: &Base,
    voice: &Voice,
    symbols: &[Symbol],
    durations: &[u32],
    f0_hz: &[f32],
) -> Result<Mel> {
    let total = durations.iter().sum::<u32>() as usize;
    let context = base.contexts(symbols, durations, total.next_multiple_of(base.config().reduction));
    decode(base, voice, base.with_excitation(context, f0_hz), total).await
}

/// A spectrogram of `total` frames.
///
/// * `context`: `[1, T, C]`, T at least `total`
pub(crate) async fn decode(base: &Base, voice: &Voice, context: Tensor<3>, total: usize) -> Result<Mel> {
    let (config, Adapted { decoder, postnet, speaker, .. }) = (base.config(), &voice.parts);
    let (frames, _) = decoder.forward(context, speaker.val(), decoder.start(1, &base.device));
    let frames = frames.clone() + postnet.forward(frames, Mode::Eval);
    let values = read(frames.narrow(1, 0, total).reshape([total * config.mels])).await?;
    let mel = scale_variance(config.log_mels(values, base.mel_config()), voice.global_variance_scale);
    Ok(match &voice.spectral_transport {
        Some(found) => found.apply(mel),
        None => mel,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Phonemizer;

    /// Whatever the spectrogram, a sound of ones.
    struct Ones(usize);

    impl Vocoder for Ones {
        fn name(&self) -> &'static str {
            "ones"
        }

        fn vocode(&self, mel: &Mel) -> Vec<f32> {
            vec![1.0; (mel.frames() - 1) * self.0]
        }
    }

    #[test]
    fn what_is_said_has_quiet_pauses() {
        let config = MelConfig::speech_16k();
        let level = |t: usize| if t < 20 { -3.0 } else { -8.5 };
        let data = (0..40 * config.mels).map(|at| level(at / config.mels)).collect();
        let mel = Mel { mels: config.mels, data };
        let sentence = Sentence {
            pause_frames: 0,
            mel: mel.clone(),
            symbols: vec![crate::text::symbols::SILENCE],
            durations: vec![40],
            stop: StopReason::Durations,
        };
        let mut speech = Speech::empty(&config, StopReason::Durations);
        speech.say(&config, sentence, &Ones(config.hop_length));
        let (said, pause) = (speech.samples[10 * config.hop_length], speech.samples[30 * config.hop_length]);
        assert!(said == 1.0 && pause < 0.3, "{said} {pause}");
        assert_eq!(speech.mel, mel, "the vocoder was given pauses as they are");
    }

    #[test]
    fn halves_are_cut_at_the_pause_nearest_to_the_middle() {
        let phonemizer = Phonemizer::embedded();
        let words = |text: &str| phonemizer.words(text).unwrap();
        let cut = |text: &str| {
            let (first, second) = halves(&words(text)).unwrap();
            assert_eq!(
                [first.clone(), second.clone()]
                    .concat()
                    .iter()
                    .flat_map(|word| word.symbols.clone())
                    .collect::<Vec<_>>(),
                words(text).iter().flat_map(|word| word.symbols.clone()).collect::<Vec<_>>()
            );
            let text =
                |words: Vec<Word>| words.iter().map(|word| word.text.clone()).collect::<Vec<_>>().join(" ");
            (text(first), text(second))
        };
        let pair = |first: &str, second: &str| (first.to_string(), second.to_string());
        assert_eq!(
            cut("Well, the dog sleeps, and the cat runs."),
            pair("well , the dog sleeps ,", "and the cat runs .")
        );
        assert_eq!(
            cut("Well, the dog sleeps and the cat runs."),
            pair("well ,", "the dog sleeps and the cat runs .")
        );
        assert_eq!(cut("The dog sleeps"), pair("the dog", "sleeps ."));
        assert_eq!(cut("Sleeping."), pair("sleeping", "sleeping ."));
        assert_eq!(halves(&words("{AA1}")), None);
    }
}
