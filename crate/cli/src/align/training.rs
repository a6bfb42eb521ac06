//! Trains the recogniser on the phone times of a prepared corpus, with random vocal tracts, rooms and noise.
//!
//! The training has its own loop, because a quarter of an hour needs no checkpoints, and because its metric is frame accuracy and not a loss.

use std::ops::Range;

use burn::prelude::*;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::{
    learn::{
        data_loader::{Collate, DataLoaderConfig, with_loader},
        run::split,
    },
    speaker_encoder::augment::{ECHO_BELS, ECHO_SECONDS, ECHO_SHARE, NOISE_BELS, NOISE_SHARE},
};
use burn_fused::{
    Mode,
    adam::{Adam, AdamConfig},
};
use ownvoice::{
    Error, Result,
    align::recogniser::{Recogniser, class, normalise},
    audio::mel::MelConfig,
    features::{Features, Utterance},
    learn::sampler::{BatchKey, BatchSampler},
    report::{Progress, Report},
};

/// The hyperparameters of the recogniser's training.
#[derive(Debug, Clone, PartialEq)]
pub struct RecogniserConfig {
    pub steps: usize,
    pub batch: usize,
    /// The length of a window in frames.
    pub window: usize,
    pub seed: u64,
    /// The initial learning rate, which falls to zero along a half cosine.
    pub rate: f64,
}

impl Default for RecogniserConfig {
    fn default() -> Self {
        Self { steps: 1500, batch: 16, window: 160, seed: 1, rate: 2e-3 }
    }
}

impl RecogniserConfig {
    /// Returns the learning rate of a step, after a linear warm-up.
    fn rate(&self, step: usize) -> f64 {
        const WARM_UP_STEPS: f64 = 50.0;
        let progress = step as f64 / self.steps as f64;
        self.rate
            * 0.5
            * (1.0 + (std::f64::consts::PI * progress).cos())
            * ((step + 1) as f64 / WARM_UP_STEPS).min(1.0)
    }
}

/// The number of steps between two reports.
const REPORT_EVERY: usize = 50;

/// Trains to the last step.
///
/// * `keep`: receives the model at each report
pub fn train(
    features: &Features,
    config: &RecogniserConfig,
    device: &Device,
    report: &dyn Report,
    mut keep: impl FnMut(&Recogniser) -> Result<()>,
) -> Result<Recogniser> {
    let device = &device.clone().autodiff();
    let long_enough = |item: &Utterance| item.durations.is_some() && item.frames >= config.window;
    let usable = (0..features.utterances.len()).filter(|&index| long_enough(&features.utterances[index]));
    let (train, held_out) = split(usable)?;
    device.seed(config.seed);
    let order = BatchSampler::new(train.into_iter().map(|index| (index, 0)), config.batch, config.seed);
    let source = WindowSource { features, config, order, held_out };
    let mut model = Recogniser::new(features.mel.mels, device);
    let mut adam = Adam::new(AdamConfig { weight_decay: 1e-2, ..AdamConfig::default() });
    let mut message = String::new();
    let mut sum = 0.0;
    with_loader(&source, DataLoaderConfig::default(), 0..config.steps, device, |loader| {
        for step in 0..config.steps {
            let (mels, classes) = loader.take()?.batch;
            let loss = model.forward(mels, Mode::Train).gather(2, classes).mean().neg();
            let gradients = loss.backward();
            sum += loss.into_scalar::<f32>();
            model = adam.step(model.clone(), &gradients, |_| config.rate(step));
            report.progress(&Progress { done: step + 1, of: Some(config.steps), message: &message });
            if (step + 1) % REPORT_EVERY == 0 || step + 1 == config.steps {
                if !sum.is_finite() {
                    return Err(Error::training_diverged(step));
                }
                let accuracy = accuracy(&model, loader.batch(BatchKey::HeldOut(0))?);
                message = format!(
                    "step {}, loss {:.3}, held-out accuracy {:.1} %",
                    step + 1,
                    sum / (step % REPORT_EVERY + 1) as f32,
                    100.0 * accuracy
                );
                report.note(&message);
                keep(&model)?;
                sum = 0.0;
            }
        }
        Ok(())
    })?;
    Ok(model)
}

/// Returns the share of frames whose most likely class is correct.
fn accuracy(model: &Recogniser, (mels, classes): WindowBatch) -> f32 {
    let frames = classes.shape().num_elements();
    let correct = model.forward(mels, Mode::Eval).argmax(2).equal(classes).int().sum().into_scalar::<i32>();
    correct as f32 / frames as f32
}

