//! Fine-tuning as one state machine, for the page and the command line: start, step, finish; checkpoint and resume.
//!
//! The encoder stays, so what each frame says is computed once. A step then gathers windows from tensors that are already
//! on the device, runs decoder and postnet, and updates them and the speaker vector.

mod checkpoint;
mod held_out;
mod helper;
mod lesson;
mod rehearsal;
mod speech;

use burn::{
    module::{Module, Param},
    prelude::*,
    tensor::Gradients,
};
use web_time::Instant;

use super::{
    adam::{Adam, AdamConfig},
    judge::{AlignedClip, align_clips},
    options::{CloneOptions, Look, Start, StopRule},
    picture::{Picture, Shown},
};
use crate::{
    Error, Result,
    model::tacotron::Symbols,
    nn::{Mode, Precision, upsample::POSITION_WIDTH},
    text::symbols,
    voice::{Adapted, Base, Voice, VoiceInfo, read},
};
use held_out::HeldOut;
use lesson::{Lesson, Plan};
use rehearsal::Rehearsal;
use speech::{Speech, Windows, assemble, loss, predict};

pub use helper::{Exchange, Helper};
pub use lesson::Share;

/// A recording and what it says.
#[derive(Debug, Clone, PartialEq)]
pub struct Clip {
    pub samples: Vec<f32>,
    pub sample_rate_hz: u32,
    pub text: String,
}

/// Why fine-tuning is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TuneStop {
    /// All iterations are done.
    Iterations,
    /// The held-out clips no longer gained: the rates fell, and that was it.
    HeldOut,
}

impl TuneStop {
    pub fn name(self) -> &'static str {
        match self {
            Self::Iterations => "iterations",
            Self::HeldOut => "held-out",
        }
    }
}

/// What one iteration says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Iterations done.
    pub iteration: usize,
    /// How many there will be, as it looks now: fewer than were asked for when the voice no longer gains.
    pub iterations: usize,
    /// The latest loss that was read back.
    pub loss: f32,
    /// Since this process began to iterate.
    pub seconds: f32,
    /// What the held-out clips say, at the iterations that ask them; none of those that settle does.
    pub look: Option<Look>,
    /// Updates left out so far because half precision overflowed, as of the latest loss.
    pub overflows: usize,
    pub stop: Option<TuneStop>,
}

/// Iterations between two losses read back.
const READ_EVERY: usize = 5;
/// Iterations between two looks at the held-out clips; also between checkpoints of the callers.
pub const EVALUATE_EVERY: usize = 25;
/// Iterations at the end in which the learning rates fall, and to what share of themselves: what the others have moved, these settle. They learn from the
/// held-out clips too, which have said by then what they were held out for.
const SETTLE: usize = 25;
const RATE_END: f64 = 0.1;
/// Looks in a row that gain nothing let the rates fall.
const PATIENCE: usize = 3;
/// The least speech worth learning from.
const MINIMUM_SECONDS: f32 = 3.0;

pub struct FineTuner {
    options: CloneOptions,
    device: Device,
    parts: Adapted,
    adam: Adam,
    lesson: Lesson,
    held_out: Option<HeldOut>,
    shown: Shown,
    timing_speaker: Tensor<2>,
    pace: f32,
    seconds: f32,
    loss: f32,
    overflows: usize,
    /// What is kept: the latest of those that the stop rule finds as good as any.
    best: Option<(Look, Adapted)>,
    /// The highest score so far.
    top: f32,
    /// The score that is to be beaten, and how many looks have not.
    mark: f32,
    stale: usize,
    /// Iterations that there will be, the last [`SETTLE`] of them at falling rates.
    end: usize,
    /// Before the first iteration.
    start: Option<Look>,
    begun: Option<Instant>,
}

