//! Fine-tuning as a state machine, for the page and the command line: start, step, finish; checkpoint and resume.

use std::borrow::Borrow;

use burn::{module::Module, prelude::*};

use super::{
    alignment_snapshot::{AlignmentSnapshot, SnapshotClip},
    calibration::Calibration,
    clip::{AlignedClips, Clip, align_clips},
    clip_dataset::{ClipDataset, SamplerConfig},
    frame_store::{FrameStore, Span, assemble, loss, predict},
    held_out::HeldOut,
    nearest_speaker::{Nearest, nearest_speaker},
    options::CloneOptions,
    rehearsal::rehearsal,
    step::Progress,
    validation::Validation,
};
use crate::{
    Error, Result,
    audio::{Note, global_variance_scale::GlobalVarianceScale},
    voice::{Adapted, Base, Prosody, Voice, VoiceInfo, adaptable},
};
use burn_fused::{
    Precision, Scope,
    adam::{Adam, AdamConfig, FIRST_SCALE},
    readback::read,
    weights::Weights,
};

/// The least speech of all clips together that is trained on.
const MIN_SECONDS: f32 = 3.0;

/// The training of a voice on the clips of a speaker: [`start`](Self::start), [`step`](Self::step) until it stops, [`finish`](Self::finish).
///
/// Between two iterations, the voice can be previewed, and the training stored in a checkpoint, from which [`resume`](Self::resume) continues.
/// The functions that end in `_async` are for callers that await, such as a page.
///
/// ```
/// use ownvoice::{Base, CloneOptions, Device, FineTuner};
///
/// # let models = ownvoice_testing::tiny_folder();
/// # let folder = models.path().join("base");
/// # let clips = ownvoice_testing::held_out_clips(2);
/// let base = Base::open(folder, &Device::flex())?;
/// let options = CloneOptions { iterations: 4, ..CloneOptions::default() };
///
/// let mut tuner = FineTuner::start(&base, &clips, options)?;
/// tuner.step()?;
/// let checkpoint = tuner.checkpoint()?;
///
/// let mut tuner = FineTuner::resume(&base, &clips, &checkpoint)?;
/// while tuner.step()?.stop.is_none() {}
/// let voice = tuner.finish()?;
/// assert_eq!(voice.info().iterations, 4);
/// # Ok::<(), ownvoice::Error>(())
/// ```
#[warn(missing_docs)]
pub struct FineTuner {
    pub(super) base: Base,
    pub(super) options: CloneOptions,
    /// The trained modules: decoder, postnet and speaker embedding.
    pub(super) parts: Adapted,
    /// The weights of the base for the trained modules.
    pub(super) base_weights: Weights,
    pub(super) adam: Adam,
    pub(super) dataset: ClipDataset,
    speaker: MeasuredSpeaker,
    calibration: Calibration,
    snapshot: SnapshotClip,
    pub(super) validation: Validation,
    pub(super) progress: Progress,
    left_out: Vec<Error>,
    notes: Vec<(usize, Note)>,
}

/// The properties of the speaker that are measured before training.
struct MeasuredSpeaker {
    /// The row of the nearest speaker of the base.
    nearest: usize,
    prosody: Prosody,
    /// The seconds of speech in the clips.
    seconds: f32,
}