/// Normalised log-mels `[B, T, M]` and phone classes `[B, T, 1]`.
type WindowBatch = (Tensor<3>, Tensor<3, Int>);

/// A source of batches of windows.
struct WindowSource<'a> {
    features: &'a Features,
    config: &'a RecogniserConfig,
    order: BatchSampler,
    held_out: Vec<usize>,
}

impl Collate for WindowSource<'_> {
    type HostBatch = WindowBatch;
    type Batch = WindowBatch;

    /// Makes a batch of random augmented windows, or one of the first windows of all held-out utterances, without augmentation.
    fn make(&self, key: BatchKey, cpu: &Device) -> Result<WindowBatch> {
        let RecogniserConfig { window, seed, .. } = *self.config;
        match key {
            BatchKey::HeldOut(_) => windows(self.features, &self.held_out, window, |_| None, cpu),
            BatchKey::Train(step) => {
                let random = |item| Some(key.random(seed, item));
                windows(self.features, &self.order.batch(step), window, random, cpu)
            }
        }
    }

    fn place(&self, (mels, classes): WindowBatch, device: &Device) -> WindowBatch {
        (mels.to_device(device), classes.to_device(device))
    }
}

/// Makes a batch of one window from each utterance.
///
/// * `picks`:  indices of utterances
/// * `random`: returns the random numbers of an item, for a random augmented window; `None` takes the first window without augmentation
fn windows(
    features: &Features,
    picks: &[usize],
    window: usize,
    random: impl Fn(usize) -> Option<ChaCha8Rng>,
    device: &Device,
) -> Result<WindowBatch> {
    let mels = features.mel.mels;
    let (mut inputs, mut targets) =
        (Vec::with_capacity(picks.len() * window * mels), Vec::with_capacity(picks.len() * window));
    for (item, &pick) in picks.iter().enumerate() {
        let utterance = &features.utterances[pick];
        let mut frames = features.log_mels(utterance, 0..utterance.frames)?;
        let (mut first, mut rng) = (0, random(item));
        if let Some(rng) = &mut rng {
            frames = augmented(&frames, mels, rng);
            first = rng.random_range(0..=utterance.frames - window);
        }
        normalise(&mut frames, mels);
        if let Some(rng) = &mut rng {
            mask_band(&mut frames, mels, rng);
        }
        inputs.extend_from_slice(&frames[first * mels..][..window * mels]);
        let durations = utterance.durations.as_ref().expect("only aligned utterances are drawn");
        let classes = utterance
            .symbols
            .iter()
            .zip(durations)
            .flat_map(|(&symbol, &frames)| std::iter::repeat_n(class(symbol) as i32, frames as usize));
        targets.extend(classes.skip(first).take(window));
    }
    let items = picks.len();
    Ok((
        Tensor::from_data(TensorData::new(inputs, [items, window, mels]), device),
        Tensor::from_data(TensorData::new(targets, [items, window, 1]), device),
    ))
}

/// Changes vocal tract, echoes and noise at random, on the host. The microphone's response needs no augmentation, because [`normalise`] removes it.
///
/// Maps `[T, M]` to `[T, M]`, natural logarithms of amplitudes with frames of [`MelConfig::speech_16k`].
fn augmented(frames: &[f32], mels: usize, rng: &mut ChaCha8Rng) -> Vec<f32> {
    // A vocal tract shorter by a factor scales frequencies: on a mel axis that is linear below 1 kHz and logarithmic above, a third of the
    // channels is stretched and the others are shifted.
    let stretch = rng.random_range(-0.15f32..0.15);
    let knee = mels as f32 / 3.0;
    let sources: Vec<(usize, f32)> = (0..mels)
        .map(|channel| {
            let source =
                (channel as f32 + stretch * knee.min(channel as f32)).clamp(0.0, mels as f32 - 1.001);
            (source as usize, source.fract())
        })
        .collect();
    // Echoes and noises add up as powers.
    let mut powers: Vec<f32> = frames
        .chunks_exact(mels)
        .flat_map(|frame| {
            sources.iter().map(|&(source, share)| {
                (2.0 * (frame[source] * (1.0 - share) + frame[source + 1] * share)).exp()
            })
        })
        .collect();
    if rng.random_bool(ECHO_SHARE) {
        let frame_seconds = MelConfig::speech_16k().frame_seconds();
        let decay = 10f32.powf(-6.0 * frame_seconds / rng.random_range(single(ECHO_SECONDS)));
        let gain = 10f32.powf(rng.random_range(single(ECHO_BELS))) * (1.0 - decay);
        let mut tail = vec![0.0f32; mels];
        for frame in powers.chunks_exact_mut(mels) {
            for (power, tail) in frame.iter_mut().zip(&mut tail) {
                let direct = *power;
                *power += gain * *tail;
                *tail = decay * (*tail + direct);
            }
        }
    }
    if rng.random_bool(NOISE_SHARE) {
        // Noise with a random tilt and hump, and fluctuating power.
        let mean = powers.iter().sum::<f32>() / powers.len() as f32;
        let level = mean * 10f32.powf(-rng.random_range(single(NOISE_BELS)));
        let tilt = rng.random_range(-3.0f32..1.5);
        let (hump, place) = (rng.random_range(-2.0f32..2.0), rng.random_range(0.0f32..1.0));
        let noise: Vec<f32> = (0..mels)
            .map(|channel| channel as f32 / mels as f32 - 0.5)
            .map(|x| level * (2.0 * tilt * x + hump * (-((x + 0.5 - place) / 0.2).powi(2)).exp()).exp())
            .collect();
        for frame in powers.chunks_exact_mut(mels) {
            for (power, noise) in frame.iter_mut().zip(&noise) {
                let fluctuation = rng.random::<f32>() + rng.random::<f32>();
                *power += noise * fluctuation * fluctuation;
            }
        }
    }
    powers.into_iter().map(|power| 0.5 * power.max(1e-10).ln()).collect()
}

