//! Fine-tuning as one state machine, for the page and the command line: start, step, finish; checkpoint and resume.
//!
//! The encoder stays, so what each frame says is computed once. A step then gathers windows from tensors that are already
//! on the device, runs decoder and postnet, and updates them and the speaker vector.

use burn::{
    module::Module,
    prelude::*,
};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::{collections::HashMap, rc::Rc};
use web_time::Instant;

use super::{
    adam::{Adam, AdamConfig},
    judge::{AlignedClip, align_clips},
    loss::spectrogram_loss,
    optimizer_state::{optimizer_weights, restore_optimizer},
    options::{CloneOptions, Look, StopRule},
    picture::{Picture, Shown},
};
use crate::{
    Error, Result,
    align::{Aligner, edits, said},
    audio::{
        mel::{Mel, MelConfig},
        speaker::{SpeakerStats, similarity},
    },
    model::{TacotronConfig, tacotron::Symbols},
    nn::{Mode, Precision, upsample::POSITION_WIDTH},
    text::symbols,
    voice::{Adapted, Base, Voice, VoiceInfo, adaptable, read},
    weights::{Metadata, Storage, apply, pack, unpack},
};

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
    /// The held-out clip has not improved for a while.
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
    pub iterations: usize,
    /// The latest loss that was read back.
    pub loss: f32,
    /// Since this process began to iterate.
    pub seconds: f32,
    /// The held-out clip's loss, at the iterations that take it.
    pub held_out_loss: Option<f32>,
    /// All that was found at those iterations.
    pub look: Option<Look>,
    /// Updates left out so far because half precision overflowed, as of the latest loss.
    pub overflows: usize,
    pub stop: Option<TuneStop>,
}

/// Iterations between two losses read back.
const READ_EVERY: usize = 5;
/// Iterations between two looks at the held-out clip; also between checkpoints of the callers.
pub const EVALUATE_EVERY: usize = 25;
/// Share of the learning rates that is left at the end.
const RATE_END: f64 = 0.1;
/// Looks without improvement that end the training.
const PATIENCE: usize = 4;
/// From this many clips on, the last is held out.
const HOLD_OUT_FROM: usize = 5;
/// The least speech worth learning from.
const MINIMUM_SECONDS: f32 = 3.0;

/// All frames of all clips, one after the other, on the device.
struct Speech {
    /// `[1, F, C]`, `[1, F, M]`, `[1, F, M]` shifted by one frame where that feeds back, `[1, F, 1]`
    context: Tensor<3>,
    targets: Tensor<3>,
    previous: Option<Tensor<3>>,
    mask: Tensor<3>,
    /// First frame and frames of each clip.
    clips: Vec<(usize, usize)>,
}

/// One window a batch item, gathered by frame numbers.
struct Windows {
    context: Tensor<3>,
    targets: Tensor<3>,
    previous: Option<Tensor<3>>,
    mask: Tensor<3>,
    valid_frames: usize,
}

impl Speech {
    fn gather(&self, starts: &[usize], window: usize, reduction: usize) -> Windows {
        let device = self.targets.device();
        let index = |stride: usize| {
            let frames: Vec<i32> = starts.iter().flat_map(|start| (0..window).step_by(stride).map(move |frame| (start + frame) as i32)).collect();
            let count = frames.len();
            Tensor::<1, Int>::from_data(TensorData::new(frames, [count]), &device)
        };
        let take = |from: &Tensor<3>, index: &Tensor<1, Int>| {
            let width = from.dims()[2];
            let rows = index.dims()[0] / starts.len();
            from.clone().select(1, index.clone()).reshape([starts.len(), rows, width])
        };
        let frames = index(1);
        let valid_frames = starts.iter().map(|&start| self.valid(start, window)).sum();
        Windows {
            context: take(&self.context, &frames),
            targets: take(&self.targets, &frames),
            previous: self.previous.as_ref().map(|previous| take(previous, &index(reduction))),
            mask: take(&self.mask, &frames),
            valid_frames,
        }
    }

