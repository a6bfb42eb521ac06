//! Synchronous twins of the asynchronous functions: a page has to await its graphics card, a native program may block.

use pollster::block_on;

use crate::{
    Result,
    audio::{level::ClipReport, wav},
    clone::{
        FineTuner, Step,
        clip::{Clip, check_clip},
        options::CloneOptions,
    },
    synth::{SpeakOptions, Speech, speak_async},
    voice::{Base, Voice, sha256_hex},
};

/// Speaks `text` with the base's own vocoder.
///
/// Fails with `text-empty`, `text-unsupported` or `text-too-long` where the text cannot be spoken, and with `option-invalid` where an option lies outside its range.
///
/// ```
/// use ownvoice::{Base, Device, SpeakOptions, Voice, speak};
///
/// # let models = ownvoice_testing::tiny_folder();
/// # let folder = models.path().join("base");
/// let base = Base::open(folder, &Device::flex())?;
/// let voice = Voice::unadapted(&base);
/// let slowly = SpeakOptions { speed: 0.5, ..SpeakOptions::default() };
///
/// let speech = speak(&base, &voice, "Good morning.", &slowly)?;
/// let usual = speak(&base, &voice, "Good morning.", &SpeakOptions::default())?;
/// assert!(speech.seconds() > 1.5 * usual.seconds());
/// # Ok::<(), crate::Error>(())
/// ```
pub fn speak(base: &Base, voice: &Voice, text: &str, options: &SpeakOptions) -> Result<Speech> {
    block_on(speak_async(base, voice, text, options, &*base.vocoder, async |_, _| true))
}

impl Clip {
    /// Whether the clip can be learned from: its level, its noise, and whether its text is spoken. The error is the first thing to change about it.
    pub fn check(&self, base: &Base) -> Result<ClipReport> {
        Ok(block_on(check_clip(base, self))?.0)
    }
}

impl Voice {
    /// The bytes of a voice file: the difference from the base, about 3 MB for the shipped one.
    pub fn save(&self, base: &Base) -> Result<Vec<u8>> {
        block_on(self.save_async(base))
    }

    /// Names the voice in its speech, see [`Speech::to_wav`]: 16 hexadecimal digits, from the voice's file or, for a speaker of the base, from the base.
    pub fn id(&self, base: &Base) -> Result<String> {
        let hash = match self.info().adapted {
            true => sha256_hex(&self.save(base)?),
            false => base.hash().to_owned(),
        };
        Ok(wav::voice_id(&hash).to_owned())
    }
}

impl FineTuner {
    /// Checks and aligns the clips, and gets ready for the first iteration.
    ///
    /// Fails with the code of the clip that is refused, which [`Error::clip_index`](crate::Error::clip_index) names; with `option-invalid` or
    /// `precision-unsupported`; and with `clip-too-short` where all clips together are.
    pub fn start(base: &Base, clips: &[Clip], options: CloneOptions) -> Result<Self> {
        block_on(Self::start_async(base, clips, options))
    }

    /// Runs one iteration. Once [`Step::stop`] is set, [`Self::finish`] has the voice.
    pub fn step(&mut self) -> Result<Step> {
        block_on(self.step_async())
    }

    /// The voice of the parameters that the stop rule kept.
    pub fn finish(self) -> Result<Voice> {
        block_on(self.finish_async())
    }

    /// All that [`Self::resume`] needs besides base and clips.
    pub fn checkpoint(&self, base: &Base) -> Result<Vec<u8>> {
        block_on(self.checkpoint_async(base))
    }

    /// Goes on from a checkpoint, which is untrusted input, with the same base and clips.
    ///
    /// Fails with `checkpoint-corrupt` or `base-mismatch`, and as [`Self::start`] does.
    pub fn resume(base: &Base, clips: &[Clip], checkpoint: &[u8]) -> Result<Self> {
        block_on(Self::resume_async(base, clips, checkpoint))
    }
}