/// Converts a range to single precision.
fn single(range: Range<f64>) -> Range<f32> {
    range.start as f32..range.end as f32
}

/// Sets up to an eighth of the channels to their mean, so that the recognition of a phone does not depend on one band (SpecAugment; Park et al. 2019).
fn mask_band(frames: &mut [f32], mels: usize, rng: &mut ChaCha8Rng) {
    let width = rng.random_range(0..=mels / 8);
    let first = rng.random_range(0..=mels - width);
    frames.chunks_exact_mut(mels).for_each(|frame| frame[first..first + width].fill(0.0));
}

#[cfg(test)]
mod tests {
    use super::*;
    use ownvoice::{
        audio::mel::{Mel, MelConfig},
        features::NewUtterance,
        text::symbols::Symbol,
    };
    use rand::SeedableRng;
    use std::sync::Mutex;

    /// Creates features of two alternating phones of 8 frames, whose power is in different halves of the spectrum.
    fn corpus(utterances: usize) -> Features {
        let mut features = Features::new(MelConfig::speech_16k());
        for index in 0..utterances {
            let is_loud = |frame: usize, channel: usize| (frame / 8 + index) % 2 == channel / 40;
            let data = (0..48 * 80).map(|at| if is_loud(at / 80, at % 80) { -2.0 } else { -9.0 }).collect();
            let [b, aa] = ["B", "AA0"].map(|name| Symbol::from_name(name).unwrap());
            let symbols = (0..6).map(|phone| [b, aa][(phone + index) % 2]).collect();
            features.push(NewUtterance {
                speaker: "a",
                id: index.to_string(),
                text: "x".into(),
                symbols,
                durations: Some(vec![8; 6]),
                mel: &Mel { mels: 80, data },
                f0_hz: &[],
            });
        }
        features
    }

    #[derive(Default)]
    struct Notes(Mutex<Vec<String>>);

    impl Report for Notes {
        fn note(&self, line: &str) {
            self.0.lock().unwrap().push(line.into());
        }
    }

    #[test]
    fn two_phones_are_learned() {
        let config = RecogniserConfig { steps: 30, batch: 4, window: 40, ..RecogniserConfig::default() };
        let notes = Notes::default();
        train(&corpus(60), &config, &Device::flex(), &notes, |_| Ok(())).unwrap();
        let last = notes.0.into_inner().unwrap().pop().unwrap();
        let accuracy: f32 = last.split(' ').rev().nth(1).unwrap().parse().unwrap();
        assert!(accuracy > 90.0, "{last}");
    }

    #[test]
    fn a_corpus_that_is_too_small_is_refused() {
        let result = train(&corpus(1), &RecogniserConfig::default(), &Device::flex(), &(), |_| Ok(()));
        assert_eq!(result.unwrap_err().code(), "corpus-invalid");
    }

    #[test]
    fn augmentation_only_adds_power_and_is_finite() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let silence = vec![-11.5f32; 20 * 80];
        for _ in 0..20 {
            let noisy = augmented(&silence, 80, &mut rng);
            assert!(noisy.iter().all(|value| value.is_finite() && *value > -11.6), "{noisy:?}");
        }
    }
}