    /// Frames of a window that belong to its clip.
    fn valid(&self, start: usize, window: usize) -> usize {
        let &(first, frames) = self.clips.iter().rev().find(|&&(first, _)| first <= start).expect("clips cover all starts");
        (first + frames - start).min(window)
    }
}

/// A clip that is not learnt from.
struct HeldOut {
    first: usize,
    frames: usize,
    /// Classes of its phones.
    said: Vec<usize>,
    /// What the speaker's spectra are like in all clips.
    speaker: SpeakerStats,
}

pub struct FineTuner {
    options: CloneOptions,
    reduction: usize,
    device: Device,
    parts: Adapted,
    adam: Adam,
    speech: Speech,
    training: Vec<(usize, usize)>,
    held_out: Option<HeldOut>,
    config: TacotronConfig,
    mel_config: MelConfig,
    aligner: Rc<Aligner>,
    shown: Shown,
    timing_speaker: Tensor<2>,
    pace: f32,
    seconds: f32,
    loss: f32,
    overflows: usize,
    best: Option<(Look, Adapted)>,
    /// Before the first iteration.
    start: Option<Look>,
    stale: usize,
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
        let held_out = aligned.last().filter(|_| aligned.len() >= HOLD_OUT_FROM).map(|last| {
            let mut speaker = SpeakerStats::default();
            let mels = base.mel_config().mels;
            aligned.iter().for_each(|clip| speaker.merge(&SpeakerStats::from_mel(&Mel { mels, data: clip.mel.clone() })));
            let &(first, frames) = speech.clips.last().expect("as many as clips");
            HeldOut { first, frames, said: said(&last.symbols), speaker }
        });
        let training = speech.clips[..speech.clips.len() - usize::from(held_out.is_some())].to_vec();
        let speaker = nearest_speaker(base, &speech, &options).await?;
        let pace = pace(base, &aligned, speaker).await?;
        let start = Voice::of_base_speaker(base, speaker);
        let mut tuner = Self {
            reduction: base.config().reduction,
            device: base.device.clone().autodiff(),
            parts: options.adapts.prepare(start.parts.train()).with_precision(options.precision),
            adam: Adam::new(AdamConfig { weight_decay: 0.0, precision: options.precision, ..AdamConfig::default() }),
            speech,
            training,
            held_out,
            config: base.config().clone(),
            mel_config: base.mel_config().clone(),
            aligner: base.aligner.clone(),
            // The one that is held out, where one is.
            shown: Shown::new(aligned.last().expect("counted"), base.config().mels),
            timing_speaker: base.speaker(speaker),
            pace,
            seconds,
            loss: f32::NAN,
            overflows: 0,
            best: None,
            start: None,
            stale: 0,
            begun: None,
            options,
        };
        tuner.start = tuner.look().await?;
        Ok(tuner)
    }

    /// Goes on from a checkpoint of the same clips and options.
    pub async fn resume_async(base: &Base, clips: &[Clip], checkpoint: &[u8]) -> Result<Self> {
        let (mut weights, metadata) = unpack(checkpoint).map_err(Error::CheckpointCorrupt)?;
        let named = |key: &str| metadata.get(key);
        let lacks = |key: &str| Error::CheckpointCorrupt(format!("it lacks its {key}"));
        let number = |key: &str| -> Result<f64> {
            let value = named(key).and_then(|value| value.parse().ok());
            value.filter(|value: &f64| value.is_finite()).ok_or_else(|| lacks(key))
        };
        if metadata.get("base").map(String::as_str) != Some(base.hash()) {
            return Err(Error::BaseMismatch { expected: metadata.get("base").cloned().unwrap_or_default(), found: base.hash().into() });
        }
        let options = CloneOptions {
            iterations: number("iterations")? as usize,
            batch: number("batch")? as usize,
            window: number("window")? as usize,
            seed: number("seed")? as u64,
            rate: number("rate")?,
            speaker_rate: number("speaker_rate")?,
            adapts: named("adapts").and_then(|json| serde_json::from_str(json).ok()).ok_or_else(|| lacks("adapts"))?,
            stop_rule: named("stop_rule").and_then(|json| serde_json::from_str(json).ok()).ok_or_else(|| lacks("stop_rule"))?,
            precision: metadata.get("precision").and_then(|name| Precision::by_name(name)).unwrap_or_default(),
        };
        let mut tuner = Self::start_async(base, clips, options).await?;
        tuner.adam.updates = number("updates")? as usize;
        restore_optimizer(&mut tuner.adam, &mut weights, &base.device);
        tuner.stale = number("stale")? as usize;
        tuner.loss = number("loss").unwrap_or(f64::NAN) as f32;
        let mut take = |prefix: &str| -> HashMap<String, (Vec<usize>, Vec<f32>)> {
            let names: Vec<String> = weights.keys().filter(|name| name.starts_with(prefix)).cloned().collect();
            names.into_iter().map(|name| (name[prefix.len()..].to_string(), weights.remove(&name).expect("listed"))).collect()
        };
        let (now, best) = (take("now."), take("best."));
        if now.is_empty() {
            return Err(Error::CheckpointCorrupt("it holds no weights".into()));
        }
        let start = tuner.parts.clone();
        tuner.parts = apply(start.clone(), &now).map_err(Error::CheckpointCorrupt)?;
        if !best.is_empty() {
            let look = named("best").and_then(|json| serde_json::from_str(json).ok()).ok_or_else(|| lacks("best"))?;
            tuner.best = Some((look, apply(start, &best).map_err(Error::CheckpointCorrupt)?));
        }
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
        let loss = loss(&parts, &speech.gather(&vec![0; options.batch], options.window, config.reduction));
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
        let begun = *self.begun.get_or_insert_with(Instant::now);
        let iteration = self.iteration();
        // Seeded by iteration: a resumed run draws what the unbroken one would have drawn.
        let mut rng = ChaCha8Rng::seed_from_u64(self.options.seed.wrapping_mul(1_000_003).wrapping_add(iteration as u64));
        self.device.seed(rng.random());
        let starts: Vec<usize> = (0..self.options.batch).map(|_| self.draw(&mut rng)).collect();
        let windows = self.speech.gather(&starts, self.options.window, self.reduction);
        let loss = loss(&self.parts, &windows);
        let gradients = self.adam.scaled(loss.clone()).backward();
        let CloneOptions { rate, speaker_rate, adapts, iterations, .. } = self.options;
        // What the first iterations have moved, the last settle.
        let fall = RATE_END + (1.0 - RATE_END) * 0.5 * (1.0 + (std::f64::consts::PI * iteration as f64 / iterations as f64).cos());
        let rates = |path: &str| match path {
            "speaker" => speaker_rate,
            path if adapts.includes(path) => rate,
            _ => 0.0,
        };
        self.parts = self.adam.step(self.parts.clone(), &gradients, |path| fall * rates(path));
        let iteration = iteration + 1;
        let last = iteration >= self.options.iterations;
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
        if iteration % EVALUATE_EVERY == 0 || last {
            look = self.look().await?;
            if let Some(now) = look {
                let better = self.best.as_ref().is_none_or(|(best, _)| self.options.stop_rule.score(&now, self.start) > self.options.stop_rule.score(best, self.start));
                if better || self.options.stop_rule == StopRule::Fixed {
                    self.best = Some((now, self.parts.clone()));
                    self.stale = 0;
                } else {
                    self.stale += 1;
                }
            }
        }
        let stop = if last {
            Some(TuneStop::Iterations)
        } else if self.stale >= PATIENCE {
            Some(TuneStop::HeldOut)
        } else {
            None
        };
        let seconds = begun.elapsed().as_secs_f32();
        let held_out_loss = look.map(|look| look.loss);
        Ok(Step { iteration, iterations: self.options.iterations, loss: self.loss, seconds, held_out_loss, look, overflows: self.overflows, stop })
    }

    /// A window's first frame: any frame of a clip, each clip by its length, its end no less often than its middle.
    fn draw(&self, rng: &mut ChaCha8Rng) -> usize {
        let total: usize = self.training.iter().map(|&(_, frames)| frames).sum();
        let mut at = rng.random_range(0..total);
        for &(first, frames) in &self.training {
            if at < frames {
                return first + at.min(frames.saturating_sub(self.options.window));
            }
            at -= frames;
        }
        unreachable!("the draw lies below the total")
    }

    /// Says the held-out clip with its own timing and listens: its spectrogram, how near it is to the speaker, and whether it is understood.
    async fn look(&self) -> Result<Option<Look>> {
        let Some(held_out) = &self.held_out else { return Ok(None) };
        let (first, frames) = (held_out.first, held_out.frames);
        let starts: Vec<usize> = (first..first + frames).step_by(self.options.window).collect();
        self.device.seed(0); // The prenet drops the same values at each look.
        let windows = self.speech.gather(&starts, self.options.window, self.reduction);
        let (before, after) = predict(&self.parts.valid(), &windows);
        let loss = read(windows.loss(before) + windows.loss(after.clone())).await?[0];
        let mels = self.config.mels;
        let mut values = read(after.reshape([starts.len() * self.options.window * mels])).await?;
        values.truncate(frames * mels);
        let mel = self.config.log_mels(values, &self.mel_config);
        let similarity = similarity(&SpeakerStats::from_mel(&mel), &held_out.speaker);
        let errors = edits(&self.aligner.transcribe(&mel).await?, &held_out.said).0;
        Ok(Some(Look { loss, similarity, phoneme_error_rate: errors as f32 / held_out.said.len().max(1) as f32 }))
    }

    /// The last clip, recorded and as the model makes it now.
    pub async fn picture_async(&self, base: &Base) -> Result<Picture> {
        let &(first, frames) = self.speech.clips.last().expect("counted");
        let reduction = self.reduction;
        let padded = frames.next_multiple_of(reduction);
        self.device.seed(0);
        let windows = self.speech.gather(&[first], padded, reduction);
        let predicted = read(predict(&self.parts.valid(), &windows).1.narrow(1, 0, frames).reshape([frames * base.config().mels])).await?;
        self.shown.beside(base.config().log_mels(predicted, base.mel_config()), &base.aligner).await
    }

    /// All that [`Self::resume_async`] needs beside the clips.
    pub async fn checkpoint_async(&self, base: &Base) -> Result<Vec<u8>> {
        let mut weights = optimizer_weights(&self.adam);
        let mut put = |prefix: &str, parts: &Adapted| {
            weights.extend(adaptable(parts).into_iter().map(|(name, weight)| (format!("{prefix}{name}"), weight)));
        };
        put("now.", &self.parts);
        if let Some((_, best)) = &self.best {
            put("best.", best);
        }
        let CloneOptions { iterations, batch, window, seed, rate, speaker_rate, adapts, stop_rule, precision } = &self.options;
        let json = |value: serde_json::Result<String>| value.expect("plain data");
        let mut metadata = Metadata::from([("base".to_string(), base.hash().to_string())]);
        for (key, value) in [
            ("updates", self.adam.updates.to_string()),
            ("stale", self.stale.to_string()),
            ("loss", self.loss.to_string()),
            ("best", json(serde_json::to_string(&self.best.as_ref().map(|(look, _)| look)))),
            ("adapts", json(serde_json::to_string(adapts))),
            ("stop_rule", json(serde_json::to_string(stop_rule))),
            ("iterations", iterations.to_string()),
            ("batch", batch.to_string()),
            ("window", window.to_string()),
            ("seed", seed.to_string()),
            ("rate", rate.to_string()),
            ("speaker_rate", speaker_rate.to_string()),
            ("precision", precision.name().to_string()),
        ] {
            metadata.insert(key.to_string(), value);
        }
        Ok(pack(weights, Storage::Full, metadata).await)
    }

    /// The voice as it stands, to be heard while training goes on.
    pub fn preview(&self) -> Voice {
        let info = VoiceInfo { adapted: true, iterations: self.iteration(), seconds: self.seconds, ..VoiceInfo::default() };
        let parts = self.parts.clone().materialize().valid().with_precision(Precision::F32);
        Voice { parts, timing_speaker: self.timing_speaker.clone(), pace: self.pace, info }
    }

    /// The best voice so far.
    pub async fn finish_async(self) -> Result<Voice> {
        let iterations = self.iteration();
        let held_out_loss = self.start.zip(self.best.as_ref()).map(|(before, (after, _))| [before.loss, after.loss]);
        let parts = self.best.map_or(self.parts, |(_, best)| best).materialize().valid().with_precision(Precision::F32);
        let info = VoiceInfo { adapted: true, iterations, seconds: self.seconds, held_out_loss, consent: None };
        Ok(Voice { parts, timing_speaker: self.timing_speaker, pace: self.pace, info })
    }
}

