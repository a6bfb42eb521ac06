//! Blocking forms of the asynchronous functions, for native programs. A page has to await its graphics card, and awaits the functions that end in `_async`.

use std::borrow::Borrow;

use pollster::block_on;

use crate::{
    Result,
    audio::{level::ClipReport, wav},
    clone::{
        FineTuner, Step,
        clip::{Clip, check_clip},
        options::CloneOptions,
    },
    digest::sha256_hex,
    synth::{Part, SpeakOptions, Speech, parts},
    voice::{Base, Voice},
};

impl Clip {
    /// Checks whether the clip can be trained on: its level, its noise, and whether its text is spoken. The error says what to change first.
    ///
    /// # Errors
    /// Fails with a code that begins with `clip-`, or with `text-empty` or `text-unsupported`.
    pub fn check(&self, base: &Base) -> Result<ClipReport> {
        Ok(block_on(check_clip(base, self))?.0)
    }
}

#[warn(missing_docs)]
impl Voice {
    /// Speaks `text` at the learned speed and pitch, see [`Self::speak_with`].
    pub fn speak(&self, text: &str) -> Result<Speech> {
        self.speak_with(text, &SpeakOptions::default())
    }

    /// Speaks `text` with the vocoder of the base.
    ///
    /// # Errors
    /// Fails with `text-empty`, `text-unsupported` or `text-too-long` if the text cannot be spoken, and with `option-invalid` if an option lies outside its
    /// range.
    ///
    /// ```
    /// use ownvoice::{Base, Device, SpeakOptions, Voice};
    ///
    /// # let models = ownvoice_testing::tiny_folder();
    /// # let folder = models.path().join("base");
    /// let base = Base::open(folder, &Device::flex())?;
    /// let voice = Voice::unadapted(&base);
    /// let slowly = SpeakOptions { speed: 0.5, ..SpeakOptions::default() };
    ///
    /// let speech = voice.speak_with("Good morning.", &slowly)?;
    /// assert!(speech.seconds() > 1.5 * voice.speak("Good morning.")?.seconds());
    /// # Ok::<(), ownvoice::Error>(())
    /// ```
    pub fn speak_with(&self, text: &str, options: &SpeakOptions) -> Result<Speech> {
        block_on(self.speak_async(text, options, async |_, _| true))
    }

    /// Speaks `text` sentence by sentence: each item is synthesised when it is asked for, so that the first can be played while the second is computed.
    ///
    /// A long first sentence is split after its first clause, since its sound is waited for. Each speech ends with the pause before the next, so that they are
    /// played one directly after the other. The number of items is known, for a display of progress.
    ///
    /// # Errors
    /// Fails with `text-empty`, `text-unsupported` or `text-too-long` if the text cannot be spoken. The items fail with `option-invalid` if an option lies
    /// outside its range.
    ///
    /// ```
    /// use ownvoice::{Base, Device, SpeakOptions, Voice};
    ///
    /// # let models = ownvoice_testing::tiny_folder();
    /// # let folder = models.path().join("base");
    /// let base = Base::open(folder, &Device::flex())?;
    /// let voice = Voice::unadapted(&base);
    ///
    /// let sentences = voice.stream("One comes. Another follows.", &SpeakOptions::default())?;
    /// assert_eq!(sentences.len(), 2);
    /// let mut samples = Vec::new();
    /// for speech in sentences {
    ///     samples.extend(speech?.samples); // or play them
    /// }
    /// assert_eq!(samples, voice.speak("One comes. Another follows.")?.samples);
    /// # Ok::<(), ownvoice::Error>(())
    /// ```
    pub fn stream(&self, text: &str, options: &SpeakOptions) -> Result<SpeechStream<'_>> {
        Ok(SpeechStream { voice: self, options: options.clone(), parts: parts(text)?.into_iter() })
    }

    /// Encodes a voice file: the difference from the base, about 3 MB for the shipped one.
    pub fn save(&self) -> Result<Vec<u8>> {
        block_on(self.save_async())
    }

    /// Returns the id that marks the speech of this voice, see [`Speech::to_wav`]: 16 hexadecimal digits of the hash of the voice file or, for a speaker of
    /// the base, of the base.
    pub fn id(&self) -> Result<String> {
        let hash = match self.info().adapted {
            true => sha256_hex(&self.save()?),
            false => self.base().hash().to_owned(),
        };
        Ok(wav::voice_id(&hash).to_owned())
    }
}

/// The speech of a text, one sentence an item: see [`Voice::stream`].
#[warn(missing_docs)]
pub struct SpeechStream<'a> {
    voice: &'a Voice,
    options: SpeakOptions,
    parts: std::vec::IntoIter<Part>,
}

impl Iterator for SpeechStream<'_> {
    type Item = Result<Speech>;

    fn next(&mut self) -> Option<Result<Speech>> {
        let Part { text, pause_frames } = self.parts.next()?;
        let speech = self.voice.speak_with(&text, &self.options);
        Some(speech.map(|mut speech| {
            speech.pause(self.voice.base().mel_config(), pause_frames);
            speech
        }))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.parts.size_hint()
    }
}

impl ExactSizeIterator for SpeechStream<'_> {}

#[warn(missing_docs)]
impl FineTuner {
    /// Checks and aligns the clips, and prepares the first iteration. Clips that cannot be used are left out, see [`Self::left_out`].
    ///
    /// * `clips`: in memory, or an iterator that reads them one by one, since their samples are not kept
    ///
    /// # Errors
    /// Fails with `option-invalid` or `precision-unsupported`. If less than three seconds of speech are left, fails with the code of the first clip that was
    /// left out, which [`Error::clip_index`](crate::Error::clip_index) names, or with `clip-too-short` if none was.
    pub fn start<C: Borrow<Clip>>(
        base: &Base,
        clips: impl IntoIterator<Item = C>,
        options: CloneOptions,
    ) -> Result<Self> {
        block_on(Self::start_async(base, clips, options))
    }

    /// Runs one iteration. The last one sets [`Step::stop`]; [`Self::finish`] then returns the voice.
    ///
    /// # Errors
    /// Fails with `training-diverged` or `device-lost`.
    pub fn step(&mut self) -> Result<Step> {
        block_on(self.step_async())
    }

    /// Returns the voice of the parameters that the stop rule kept.
    pub fn finish(self) -> Result<Voice> {
        block_on(self.finish_async())
    }

    /// Encodes all that [`Self::resume`] needs besides base and clips.
    pub fn checkpoint(&self) -> Result<Vec<u8>> {
        block_on(self.checkpoint_async())
    }

    /// Resumes from a checkpoint, which is untrusted input, with the same base and clips.
    ///
    /// # Errors
    /// Fails with `checkpoint-corrupt` or `base-mismatch`, and as [`Self::start`] does.
    pub fn resume(base: &Base, clips: &[Clip], checkpoint: &[u8]) -> Result<Self> {
        block_on(Self::resume_async(base, clips, checkpoint))
    }
}
