//! The synthesis of one sentence: durations, pitch and spectrogram.

use burn::prelude::*;

use super::SpeakOptions;
use crate::{
    Result,
    audio::{global_variance_scale::scale_variance, mel::Mel},
    model::pitch::Intonation,
    text::{self, NormalizedSentence, Word, symbols::Symbol},
    voice::{Adapted, EncodedSentence, Voice},
};
use burn_fused::{Mode, readback::read};

/// The longest duration of a symbol in frames, 1 s at 16 kHz.
const MAX_SYMBOL_FRAMES: f32 = 80.0;
/// The most frames that are synthesised at once, 30 s at 16 kHz. Longer sentences are split.
pub(super) const MAX_FRAMES: usize = 2400;

/// The symbols of a sentence with their timing and pitch.
#[derive(Debug, Clone)]
pub struct SentenceProsody {
    pub symbols: Vec<Symbol>,
    /// The frames of each symbol.
    pub durations: Vec<u32>,
    /// The pitch of each frame, 0 where unvoiced; empty on a base without pitch.
    pub f0_hz: Vec<f32>,
}

/// A sentence that was synthesised.
#[derive(Debug, Clone)]
pub struct SynthesisedSentence {
    pub prosody: SentenceProsody,
    pub mel: Mel,
}

/// Synthesises the spectrogram of a sentence with the learned timing and pitch.
pub async fn synthesise_sentence(voice: &Voice, sentence: &str) -> Result<SynthesisedSentence> {
    let options = SpeakOptions::default();
    let symbols = voice.base().phonemizer.symbols(sentence)?;
    let timed = TimedSentence::predict(voice, &symbols, &options).await?;
    let Pitched { context, f0_hz } = timed.pitched(voice, &options).await?;
    let mel = decode(voice, voice.base().with_excitation(context, &f0_hz), timed.frames()).await?;
    Ok(SynthesisedSentence { prosody: SentenceProsody { symbols, durations: timed.durations, f0_hz }, mel })
}

/// Predicts the timing and pitch of a sentence without its spectrogram, which takes most of the time.
pub(crate) async fn predict_prosody(voice: &Voice, sentence: &str) -> Result<SentenceProsody> {
    let options = SpeakOptions::default();
    let symbols = voice.base().phonemizer.symbols(sentence)?;
    let timed = TimedSentence::predict(voice, &symbols, &options).await?;
    let Pitched { f0_hz, .. } = timed.pitched(voice, &options).await?;
    Ok(SentenceProsody { symbols, durations: timed.durations, f0_hz })
}

/// The encoded symbols of a sentence, and their durations.
pub(super) struct TimedSentence {
    pub encoded: EncodedSentence,
    /// The frames of each symbol.
    pub durations: Vec<u32>,
}

/// The contexts of a sentence without excitation, and the pitch of its frames.
struct Pitched {
    /// `[1, T, E + 4]`, T a multiple of the reduction
    context: Tensor<3>,
    /// 0 where unvoiced; empty on a base without pitch
    f0_hz: Vec<f32>,
}

impl TimedSentence {
    /// Predicts the durations of symbols in whole frames. The rounding error is carried over to the next symbol, so that the sentence keeps its length.
    async fn predict(voice: &Voice, symbols: &[Symbol], options: &SpeakOptions) -> Result<Self> {
        let (base, prosody) = (voice.base(), &voice.prosody);
        let encoded = base.encode(symbols);
        let head_delta = prosody.duration_head_delta.as_ref();
        let logs = base.log_durations_async(&encoded, &voice.timing_speaker, head_delta).await?;
        let factor = prosody.duration_scale / options.speed;
        let (mut exact, mut total) = (0.0, 0u32);
        let mut durations = Vec::with_capacity(symbols.len());
        for log in logs {
            exact += (log.min(MAX_SYMBOL_FRAMES.ln()).exp() * factor).clamp(1.0, MAX_SYMBOL_FRAMES);
            let frames = (exact.round() as u32).saturating_sub(total).max(1);
            total += frames;
            durations.push(frames);
        }
        Ok(Self { encoded, durations })
    }

    /// Predicts a sentence in parts of up to [`MAX_FRAMES`], each with its words. Longer parts are split in halves.
    pub async fn predict_parts(
        voice: &Voice,
        sentence: &NormalizedSentence,
        options: &SpeakOptions,
    ) -> Result<Vec<(Vec<Word>, Self)>> {
        let (mut rest, mut parts) = (vec![voice.base().phonemizer.words_of(sentence)?], Vec::new());
        while let Some(words) = rest.pop() {
            let timed = Self::predict(voice, &text::to_symbols(&words).0, options).await?;
            match halves(&words).filter(|_| timed.frames() > MAX_FRAMES) {
                Some((first, second)) => rest.extend([second, first]),
                None => parts.push((words, timed)),
            }
        }
        Ok(parts)
    }