#[warn(missing_docs)]
impl FineTuner {
    /// Checks, aligns and encodes the clips, and prepares the first iteration. Clips that cannot be used are left out, see [`Self::left_out`].
    ///
    /// * `clips`: in memory, or an iterator that reads them one by one, since their samples are not kept
    ///
    /// # Errors
    /// Fails with `option-invalid` or `precision-unsupported`. If less than three seconds of speech are left, fails with the code of the first clip that was
    /// left out, or with `clip-too-short` if none was.
    pub async fn start_async<C: Borrow<Clip>>(
        base: &Base,
        clips: impl IntoIterator<Item = C>,
        options: CloneOptions,
    ) -> Result<Self> {
        options.check(base)?;
        let AlignedClips { clips: aligned, aligner, mut left_out, notes } = align_clips(base, clips).await?;
        let frame_seconds = base.mel_config().frame_seconds();
        let seconds = aligned.iter().map(|clip| clip.frames() as f32 * frame_seconds).sum();
        if seconds < MIN_SECONDS {
            left_out.push(Error::clip_too_short(seconds, MIN_SECONDS));
            return Err(left_out.remove(0));
        }
        let window = options.advanced.window;
        let store = assemble(base, &aligned, window);
        let held_out = HeldOut::new(base, aligner, &aligned, &store).await?;
        let Nearest { speaker: nearest, loss: start_loss } = nearest_speaker(base, &store, &options).await?;
        let prosody = Prosody::measure(base, &aligned, &store, nearest).await?;
        let start_voice = Voice { prosody: prosody.clone(), ..Voice::from_row(base, nearest) };
        let calibration = Calibration::measure(&start_voice, &aligned).await?;
        // The last clip is held out if any is.
        let snapshot = SnapshotClip::new(aligned.last().expect("there are clips"), base.config().mels);
        let rehearsal = match options.rehearsal > 0.0 {
            true => Some(rehearsal(&start_voice, aligned, &store, window).await?),
            false => None,
        };
        let sampler = SamplerConfig {
            seed: options.seed,
            clips: store.clips.len() - held_out.as_ref().map_or(0, HeldOut::count),
            batch: options.advanced.batch,
            window,
            reduction: base.config().reduction,
            rehearsed: options.rehearsed(),
            weight: options.rehearsal_weight(seconds, start_loss),
            ramp_iterations: options.iterations,
        };
        let dataset = ClipDataset { store, rehearsal, sampler };
        let scope = Scope::new(options.compute());
        let parts = Voice::from_row(base, nearest).parts.train().computing(&scope);
        Ok(Self {
            base: base.clone(),
            validation: Validation::start(held_out, options.stop_rule, &parts, &dataset).await?,
            parts,
            base_weights: adaptable(&Voice::unadapted(base).parts),
            adam: Adam::new(AdamConfig {
                weight_decay: 0.0,
                // Rehearsal increases the total loss, most at the last iteration; the initial loss scale is divided by the largest total weight.
                first_scale: FIRST_SCALE / dataset.total_weight(options.iterations),
                ..AdamConfig::from_scope(&scope)
            }),
            dataset,
            speaker: MeasuredSpeaker { nearest, prosody, seconds },
            calibration,
            snapshot,
            progress: Progress::new(options.iterations),
            options,
            left_out,
            notes,
        })
    }

    /// Returns the base that the training starts from.
    pub fn base(&self) -> &Base {
        &self.base
    }

    /// Returns why clips were left out, such as a recording that is too quiet, or one of another text. Each error carries the [index](Error::clip_index) of its
    /// clip.
    pub fn left_out(&self) -> &[Error] {
        &self.left_out
    }

    /// Returns the notes on the clips that are used, each with the index of its clip, such as on one that is whispered.
    pub fn notes(&self) -> &[(usize, Note)] {
        &self.notes
    }

    /// Returns the same as [`Self::left_out`], and keeps none of it.
    #[doc(hidden)]
    pub fn take_left_out(&mut self) -> Vec<Error> {
        std::mem::take(&mut self.left_out)
    }

    /// Runs one iteration on zeros, so that a device compiles its pipelines before the training starts.
    #[doc(hidden)]
    pub async fn warm_up_async(base: &Base, options: &CloneOptions) -> Result<()> {
        let (config, device, window) = (base.config(), &base.device, options.advanced.window);
        let zeros = |width: usize| Tensor::<3>::zeros([1, window, width], device);
        let store = FrameStore {
            context: zeros(config.context_width()),
            targets: zeros(config.mels),
            mask: zeros(1) + 1.0,
            clips: vec![Span { first: 0, frames: window }],
        };
        let parts = Voice::unadapted(base).parts.train().computing(&Scope::new(options.compute()));
        let windows = |count: usize| store.gather(&vec![0; count], window);
        let windows = match options.rehearsed() {
            0 => windows(options.advanced.batch),
            count => windows(options.advanced.batch).and(windows(count), options.rehearsal),
        };
        let loss = loss(&parts, &windows);
        let mut adam = Adam::new(AdamConfig {
            weight_decay: 0.0,
            precision: options.precision,
            ..AdamConfig::default()
        });
        let gradients = adam.scaled(loss).backward();
        let parts = adam.step(parts, &gradients, |_| 0.0);
        read(parts.speaker.val().inner().slice([0..1, 0..1]).reshape([1])).await?;
        Ok(())
    }