impl FineTuner {
    /// Checks, aligns and encodes the clips, and picks the base speaker who is nearest.
    pub async fn start_async(base: &Base, clips: &[Clip], options: CloneOptions) -> Result<Self> {
        if clips.is_empty() {
            return Err(Error::NoClips);
        }
        if options.iterations == 0 || options.batch == 0 || options.window < base.config().reduction || options.window % base.config().reduction != 0 {
            return Err(Error::OptionInvalid("iterations, batch and window must be positive, the window a multiple of the reduction".into()));
        }
        if !(0.0..=10.0).contains(&options.rehearsal) {
            return Err(Error::OptionInvalid("rehearsal must lie between 0 and 10".into()));
        }
        if !options.precision.runs_on(&base.device) {
            return Err(Error::PrecisionUnsupported);
        }
        let aligned = align_clips(base, clips).await?;
        let frame_seconds = base.mel_config().frame_seconds();
        let seconds = aligned.iter().map(|clip| clip.frames() as f32 * frame_seconds).sum();
        if seconds < MINIMUM_SECONDS {
            return Err(Error::ClipTooShort { seconds, minimum_seconds: MINIMUM_SECONDS });
        }
        let speech = assemble(base, &aligned, options.window);
        let held_out = HeldOut::of(base, &aligned, &speech).await?;
        let speaker = nearest_speaker(base, &speech, &options).await?;
        let rehearsal = if options.rehearsal > 0.0 { Some(Rehearsal::of(base, options.window).await?) } else { None };
        let pace = pace(base, &aligned, speaker).await?;
        let plan = Plan {
            seed: options.seed,
            clips: speech.clips.len() - held_out.as_ref().map_or(0, HeldOut::count),
            batch: options.batch,
            window: options.window,
            reduction: base.config().reduction,
            rehearsed: options.rehearsed(),
            weight: options.rehearsal,
        };
        let mut start = Voice::of_base_speaker(base, speaker);
        if let Start::Mixture(weights) = &options.start {
            start.parts.speaker = Param::from_tensor(mixture(base, weights)?);
        }
        let mut tuner = Self {
            device: base.device.clone().autodiff(),
            parts: options.adapts.prepare(start.parts.train()).with_precision(options.precision),
            adam: Adam::new(AdamConfig { weight_decay: 0.0, precision: options.precision, ..AdamConfig::default() }),
            lesson: Lesson { speech, rehearsal, plan },
            held_out,
            // The one that is held out, where one is.
            shown: Shown::new(aligned.last().expect("counted"), base.config().mels),
            timing_speaker: base.speaker(speaker),
            pace,
            seconds,
            loss: f32::NAN,
            overflows: 0,
            best: None,
            top: f32::NEG_INFINITY,
            mark: f32::NEG_INFINITY,
            stale: 0,
            end: options.iterations,
            start: None,
            begun: None,
            options,
        };
        tuner.start = tuner.look().await?;
        Ok(tuner)
    }

    /// One iteration on nothing, so that a device has compiled what the iterations run before anybody waits for it.
    pub async fn warm_up_async(base: &Base, options: &CloneOptions) -> Result<()> {
        let (config, device) = (base.config(), &base.device);
        let nothing = |width: usize| Tensor::<3>::zeros([1, options.window, width], device);
        let context_width = config.encoder_width + POSITION_WIDTH;
        let speech = Speech {
            context: nothing(context_width),
            targets: nothing(config.mels),
            previous: config.feedback.then(|| nothing(config.mels)),
            mask: nothing(1) + 1.0,
            clips: vec![(0, options.window)],
        };
        let parts = Voice::of_base_speaker(base, base.default_speaker()).parts.train().with_precision(options.precision);
        let windows = |count: usize| speech.gather(&vec![0; count], options.window, config.reduction);
        let windows = match options.rehearsed() {
            0 => windows(options.batch),
            count => {
                let speakers = parts.speaker.val().inner().repeat_dim(0, count);
                windows(options.batch).and(Windows { others: Some(speakers), ..windows(count) }, options.rehearsal)
            }
        };
        let loss = loss(&parts, &windows);
        let mut adam = Adam::new(AdamConfig { weight_decay: 0.0, precision: options.precision, ..AdamConfig::default() });
        let gradients = adam.scaled(loss).backward();
        let parts = adam.step(parts, &gradients, |_| 0.0);
        read(parts.speaker.val().inner().slice([0..1, 0..1]).reshape([1])).await.map(drop)
    }

    /// Iterations done.
    pub fn iteration(&self) -> usize {
        self.adam.updates
    }

    /// One iteration. The loss is read back every few of them only, so that the device never waits.
    pub async fn step_async(&mut self) -> Result<Step> {
        self.step_with_async(0, async || None::<Vec<Vec<f32>>>).await
    }