    /// Returns the number of frames.
    fn frames(&self) -> usize {
        self.durations.iter().sum::<u32>() as usize
    }

    /// Predicts the pitch.
    async fn pitched(&self, voice: &Voice, options: &SpeakOptions) -> Result<Pitched> {
        let (base, prosody, frames) = (voice.base(), &voice.prosody, self.frames());
        let padded = frames.next_multiple_of(base.config().reduction);
        let context = base.contexts(&self.encoded, &self.durations, padded);
        let head_delta = prosody.voicing_head_delta.as_ref();
        let contour = base.contour_async(&context, &voice.timing_speaker, head_delta).await?;
        let f0_hz = match (contour, prosody.intonation) {
            (Some(contour), Some(Intonation { mean_hz, spread })) => {
                let factor = (options.pitch / 12.0).exp2();
                let intonation =
                    Intonation { mean_hz: mean_hz * factor, spread: spread * options.pitch_range };
                let mut f0_hz = contour.f0_hz(intonation);
                f0_hz.truncate(frames);
                f0_hz
            }
            _ => Vec::new(),
        };
        Ok(Pitched { context, f0_hz })
    }

    /// Synthesises the spectrogram. Only durations and pitch are read back from the device before it.
    pub async fn mel(&self, voice: &Voice, options: &SpeakOptions) -> Result<Mel> {
        let Pitched { context, f0_hz } = self.pitched(voice, options).await?;
        decode(voice, voice.base().with_excitation(context, &f0_hz), self.frames()).await
    }
}

/// Splits words in two: at the pause nearest to the middle, without a pause between words, and a single word in its middle. Returns `None` for a single phone.
fn halves(words: &[Word]) -> Option<(Vec<Word>, Vec<Word>)> {
    let length = |words: &[Word]| words.iter().map(|word| word.symbols.len()).sum::<usize>();
    let first = words.iter().position(|word| !word.is_pause())?;
    let last = words.iter().rposition(|word| !word.is_pause())?;
    // The second half begins with a word, so that a pause ends the first half.
    let cuts = (first + 1..=last).filter(|&at| !words[at].is_pause());
    let nearest = cuts
        .min_by_key(|&at| (!words[at - 1].is_pause(), (2 * length(&words[..at])).abs_diff(length(words))));
    if let Some(at) = nearest {
        return Some((words[..at].to_vec(), words[at..].to_vec()));
    }
    let Word { text, symbols } = &words[first];
    let middle = symbols.len() / 2;
    let half = |symbols: &[Symbol]| Word { text: text.clone(), symbols: symbols.to_vec() };
    let split = || {
        (
            [&words[..first], &[half(&symbols[..middle])]].concat(),
            [&[half(&symbols[middle..])], &words[last + 1..]].concat(),
        )
    };
    (middle > 0).then(split)
}

/// Synthesises a spectrogram with known timing and pitch, such as those of a recording.
///
/// * `durations`: the frames of each symbol
/// * `f0_hz`:     the pitch of each frame, 0 where unvoiced
pub async fn copy_prosody(
    voice: &Voice,
    symbols: &[Symbol],
    durations: &[u32],
    f0_hz: &[f32],
) -> Result<Mel> {
    let base = voice.base();
    let frames = durations.iter().sum::<u32>() as usize;
    let padded = frames.next_multiple_of(base.config().reduction);
    let context = base.contexts(&base.encode(symbols), durations, padded);
    decode(voice, base.with_excitation(context, f0_hz), frames).await
}

/// Decodes a spectrogram of `count` frames.
///
/// * `context`: `[1, T, C]`, T at least `count`
pub(crate) async fn decode(voice: &Voice, context: Tensor<3>, count: usize) -> Result<Mel> {
    let base = voice.base();
    let (config, Adapted { decoder, postnet, speaker, .. }) = (base.config(), &voice.parts);
    let (frames, _) = decoder.forward(context, speaker.val(), decoder.start(1, &base.device));
    let frames = frames.clone() + postnet.forward(frames, Mode::Eval);
    let values = read(frames.narrow(1, 0, count).reshape([count * config.mels])).await?;
    let mel = scale_variance(config.log_mels(values, base.mel_config()), voice.global_variance_scale);
    Ok(match &voice.spectral_transport {
        Some(transport) => transport.apply(mel),
        None => mel,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Phonemizer;

    #[test]
    fn words_are_split_at_the_pause_nearest_to_the_middle() {
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
