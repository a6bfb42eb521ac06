//! Fine-tuning as one state machine, for the page and the command line: start, step, finish; checkpoint and resume.
//!
//! The encoder is frozen, so the context of each frame is computed once. A step gathers windows from tensors that are already on the device, runs decoder
//! and postnet, and updates both and the speaker vector.
//!
//! One long file: the states of one machine; whatever has a state of its own is a module below.

pub mod alignment_snapshot;
pub mod anchors;
mod calibration;
mod checkpoint;
pub mod clip;
mod clip_dataset;
mod conversion;
mod fault;
mod frame_store;
mod held_out;
pub mod helper;
pub mod options;
mod prosody;
mod regression;
mod rehearsal;
mod rounding;
mod timing;
mod voicing;

use burn::{
    module::{Module, Param},
    prelude::*,
    tensor::Gradients,
};
use web_time::Instant;

use crate::{
    Error, Result,
    audio::global_variance_scale::{FLAT, GlobalVarianceScale},
    learn::early_stopping::{EarlyStopping, Verdict},
    voice::{Adapted, Base, Voice, VoiceInfo, adaptable},
};
use alignment_snapshot::{AlignmentSnapshot, SnapshotClip};
use burn_fused::{
    Compute, Precision, Scope,
    adam::{Adam, AdamConfig, FIRST_SCALE},
    ranks::Shard,
    readback::read,
    weights::Weights,
};
use calibration::Calibration;
use clip::{Clip, align_clips};
use clip_dataset::{ClipDataset, SamplerConfig};
use frame_store::{FrameStore, Span, assemble, loss, predict, spread};
use held_out::HeldOut;
use options::{CloneOptions, ValidationMetrics};
use prosody::Prosody;
use rehearsal::rehearsal;
use rounding::{round_moments, round_parameters};

pub use helper::{FlatBuffer, Helper};

/// Why fine-tuning ended.
#[warn(missing_docs)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TuneStop {
    /// After the given number of iterations.
    Iterations,
    /// Early: the held-out clips no longer gained.
    HeldOut,
}

#[warn(missing_docs)]
impl TuneStop {
    /// A hyphenated name for programs: `iterations` or `held-out`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Iterations => "iterations",
            Self::HeldOut => "held-out",
        }
    }
}

/// The state of a training after one iteration.
#[warn(missing_docs)]
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Iterations done.
    pub iteration: usize,
    /// Iterations that are planned: fewer than the options give once the stop rule has started the cooldown.
    pub iterations: usize,
    /// The latest loss that was read back: a mean over the frames of clips and rehearsal, as they are weighted.
    pub loss: f32,
    /// Since the first iteration of this process.
    pub seconds: f32,
    /// Metrics of the held-out clips, at the iterations that validate; no iteration of the cooldown does.
    pub validation: Option<ValidationMetrics>,
    /// Updates that were skipped because half precision overflowed, as of the latest loss.
    pub overflows: usize,
    /// Where it began, in words, after an iteration at which more were found to be skipped; of the first few alone, since iterations are computed again for it.
    pub fault: Option<String>,
    /// Set after the last iteration.
    pub stop: Option<TuneStop>,
}

/// Iterations between two losses that are read back.
pub(crate) const READ_EVERY: usize = 5;
/// Iterations between two validations; also between checkpoints of the callers.
pub const EVALUATE_EVERY: usize = 25;
/// Iterations at the end whose learning rates fall (warmup-stable-decay). They train on the held-out clips too, which are no longer needed for validation.
const COOLDOWN: usize = 25;
/// Learning rates of the last iteration, relative to the first.
const RATE_END: f64 = 0.1;
/// Times that an overflow is traced to its operation: a loss scale that grows overflows now and then.
const MAX_TRACED: usize = 3;
/// Speech below which a training is refused, over all clips.
const MIN_SECONDS: f32 = 3.0;

/// Windows of an iteration, and frames of one: larger ones exhaust memory.
const MAX_BATCH: usize = 256;
const MAX_WINDOW: usize = 2048;