    /// The same with helpers, which [`Self::kit_async`] equips.
    ///
    /// * `helped`: awaited when this iteration's own share is done; what each of `helpers` returned for its share, or `None` where that failed: all is
    ///   computed here then
    pub async fn step_with_async<E: Exchange>(&mut self, helpers: usize, helped: impl AsyncFnOnce() -> Option<Vec<E>>) -> Result<Step> {
        let begun = *self.begun.get_or_insert_with(Instant::now);
        let (iteration, settles) = (self.iteration(), self.settles());
        let (loss, gradients) = self.learn(settles, helpers, helped).await?;
        let CloneOptions { rate, speaker_rate, adapts, .. } = self.options;
        let fall = self.fall(iteration);
        let rates = |path: &str| match path {
            "speaker" => speaker_rate,
            path if adapts.includes(path) => rate,
            _ => 0.0,
        };
        self.parts = self.adam.step(self.parts.clone(), &gradients, |path| fall * rates(path));
        let iteration = iteration + 1;
        let last = iteration >= self.end;
        if iteration % READ_EVERY == 0 || iteration == 1 || last {
            let overflows = self.adam.overflows(&self.device.clone().inner());
            let told = read(Tensor::cat(vec![loss.inner(), overflows], 0)).await?;
            self.loss = told[0];
            self.overflows = told[1] as usize;
            if !self.loss.is_finite() {
                return Err(Error::TrainingDiverged { iteration });
            }
        }
        let mut look = None;
        if last {
            self.keep().await?;
        } else if !settles && (iteration % EVALUATE_EVERY == 0 || self.settles()) {
            look = self.look().await?;
            if let Some(now) = look {
                self.weigh(now);
            }
        }
        let stop = match last {
            false => None,
            true if self.end < self.options.iterations => Some(TuneStop::HeldOut),
            true => Some(TuneStop::Iterations),
        };
        let seconds = begun.elapsed().as_secs_f32();
        Ok(Step { iteration, iterations: self.end, loss: self.loss, seconds, look, overflows: self.overflows, stop })
    }

    /// Whether the next iteration is one of the last: at falling rates, and from all clips.
    pub fn settles(&self) -> bool {
        self.iteration() + SETTLE >= self.end
    }

    /// What is left of the learning rates in an iteration.
    fn fall(&self, iteration: usize) -> f64 {
        let settle = SETTLE.min(self.end);
        let settled = (iteration + settle).saturating_sub(self.end) as f64 / settle as f64;
        RATE_END + (1.0 - RATE_END) * 0.5 * (1.0 + (std::f64::consts::PI * settled).cos())
    }

    /// Keeps the voice if it is as good as any, and lets it settle if it no longer gains. What settles is what was kept.
    fn weigh(&mut self, look: Look) {
        let rule = self.options.stop_rule;
        let score = rule.score(&look, self.granted_errors());
        self.top = self.top.max(score);
        if score >= self.top - rule.margin() {
            self.best = Some((look, self.parts.clone()));
        }
        if score > self.mark + rule.gain() {
            (self.mark, self.stale) = (score, 0);
        } else {
            self.stale += 1;
        }
        if self.stale == PATIENCE && rule != StopRule::Fixed {
            self.end = self.end.min(self.iteration() + SETTLE);
        }
        if let (true, Some((_, best))) = (self.settles(), &self.best) {
            self.parts = best.clone();
        }
    }

    /// Keeps the voice that has settled, with the contrast that it lacks now. All else that was found of it is from before it learnt from every clip.
    async fn keep(&mut self) -> Result<()> {
        if let Some(now) = self.look().await? {
            let found = self.best.as_ref().map_or(now, |&(look, _)| look);
            self.best = Some((Look { contrast: now.contrast, ..found }, self.parts.clone()));
        }
        Ok(())
    }

    /// Loss and gradients of an iteration.
    async fn learn<E: Exchange>(&mut self, settles: bool, helpers: usize, helped: impl AsyncFnOnce() -> Option<Vec<E>>) -> Result<(Tensor<1>, Gradients)> {
        let iteration = self.iteration();
        let mut learn = |share| {
            let loss = loss(&self.parts, &self.lesson.windows(iteration, settles, share));
            let gradients = self.adam.scaled(loss.clone()).backward();
            (loss, gradients)
        };
        if helpers == 0 {
            return Ok(learn(Share::WHOLE));
        }
        let (mut loss, mut gradients) = learn(Share { number: 0, of: helpers + 1 });
        let Some(helped) = helped().await else { return Ok(learn(Share::WHOLE)) };
        for helped in &helped {
            loss = helper::add(&self.parts, &mut gradients, loss, helped)?;
        }
        Ok((loss, gradients))
    }

    /// Phoneme errors that a voice may have: as many as its speaker, or as the base before it learnt anything.
    fn granted_errors(&self) -> f32 {
        let of_speaker = self.held_out.as_ref().map_or(0.0, |held_out| held_out.phoneme_error_rate);
        self.start.map_or(of_speaker, |start| start.phoneme_error_rate.max(of_speaker))
    }

