//! Speech from text, sentence by sentence.

use super::{SpeakOptions, sentence::TimedSentence};
use crate::{
    Error, Result,
    audio::{
        mel::{Mel, MelConfig},
        pauses::quiet_pauses,
        wav::{self, Origin},
    },
    model::stop::StopReason,
    text::{self, NormalizedSentence, Word, symbols::Symbol},
    vocoder::Vocoder,
    voice::Voice,
};

/// Synthesised speech.
#[warn(missing_docs)]
#[derive(Debug, Clone, PartialEq)]
pub struct Speech {
    /// `[S]`, full scale is -1 to 1.
    pub samples: Vec<f32>,
    /// The rate of the samples, that of the vocoder.
    pub sample_rate_hz: u32,
    /// The spectrogram that the vocoder read.
    pub mel: Mel,
    /// The phonemes and pauses.
    pub symbols: Vec<Symbol>,
    /// The frames of each symbol.
    pub durations: Vec<u32>,
    /// The words with their times; none for attention models.
    pub words: Vec<SpokenWord>,
    /// The reason why it ended: [`StopReason::MaxFrames`] where the gate of an attention model did not open.
    pub stop: StopReason,
}

/// A word of a speech, as it is read: "five" where the text has "5".
#[warn(missing_docs)]
#[derive(Debug, Clone, PartialEq)]
pub struct SpokenWord {
    /// The normalised word: lower case unless it is an abbreviation.
    pub text: String,
    /// When it begins in the speech.
    pub begin_seconds: f32,
    /// When it ends in the speech.
    pub end_seconds: f32,
}

/// A sentence, or a part of one, before the vocoder.
pub(super) struct Sentence {
    /// The silence before the sentence, which is left out before the first.
    pub pause_frames: usize,
    pub mel: Mel,
    pub symbols: Vec<Symbol>,
    pub durations: Vec<u32>,
    /// The words and pauses of which the symbols are made; none for attention models.
    pub words: Vec<Word>,
    pub stop: StopReason,
}

#[warn(missing_docs)]
impl Speech {
    /// Returns its length in seconds.
    pub fn seconds(&self) -> f32 {
        self.samples.len() as f32 / self.sample_rate_hz as f32
    }

    /// Encodes a WAV file of 16-bit samples that is marked as synthetic, with the id of its voice.
    ///
    /// * `voice_id`: see [`Voice::id`]
    pub fn to_wav(&self, voice_id: &str) -> Vec<u8> {
        wav::write_with_origin(&self.samples, self.sample_rate_hz, &Origin::synthetic(voice_id))
    }

    /// Appends silence.
    pub(crate) fn pause(&mut self, config: &MelConfig, frames: usize) {
        self.samples.extend(std::iter::repeat_n(0.0, config.samples(frames, self.sample_rate_hz)));
        self.mel.data.extend(std::iter::repeat_n(config.silence(), frames * config.mels));
    }

    /// Creates an empty speech.
    ///
    /// * `complete`: the stop reason of sentences that were spoken to their end
    pub(super) fn empty(config: &MelConfig, vocoder: &dyn Vocoder, complete: StopReason) -> Self {
        Self {
            samples: Vec::new(),
            sample_rate_hz: vocoder.sample_rate_hz(),
            mel: Mel { mels: config.mels, data: Vec::new() },
            symbols: Vec::new(),
            durations: Vec::new(),
            words: Vec::new(),
            stop: complete,
        }
    }