/// The training of a voice on somebody's clips: [`start`](Self::start), [`step`](Self::step) until it stops, [`finish`](Self::finish).
///
/// Between any two iterations it can be previewed, or kept as a checkpoint that [`resume`](Self::resume) goes on from.
/// The functions that end in `_async` are the same for callers that await, as a page has to.
///
/// ```
/// use ownvoice::{Base, Clip, CloneOptions, Device, FineTuner};
///
/// # let models = ownvoice_testing::tiny_folder();
/// # let folder = models.path().join("base");
/// # let clips = two_clips();
/// let base = Base::open(folder, &Device::flex())?;
/// let options = CloneOptions { iterations: 4, ..CloneOptions::default() };
///
/// let mut tuner = FineTuner::start(&base, &clips, options)?;
/// tuner.step()?;
/// let checkpoint = tuner.checkpoint(&base)?;
///
/// let mut tuner = FineTuner::resume(&base, &clips, &checkpoint)?;
/// while tuner.step()?.stop.is_none() {}
/// let voice = tuner.finish()?;
/// assert_eq!(voice.info().iterations, 4);
/// # Ok::<(), crate::Error>(())
/// ```
#[warn(missing_docs)]
pub struct FineTuner {
    options: CloneOptions,
    device: Device,
    parts: Adapted,
    /// The base's own parameters.
    origin: Weights,
    adam: Adam,
    dataset: ClipDataset,
    held_out: Option<HeldOut>,
    calibration: Calibration,
    shown: SnapshotClip,
    /// `[1, V]`
    timing_speaker: Tensor<2>,
    prosody: Prosody,
    seconds: f32,
    loss: f32,
    overflows: usize,
    /// Times that an overflow was traced to its operation.
    traced: usize,
    stopping: EarlyStopping,
    /// The latest parameters that the stop rule keeps, with their metrics.
    best: Option<(ValidationMetrics, Adapted)>,
    /// Planned iterations, the last [`COOLDOWN`] of them at falling rates.
    end: usize,
    /// Metrics before the first iteration.
    start: Option<ValidationMetrics>,
    begun: Option<Instant>,
}

#[warn(missing_docs)]
impl FineTuner {
    /// Checks, aligns and encodes the clips, and initialises the speaker vector.
    ///
    /// Fails with the code of the clip that is refused, with `option-invalid`, `precision-unsupported`, or `clip-too-short` for all clips together.
    pub async fn start_async(base: &Base, clips: &[Clip], options: CloneOptions) -> Result<Self> {
        if clips.is_empty() {
            return Err(Error::no_clips());
        }
        if options.iterations == 0
            || options.batch == 0
            || options.window < base.config().reduction
            || !options.window.is_multiple_of(base.config().reduction)
        {
            return Err(Error::option_invalid(
                "iterations, batch and window must be positive, the window a multiple of the reduction",
            ));
        }
        // They may come from a checkpoint, which is untrusted input.
        if options.batch > MAX_BATCH
            || options.window > MAX_WINDOW
            || ![options.rate, options.decoder_rate_multiplier, options.speaker_rate]
                .iter()
                .all(|rate| (0.0..=1.0).contains(rate))
        {
            return Err(Error::option_invalid(format!(
                "at most {MAX_BATCH} windows of {MAX_WINDOW} frames are learned from at once, at rates between 0 and 1"
            )));
        }
        if !(0.0..=10.0).contains(&options.rehearsal) {
            return Err(Error::option_invalid("rehearsal must lie between 0 and 10"));
        }
        if !options.precision.runs_on(&base.device) {
            return Err(Error::precision_unsupported());
        }
        let (aligned, aligner) = align_clips(base, clips).await?;
        let frame_seconds = base.mel_config().frame_seconds();
        let seconds = aligned.iter().map(|clip| clip.frames() as f32 * frame_seconds).sum();
        if seconds < MIN_SECONDS {
            return Err(Error::clip_too_short(seconds, MIN_SECONDS));
        }
        let store = assemble(base, &aligned, options.window);
        let held_out = HeldOut::new(base, aligner, &aligned, &store).await?;
        let Nearest { speaker, loss: start_loss } = nearest_speaker(base, &store, &options).await?;
        let prosody = Prosody::measure(base, &aligned, &store, speaker).await?;
        let calibration = Calibration::measure(base, &aligned, speaker, &prosody).await?;
        let rehearsal = match options.rehearsal > 0.0 {
            true => Some(rehearsal(base, &aligned, &store, speaker, &prosody, options.window).await?),
            false => None,
        };
        let sampler = SamplerConfig {
            seed: options.seed,
            clips: store.clips.len() - held_out.as_ref().map_or(0, HeldOut::count),
            batch: options.batch,
            window: options.window,
            reduction: base.config().reduction,
            rehearsed: options.rehearsed(),
            weight: options.rehearsal_weight(seconds, start_loss),
            ramp_iterations: options.iterations,
        };
        let dataset = ClipDataset { store, rehearsal, sampler };
        let mut tuner = Self {
            device: base.device.clone().autodiff(),
            parts: Voice::from_base_speaker(base, speaker)
                .parts
                .train()
                .computing(&Scope::new(options.compute())),
            origin: adaptable(&Voice::unadapted(base).parts),
            adam: Adam::new(AdamConfig {
                weight_decay: 0.0,
                // What is rehearsed adds to the loss of the clips, most at the end.
                first_scale: FIRST_SCALE / dataset.total_weight(options.iterations),
                ..AdamConfig::from_scope(&Scope::new(options.compute()))
            }),
            dataset,
            held_out,
            calibration,
            // A held-out clip, where there is one.
            shown: SnapshotClip::new(aligned.last().expect("counted"), base.config().mels),
            timing_speaker: base.speaker(speaker),
            prosody,
            seconds,
            loss: f32::NAN,
            overflows: 0,
            traced: 0,
            stopping: EarlyStopping::new(options.stop_rule),
            best: None,
            end: options.iterations,
            start: None,
            begun: None,
            options,
        };
        tuner.start = tuner.validate().await?;
        Ok(tuner)
    }