    /// What the held-out clips say of the voice as it stands; `None` where none are.
    async fn look(&self) -> Result<Option<Look>> {
        match &self.held_out {
            Some(held_out) => held_out.look(&self.parts.valid(), &self.lesson.speech, self.options.window).await.map(Some),
            None => Ok(None),
        }
    }

    /// The last clip, recorded and as the model makes it now.
    pub async fn picture_async(&self, base: &Base) -> Result<Picture> {
        let &(first, frames) = self.lesson.speech.clips.last().expect("counted");
        let reduction = self.lesson.plan.reduction;
        let padded = frames.next_multiple_of(reduction);
        self.device.seed(0);
        let windows = self.lesson.speech.gather(&[first], padded, reduction);
        let predicted = read(predict(&self.parts.valid(), &windows).1.narrow(1, 0, frames).reshape([frames * base.config().mels])).await?;
        self.shown.beside(base.config().log_mels(predicted, base.mel_config()), &base.aligner).await
    }

    /// The voice as it stands, to be heard while training goes on.
    pub fn preview(&self) -> Voice {
        let info = VoiceInfo { adapted: true, iterations: self.iteration(), seconds: self.seconds, ..VoiceInfo::default() };
        let parts = self.parts.clone().materialize().valid().with_precision(Precision::F32);
        Voice { parts, timing_speaker: self.timing_speaker.clone(), pace: self.pace, contrast: self.contrast(), info }
    }

    /// What the voice lacks by the look that is kept, see [`crate::audio::contrast`].
    fn contrast(&self) -> f32 {
        self.best.as_ref().map_or(1.0, |(look, _)| look.contrast)
    }

    /// The best voice so far.
    pub async fn finish_async(self) -> Result<Voice> {
        let iterations = self.iteration();
        let held_out_loss = self.start.zip(self.best.as_ref()).map(|(before, (after, _))| [before.loss, after.loss]);
        let contrast = self.contrast();
        let parts = self.best.map_or(self.parts, |(_, best)| best).materialize().valid().with_precision(Precision::F32);
        let info = VoiceInfo { adapted: true, iterations, seconds: self.seconds, held_out_loss, consent: None };
        Ok(Voice { parts, timing_speaker: self.timing_speaker, pace: self.pace, contrast, info })
    }
}

/// A mean of the base's speakers, `[1, V]`.
fn mixture(base: &Base, weights: &[f32]) -> Result<Tensor<2>> {
    let speakers = base.model.speakers.val();
    if weights.len() != speakers.dims()[0] {
        return Err(Error::OptionInvalid(format!("a mixture needs a weight for each of {} speakers", speakers.dims()[0])));
    }
    Ok(Tensor::<2>::from_data(TensorData::new(weights.to_vec(), [1, weights.len()]), &base.device).matmul(speakers)) // (1, S) x (S, V)
}

/// The speaker of the base whose model errs least on these clips.
async fn nearest_speaker(base: &Base, speech: &Speech, options: &CloneOptions) -> Result<usize> {
    let starts: Vec<usize> = speech.clips.iter().map(|&(first, _)| first).take(options.batch).collect();
    let windows = speech.gather(&starts, options.window, base.config().reduction);
    let mut best = (f32::INFINITY, base.default_speaker());
    for index in 0..base.manifest.speakers.len() {
        base.device.seed(0);
        let loss = read(loss(&Voice::of_base_speaker(base, index).parts, &windows)).await?[0];
        if loss < best.0 {
            best = (loss, index);
        }
    }
    Ok(best.1)
}

/// How much longer the clips' phones are than the predictor has them, as a ratio of geometric means. Pauses do not count.
async fn pace(base: &Base, clips: &[AlignedClip], speaker: usize) -> Result<f32> {
    let (mut sum, mut count) = (0.0, 0);
    for clip in clips {
        let input = Symbols::new(&[&clip.symbols], None, &base.device);
        let encoded = base.model.encode(&input, Mode::Steady);
        let logs = read(base.model.durations.forward(encoded, base.speaker(speaker), &input.lengths).reshape([clip.symbols.len()])).await?;
        for ((&symbol, &frames), predicted) in clip.symbols.iter().zip(&clip.durations).zip(logs) {
            if symbols::is_phone(symbol) {
                sum += (frames as f32).ln() - predicted;
                count += 1;
            }
        }
    }
    Ok((sum / count.max(1) as f32).exp().clamp(0.5, 2.0))
}