/// The windows' spectrograms before and after the postnet, `[B, T, M]`.
fn predict(parts: &Adapted, windows: &Windows) -> (Tensor<3>, Tensor<3>) {
    let [batch, _, _] = windows.targets.dims();
    let speaker = parts.speaker.val();
    let width = speaker.dims()[1];
    let state = parts.decoder.start(batch, &windows.targets.device());
    let (frames, _) = parts.decoder.forward(windows.previous.clone(), windows.context.clone(), speaker.expand([batch, width]), state);
    let residual = parts.postnet.forward(frames.clone(), Mode::Steady);
    (frames.clone(), frames + residual)
}

fn loss(parts: &Adapted, windows: &Windows) -> Tensor<1> {
    let (before, after) = predict(parts, windows);
    windows.loss(before) + windows.loss(after)
}

impl Windows {
    fn loss(&self, predicted: Tensor<3>) -> Tensor<1> {
        spectrogram_loss(predicted, self.targets.clone(), self.mask.clone(), self.valid_frames)
    }
}

/// Puts the clips on the device, each padded to at least one window.
fn assemble(base: &Base, clips: &[AlignedClip], window: usize) -> Speech {
    let (config, device) = (base.config(), &base.device);
    let mels = config.mels;
    let (mut contexts, mut targets, mut previous, mut mask, mut spans) = (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut first = 0;
    for clip in clips {
        let frames = clip.frames();
        let padded = frames.next_multiple_of(window);
        contexts.push(base.contexts(&clip.symbols, &clip.durations, padded));
        let normalised: Vec<f32> = clip.mel.iter().map(|value| (value - config.mel_mean) / config.mel_scale).collect();
        let frame = |index: usize| &normalised[index.min(frames - 1) * mels..][..mels];
        for index in 0..padded {
            targets.extend_from_slice(frame(index));
            match index {
                _ if !config.feedback => (),
                0 => previous.extend(std::iter::repeat_n(0.0, mels)),
                _ => previous.extend_from_slice(frame(index - 1)),
            }
            mask.push(if index < frames { 1.0f32 } else { 0.0 });
        }
        spans.push((first, frames));
        first += padded;
    }
    let tensor = |values: Vec<f32>, width: usize| Tensor::from_data(TensorData::new(values, [1, first, width]), device);
    Speech {
        context: Tensor::cat(contexts, 1),
        targets: tensor(targets, mels),
        previous: config.feedback.then(|| tensor(previous, mels)),
        mask: tensor(mask, 1),
        clips: spans,
    }
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