    /// Vocodes and appends a sentence, after its pause unless it is the first.
    pub(super) fn append(&mut self, config: &MelConfig, sentence: Sentence, vocoder: &dyn Vocoder) {
        if !self.symbols.is_empty() {
            self.pause(config, sentence.pause_frames);
        }
        let begin = self.seconds();
        let seconds =
            |to: usize| begin + config.frame_seconds() * sentence.durations[..to].iter().sum::<u32>() as f32;
        let mut end = 1; // silence comes first
        for word in &sentence.words {
            let first = end;
            end += word.symbols.len();
            if !word.is_pause() {
                self.words.push(SpokenWord {
                    text: word.text.clone(),
                    begin_seconds: seconds(first),
                    end_seconds: seconds(end),
                });
            }
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

/// Vocodes a spectrogram and attenuates its pauses, which would contain the room noise of the recordings.
pub fn sound(mel: &Mel, config: &MelConfig, vocoder: &dyn Vocoder) -> Vec<f32> {
    quiet_pauses(vocoder.vocode(mel), mel, config, config.samples(1, vocoder.sample_rate_hz()))
}

/// Splits a text into at least one sentence. Fails where the text is too long or nothing in it can be spoken.
pub(super) fn sentences(text: &str) -> Result<Vec<NormalizedSentence>> {
    let characters = text.chars().count();
    if characters > MAX_CHARACTERS {
        return Err(Error::text_too_long(characters, MAX_CHARACTERS));
    }
    text::normalized_sentences(text)
}

/// The longest text that is accepted. Longer ones, such as books, have to be split into chapters.
pub const MAX_CHARACTERS: usize = 20_000;
/// The silence between sentences, 150 ms at 16 kHz.
pub(super) const PAUSE_FRAMES: usize = 12;

#[warn(missing_docs)]
impl Voice {
    /// Speaks `text` with the vocoder of the base: [`Self::speak_with`] for callers that await.
    ///
    /// `progress(done, of)` is called before each sentence and at the end, with the number of sentences that are done and of all; if it returns `false`, the
    /// call fails with `cancelled`.
    pub async fn speak_async(
        &self,
        text: &str,
        options: &SpeakOptions,
        progress: impl AsyncFnMut(usize, usize) -> bool,
    ) -> Result<Speech> {
        speak_async(self, text, options, &*self.base().vocoder, progress).await
    }
}

/// Speaks `text` with any vocoder, see [`Voice::speak_async`].
pub async fn speak_async(
    voice: &Voice,
    text: &str,
    options: &SpeakOptions,
    vocoder: &dyn Vocoder,
    mut progress: impl AsyncFnMut(usize, usize) -> bool,
) -> Result<Speech> {
    let base = voice.base();
    options.check(base.config().pitch)?;
    let sentences = sentences(text)?;
    let mut speech = Speech::empty(base.mel_config(), vocoder, StopReason::Durations);
    for (index, sentence) in sentences.iter().enumerate() {
        if !progress(index, sentences.len()).await {
            return Err(Error::cancelled());
        }
        let goes_on = index > 0 && sentences[index - 1].goes_on();
        let parts = TimedSentence::predict_parts(voice, sentence, options).await?;
        for (part, (words, timed)) in parts.into_iter().enumerate() {
            let mel = timed.mel(voice, options).await?;
            let sentence = Sentence {
                pause_frames: if part == 0 && !goes_on { PAUSE_FRAMES } else { 0 },
                mel,
                symbols: timed.encoded.symbols,
                durations: timed.durations,
                words,
                stop: StopReason::Durations,
            };
            speech.append(base.mel_config(), sentence, vocoder);
        }
    }
    progress(sentences.len(), sentences.len()).await;
    Ok(speech)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::symbols::{COMMA, SILENCE};

    /// A vocoder whose samples are all one, at 24 kHz.
    struct Ones;

    impl Vocoder for Ones {
        fn name(&self) -> &'static str {
            "ones"
        }

        fn sample_rate_hz(&self) -> u32 {
            24_000
        }

        fn vocode(&self, mel: &Mel) -> Vec<f32> {
            vec![1.0; (mel.frames() - 1) * 300]
        }
    }

    #[test]
    fn pauses_of_speech_are_attenuated() {
        let config = MelConfig::speech_16k();
        let level = |t: usize| if t < 20 { -3.0 } else { -8.5 };
        let data = (0..40 * config.mels).map(|at| level(at / config.mels)).collect();
        let mel = Mel { mels: config.mels, data };
        let vowel = Symbol::from_name("AY1").unwrap();
        let word = |text: &str, count, symbol| Word { text: text.into(), symbols: vec![symbol; count] };
        let sentence = || Sentence {
            pause_frames: 12,
            mel: mel.clone(),
            symbols: vec![SILENCE, vowel, vowel, COMMA, SILENCE],
            durations: vec![8; 5],
            words: vec![word("eye", 2, vowel), word(",", 1, COMMA)],
            stop: StopReason::Durations,
        };
        let mut speech = Speech::empty(&config, &Ones, StopReason::Durations);
        speech.append(&config, sentence(), &Ones);
        let (sound, pause) = (speech.samples[10 * 300], speech.samples[30 * 300]);
        assert!(sound == 1.0 && pause < 0.3, "{sound} {pause}");
        assert_eq!(speech.mel, mel, "the spectrogram of the pauses is unchanged");

        // The sound has the vocoder's rate, and so has the pause between two sentences.
        speech.append(&config, sentence(), &Ones);
        assert_eq!((speech.sample_rate_hz, speech.samples.len()), (24_000, (39 + 12 + 39) * 300));
        assert!(
            speech.samples[39 * 300..51 * 300].iter().all(|x| *x == 0.0) && speech.samples[51 * 300] > 0.0
        );
        assert!((speech.seconds() - 90.0 * config.frame_seconds()).abs() < 1e-6);

        // Words have their times in the whole, pauses are none.
        let frames = |seconds: f32| (seconds / config.frame_seconds()).round() as u32;
        let words: Vec<_> = speech
            .words
            .iter()
            .map(|word| (&word.text[..], frames(word.begin_seconds), frames(word.end_seconds)))
            .collect();
        assert_eq!(words, [("eye", 8, 24), ("eye", 39 + 12 + 8, 39 + 12 + 24)]);
    }
}