    /// Returns the last clip, as it was recorded and as the current parameters predict it.
    #[doc(hidden)]
    pub async fn picture_async(&self) -> Result<AlignmentSnapshot> {
        let &Span { first, frames } = self.dataset.store.clips.last().expect("there are clips");
        let padded = frames.next_multiple_of(self.dataset.sampler.reduction);
        let windows = self.dataset.store.gather(&[first], padded);
        let (config, mel_config) = (self.base.config(), self.base.mel_config());
        let (_, predicted) = predict(&self.parts.valid(), &windows);
        let predicted = read(predicted.narrow(1, 0, frames).reshape([frames * config.mels])).await?;
        self.snapshot.beside(config.log_mels(predicted, mel_config), &self.base.aligner).await
    }

    /// Returns the voice of the current parameters.
    pub fn preview(&self) -> Voice {
        let info = VoiceInfo {
            adapted: true,
            iterations: self.iteration(),
            seconds: self.speaker.seconds,
            ..VoiceInfo::default()
        };
        self.voice(self.parts.clone(), self.validation.global_variance_scale(), info)
    }

    /// Returns the voice of the parameters that the stop rule kept.
    pub async fn finish_async(self) -> Result<Voice> {
        let info = VoiceInfo {
            adapted: true,
            iterations: self.iteration(),
            seconds: self.speaker.seconds,
            held_out_loss: self.validation.losses(),
            consent: None,
        };
        let parts = self.validation.best.as_ref().map_or(&self.parts, |(_, best)| best).clone();
        let mut voice = self.voice(parts, self.validation.global_variance_scale(), info);
        voice.spectral_transport =
            self.calibration.spectral_transport(&voice.parts, voice.global_variance_scale).await?;
        Ok(voice)
    }

    /// Returns the voice of trained parameters, whose spectra are not compared with the clips' yet.
    fn voice(&self, parts: Adapted, global_variance_scale: GlobalVarianceScale, info: VoiceInfo) -> Voice {
        Voice {
            base: self.base.clone(),
            parts: parts.valid().with_precision(Precision::F32),
            timing_speaker: self.base.speaker(self.speaker.nearest),
            prosody: self.speaker.prosody.clone(),
            global_variance_scale,
            spectral_transport: None,
            info,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{audio::Audio, clone::options::AdvancedCloneOptions};

    fn two_clips() -> Vec<Clip> {
        let clip = |recording: ownvoice_testing::Recording| Clip {
            audio: Audio { samples: recording.samples, sample_rate_hz: recording.sample_rate_hz },
            text: recording.text,
        };
        ownvoice_testing::held_out_recordings(2).into_iter().map(clip).collect()
    }

    /// Adam's first step is as long as the learning rate, for any gradient.
    #[test]
    fn the_decoder_has_a_lower_rate_than_the_postnet() {
        let models = ownvoice_testing::tiny_folder();
        let clips = two_clips();
        let base = Base::open(models.path().join("base"), &Device::flex()).unwrap();
        let advanced = AdvancedCloneOptions { batch: 2, window: 32, ..AdvancedCloneOptions::default() };
        let options = CloneOptions { advanced, ..CloneOptions::default() };
        let mut tuner = pollster::block_on(FineTuner::start_async(&base, &clips, options)).unwrap();
        let before = adaptable(&tuner.parts);
        pollster::block_on(tuner.step_async()).unwrap();
        let after = adaptable(&tuner.parts);
        let longest_step = |part: &str| {
            let names = before.keys().filter(|name| name.starts_with(part));
            let steps = names.map(|name| {
                let (from, to) = (before[name].values.clone(), after[name].values.clone());
                (to - from).abs().max().into_scalar::<f32>()
            });
            steps.reduce(f32::max).expect("it has parameters")
        };
        for (part, rate) in [("decoder.", 8e-4), ("postnet.", 4e-3), ("speaker", 4e-3)] {
            let step = longest_step(part);
            assert!((step / rate - 1.0).abs() < 0.05, "{part}: {step}");
        }
    }
}