    /// Runs one iteration on zeros, so that a device compiles its pipelines before the training starts.
    #[doc(hidden)]
    pub async fn warm_up_async(base: &Base, options: &CloneOptions) -> Result<()> {
        let (config, device) = (base.config(), &base.device);
        let nothing = |width: usize| Tensor::<3>::zeros([1, options.window, width], device);
        let store = FrameStore {
            context: nothing(config.context_width()),
            targets: nothing(config.mels),
            mask: nothing(1) + 1.0,
            clips: vec![Span { first: 0, frames: options.window }],
        };
        let parts = Voice::from_base_speaker(base, base.default_speaker())
            .parts
            .train()
            .computing(&Scope::new(options.compute()));
        let windows = |count: usize| store.gather(&vec![0; count], options.window);
        let windows = match options.rehearsed() {
            0 => windows(options.batch),
            count => windows(options.batch).and(windows(count), options.rehearsal),
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

    /// Iterations done.
    pub fn iteration(&self) -> usize {
        self.adam.updates
    }

    /// Runs one iteration. The loss is read back every few iterations only, so that the device never waits for the host.
    pub async fn step_async(&mut self) -> Result<Step> {
        self.step_with_async(0, async || None::<Vec<Vec<f32>>>).await
    }

    /// Runs one iteration data-parallel, with helpers made from [`Self::worker_init_async`].
    ///
    /// * `helped`: awaited after this process has computed its own shard: the buffer of each helper, or `None` where one failed, and this process then
    ///   computes the whole batch
    #[doc(hidden)]
    pub async fn step_with_async<E: FlatBuffer>(
        &mut self,
        helpers: usize,
        helped: impl AsyncFnOnce() -> Option<Vec<E>>,
    ) -> Result<Step> {
        let begun = *self.begun.get_or_insert_with(Instant::now);
        let (iteration, in_cooldown) = (self.iteration(), self.in_cooldown());
        let (loss, gradients) = self.gradients(in_cooldown, helpers, helped).await?;
        let weight = self.dataset.total_weight(iteration);
        let factor = self.rate_factor(iteration);
        self.parts =
            self.adam.step(self.parts.clone(), &gradients, |path| factor * self.options.rate_of(path));
        let iteration = iteration + 1;
        let last = iteration >= self.end;
        let mut fault = None;
        if iteration % READ_EVERY == 0 || iteration == 1 || last {
            let overflows = self.adam.overflows(&self.device.clone().inner());
            let values = read(Tensor::cat(vec![loss.inner(), overflows], 0)).await?;
            self.loss = values[0] / weight;
            let before = std::mem::replace(&mut self.overflows, values[1] as usize);
            if !self.loss.is_finite() || (self.overflows > before && self.traced < MAX_TRACED) {
                self.traced += 1;
                fault = self.fault_async().await?;
            }
            if !self.loss.is_finite() {
                return Err(match fault {
                    Some((_, culprit)) => Error::training_diverged_by(iteration, culprit),
                    None => Error::training_diverged(iteration),
                });
            }
        }
        let mut validation = None;
        let validates = !in_cooldown && (iteration % EVALUATE_EVERY == 0 || self.in_cooldown());
        if last {
            self.keep_last().await?;
        } else if validates || iteration % EVALUATE_EVERY == 0 {
            // Whoever keeps checkpoints does so here.
            round_moments(&mut self.adam);
            self.parts = round_parameters(self.parts.clone(), &self.origin);
        }
        if validates && !last {
            validation = self.validate().await?;
            if let Some(now) = validation {
                self.observe(now);
            }
        }
        let stop = match last {
            false => None,
            true if self.end < self.options.iterations => Some(TuneStop::HeldOut),
            true => Some(TuneStop::Iterations),
        };
        let seconds = begun.elapsed().as_secs_f32();
        Ok(Step {
            iteration,
            iterations: self.end,
            loss: self.loss,
            seconds,
            validation,
            overflows: self.overflows,
            fault: fault.map(|(iteration, culprit)| format!("iteration {iteration}: {culprit}")),
            stop,
        })
    }

    /// Whether the next iteration belongs to the cooldown: falling rates, all clips.
    pub fn in_cooldown(&self) -> bool {
        self.iteration() + COOLDOWN >= self.end
    }

    /// The factor on the learning rates in an iteration: 1, then half a cosine down to [`RATE_END`].
    fn rate_factor(&self, iteration: usize) -> f64 {
        let cooldown = COOLDOWN.min(self.end);
        let cooled = (iteration + cooldown).saturating_sub(self.end) as f64 / cooldown as f64;
        RATE_END + (1.0 - RATE_END) * 0.5 * (1.0 + (std::f64::consts::PI * cooled).cos())
    }

    /// Keeps the parameters if the stop rule does, and starts the cooldown, from the best of them, once they no longer gain.
    fn observe(&mut self, validation: ValidationMetrics) {
        let score = self.options.stop_rule.score(&validation, self.granted_errors());
        let Verdict { keep, stop } = self.stopping.observe(score);
        if keep {
            self.best = Some((validation, self.parts.clone()));
        }
        if stop {
            self.end = self.end.min(self.iteration() + COOLDOWN);
        }
        if let (true, Some((_, best))) = (self.in_cooldown(), &self.best) {
            self.parts = best.clone();
        }
    }

    /// Keeps the parameters after the cooldown. Their variance scale is measured anew; their other metrics stay those from before the cooldown, since the
    /// held-out clips have been trained on.
    async fn keep_last(&mut self) -> Result<()> {
        if let Some(now) = self.validate().await? {
            let found = self.best.as_ref().map_or(now, |&(validation, _)| validation);
            self.best = Some((
                ValidationMetrics { global_variance_scale: now.global_variance_scale, ..found },
                self.parts.clone(),
            ));
        }
        Ok(())
    }

    /// Loss and gradients of an iteration.
    async fn gradients<E: FlatBuffer>(
        &mut self,
        in_cooldown: bool,
        helpers: usize,
        helped: impl AsyncFnOnce() -> Option<Vec<E>>,
    ) -> Result<(Tensor<1>, Gradients)> {
        let iteration = self.iteration();
        let mut compute = |shard| {
            let loss = loss(&self.parts, &self.dataset.windows(iteration, in_cooldown, shard));
            let gradients = self.adam.scaled(loss.clone()).backward();
            (loss, gradients)
        };
        if helpers == 0 {
            return Ok(compute(Shard::WHOLE));
        }
        let (mut loss, mut gradients) = compute(Shard { rank: 0, world_size: helpers + 1 });
        let Some(helped) = helped().await else { return Ok(compute(Shard::WHOLE)) };
        for helped in &helped {
            loss = helper::add(&self.parts, &mut gradients, loss, helped)?;
        }
        Ok((loss, gradients))
    }

    /// The phoneme error rate that costs no score: that of the recordings, or of the base before training if it is higher.
    fn granted_errors(&self) -> f32 {
        let of_speaker = self.held_out.as_ref().map_or(0.0, |held_out| held_out.phoneme_error_rate);
        self.start.map_or(of_speaker, |start| start.phoneme_error_rate.max(of_speaker))
    }

    /// Metrics of the current parameters on the held-out clips; `None` where no clip is held out.
    async fn validate(&self) -> Result<Option<ValidationMetrics>> {
        match &self.held_out {
            Some(held_out) => held_out
                .validate(&self.parts.valid(), &self.dataset.store, self.options.window)
                .await
                .map(Some),
            None => Ok(None),
        }
    }

    /// The last clip: its recording, and the prediction of the current parameters.
    #[doc(hidden)]
    pub async fn picture_async(&self, base: &Base) -> Result<AlignmentSnapshot> {
        let &Span { first, frames } = self.dataset.store.clips.last().expect("counted");
        let padded = frames.next_multiple_of(self.dataset.sampler.reduction);
        let windows = self.dataset.store.gather(&[first], padded);
        let predicted = read(
            predict(&self.parts.valid(), &windows)
                .1
                .narrow(1, 0, frames)
                .reshape([frames * base.config().mels]),
        )
        .await?;
        self.shown.beside(base.config().log_mels(predicted, base.mel_config()), &base.aligner).await
    }

    /// A voice of the current parameters.
    pub fn preview(&self) -> Voice {
        let info = VoiceInfo {
            adapted: true,
            iterations: self.iteration(),
            seconds: self.seconds,
            ..VoiceInfo::default()
        };
        let parts = self.parts.clone().valid().with_precision(Precision::F32);
        Voice {
            parts,
            timing_speaker: self.timing_speaker.clone(),
            duration_scale: self.prosody.duration_scale,
            duration_head_delta: self.prosody.duration_head_delta.clone(),
            global_variance_scale: self.global_variance_scale(),
            spectral_transport: None,
            intonation: self.prosody.intonation,
            voicing_readout: self.prosody.voicing_readout.clone(),
            info,
        }
    }

    /// The factors of the metrics that are kept, see [`crate::audio::global_variance_scale`].
    fn global_variance_scale(&self) -> GlobalVarianceScale {
        self.best.as_ref().map_or(FLAT, |(validation, _)| validation.global_variance_scale)
    }

    /// The voice of the parameters that the stop rule kept.
    pub async fn finish_async(self) -> Result<Voice> {
        let iterations = self.iteration();
        let held_out_loss =
            self.start.zip(self.best.as_ref()).map(|(before, (after, _))| [before.loss, after.loss]);
        let global_variance_scale = self.global_variance_scale();
        let parts = self.best.map_or(self.parts, |(_, best)| best).valid().with_precision(Precision::F32);
        let spectral_transport = self.calibration.spectral_transport(&parts, global_variance_scale).await?;
        let info =
            VoiceInfo { adapted: true, iterations, seconds: self.seconds, held_out_loss, consent: None };
        Ok(Voice {
            parts,
            timing_speaker: self.timing_speaker,
            duration_scale: self.prosody.duration_scale,
            duration_head_delta: self.prosody.duration_head_delta.clone(),
            global_variance_scale,
            spectral_transport,
            intonation: self.prosody.intonation,
            voicing_readout: self.prosody.voicing_readout.clone(),
            info,
        })
    }
}

/// The windows of each look at the speakers of the base, and how many of them are looked at further: few at first, many for the few that remain (successive
/// halving; Jamieson and Talwalkar 2016).
const HALVING_ROUNDS: [(usize, usize); 4] = [(1, 32), (2, 12), (4, 4), (16, 1)];

/// An engine's voice has to be nearer than any person's by this factor of the loss: what starts from an engine keeps some of its sound.
const ENGINE_PENALTY: f32 = 1.08;

/// What a clone starts from.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Nearest {
    /// The row of the base's speaker.
    speaker: usize,
    /// Mean over the frames that were looked at.
    loss: f32,
}

/// The speaker with the lowest loss on windows from all of the audio, that of engines penalised.
async fn nearest_speaker(base: &Base, store: &FrameStore, options: &CloneOptions) -> Result<Nearest> {
    let CloneOptions { batch, window, .. } = *options;
    let mut speakers: Vec<usize> = (0..base.manifest.speakers.len()).collect();
    let mut nearest = Nearest { speaker: 0, loss: f32::NAN };
    let penalty = |speaker: usize| if base.is_person(speaker) { 1.0 } else { ENGINE_PENALTY };
    for (count, keep) in HALVING_ROUNDS {
        let starts = spread(&store.clips, window, count);
        let mut losses = Vec::with_capacity(speakers.len());
        for beside in speakers.chunks((batch / count).max(1)) {
            let mut sums = vec![0.0; beside.len()];
            for starts in starts.chunks(batch) {
                let found = losses_of(base, beside, store, starts, options).await?;
                sums.iter_mut().zip(found).for_each(|(sum, loss)| *sum += loss);
            }
            let penalised = |(sum, &speaker): (f32, &usize)| (sum * penalty(speaker), speaker);
            losses.extend(sums.into_iter().zip(beside).map(penalised));
        }
        losses.sort_by(|left, right| left.0.total_cmp(&right.0));
        let frames: usize = starts.iter().map(|&start| store.valid(start, window)).sum();
        let (penalised, speaker) = losses[0];
        nearest = Nearest { speaker, loss: penalised / penalty(speaker) / frames as f32 };
        speakers = losses.into_iter().take(keep).map(|(_, index)| index).collect();
    }
    Ok(nearest)
}

/// The loss of each speaker on the same windows, summed over their frames: all of them in one batch, which has one shape, compiled once.
async fn losses_of(
    base: &Base,
    speakers: &[usize],
    store: &FrameStore,
    starts: &[usize],
    CloneOptions { batch, window, .. }: &CloneOptions,
) -> Result<Vec<f32>> {
    let count = starts.len();
    let rows = batch.next_multiple_of(count);
    let speaker_of = |row: usize| base.speaker(speakers[(row / count).min(speakers.len() - 1)]);
    let of_rows = Tensor::cat((0..rows).map(speaker_of).collect(), 0);
    let parts =
        Adapted { speaker: Param::from_tensor(of_rows), ..Voice::from_base_speaker(base, speakers[0]).parts };
    let (before, after) = predict(&parts, &store.gather(&starts.repeat(rows / count), *window));
    let (windows, fused) = (store.gather(starts, *window), Compute::default());
    let losses = (0..speakers.len()).map(|speaker| {
        let loss =
            |frames: &Tensor<3>| windows.loss(&fused, frames.clone().narrow(0, speaker * count, count));
        loss(&before) + loss(&after)
    });
    let losses = read(Tensor::cat(losses.collect(), 0)).await?;
    Ok(losses.into_iter().map(|loss| loss * windows.valid_frames as f32).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audio::Audio;
    use std::ops::Range;

    fn two_clips() -> Vec<Clip> {
        let clip = |recording: ownvoice_testing::Recording| Clip {
            audio: Audio { samples: recording.samples, sample_rate_hz: recording.sample_rate_hz },
            text: recording.text,
        };
        ownvoice_testing::held_out_recordings(2).into_iter().map(clip).collect()
    }

    /// Adam's first step is as long as the rate, whatever the gradient.
    #[test]
    fn the_decoder_learns_more_slowly_than_the_postnet() {
        let models = ownvoice_testing::tiny_folder();
        let clips = two_clips();
        let base = Base::open(models.path().join("base"), &Device::flex()).unwrap();
        let options = CloneOptions { batch: 2, window: 32, ..CloneOptions::default() };
        let mut tuner = pollster::block_on(FineTuner::start_async(&base, &clips, options.clone())).unwrap();
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

    /// A clip in which a few symbols are said, all of its bands at their mean.
    fn blank(base: &Base, frames: usize) -> FrameStore {
        let mels = base.config().mels;
        FrameStore {
            context: base.contexts(
                &crate::text::symbols::parse("_ DH R AA0 _").unwrap(),
                &[32, 64, 64, 64, 32],
                frames,
            ),
            targets: Tensor::zeros([1, frames, mels], &base.device),
            mask: Tensor::ones([1, frames, 1], &base.device),
            clips: vec![Span { first: 0, frames }],
        }
    }

    #[test]
    fn an_engine_has_to_be_nearer_than_a_person_by_its_penalty() {
        let models = ownvoice_testing::tiny_folder();
        let mut base = Base::open(models.path().join("base"), &Device::flex()).unwrap();
        let options = CloneOptions { batch: 8, window: 16, ..CloneOptions::default() };
        // One window, which all looks are at, half way between two speakers.
        let blank = blank(&base, options.window);
        let says = |speaker: usize| {
            let window = blank.gather(&[0], options.window);
            predict(&Voice::from_base_speaker(&base, speaker).parts, &window).1
        };
        let store = FrameStore { targets: (says(4) + says(28)).mul_scalar(0.5), ..blank.clone() };
        let speakers: Vec<usize> = (0..base.speakers().len()).collect();
        let found = speakers.chunks(options.batch).flat_map(|speakers| {
            pollster::block_on(losses_of(&base, speakers, &store, &[0], &options)).unwrap()
        });
        let mut losses: Vec<(usize, f32)> = found.enumerate().collect();
        losses.sort_by(|left, right| left.1.total_cmp(&right.1));
        let [(engine, least), (second, next)] = [losses[0], losses[1]];
        assert!(next < ENGINE_PENALTY * least, "the premise: {next} is near {least}");
        let (far, _) = *losses.iter().find(|(_, loss)| *loss > 1.1 * ENGINE_PENALTY * least).unwrap();
        for (person, nearest) in [(second, second), (far, engine)] {
            base.manifest.people = vec![base.speakers()[person].clone()];
            let found = pollster::block_on(nearest_speaker(&base, &store, &options)).unwrap();
            assert_eq!(found.speaker, nearest);
            let frames = options.window as f32;
            let (_, loss) = losses.iter().find(|(speaker, _)| *speaker == nearest).unwrap();
            assert!(
                (found.loss - loss / frames).abs() < 1e-4 * found.loss,
                "the loss of a frame, without a penalty"
            );
        }
    }

    /// Two clips that begin with a window of one speaker and go on with another: who speaks at first decides nothing.
    #[test]
    fn the_nearest_speaker_is_that_of_all_of_the_audio() {
        let models = ownvoice_testing::tiny_folder();
        let base = Base::open(models.path().join("base"), &Device::flex()).unwrap();
        let (window, frames, mels) = (16, 256, base.config().mels);
        let clip = frames / 2;
        let options = CloneOptions { batch: 8, window, ..CloneOptions::default() };
        let blank = blank(&base, frames);
        let starts: Vec<usize> = (0..frames).step_by(window).collect();
        let says = |speaker: usize, range: Range<usize>| {
            let windows = blank.gather(&starts, window);
            let (_, after) = predict(&Voice::from_base_speaker(&base, speaker).parts, &windows);
            after.reshape([1, frames, mels]).slice([0..1, range, 0..mels])
        };
        for (early, late) in [(4, 28), (28, 4)] {
            let parts = [(early, 0..window), (late, window..clip)];
            let second =
                parts.clone().map(|(speaker, range)| (speaker, clip + range.start..clip + range.end));
            let targets = parts.into_iter().chain(second).map(|(speaker, range)| says(speaker, range));
            let targets = Tensor::cat(targets.collect(), 1);
            let nearest = |ranges: [Range<usize>; 2]| {
                let clips = ranges.map(|range| Span { first: range.start, frames: range.len() }).to_vec();
                let store = FrameStore { targets: targets.clone(), clips, ..blank.clone() };
                pollster::block_on(nearest_speaker(&base, &store, &options)).unwrap().speaker
            };
            let begin = nearest([0..window, clip..clip + window]);
            let rest = nearest([window..clip, clip + window..frames]);
            assert_ne!(begin, rest, "the premise: they are unlike");
            assert_eq!(nearest([0..clip, clip..frames]), rest);
        }
    }
}
