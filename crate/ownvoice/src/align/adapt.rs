//! Adaptation of the recogniser to one speaker, by recordings with known texts: expectation maximisation over the paths of the lattice (Baum et al. 1970).
//!
//! The adapted recogniser finds the boundaries of phones in another language, with another accent or by another microphone than those of its corpus.

use burn::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{
    ForcedAligner,
    recogniser::{CLASSES, DROPOUT, WIDTH, normalise},
};
use crate::{Error, Result, audio::mel::Mel, text::symbols::Symbol};
use burn_fused::{
    Mode,
    adam::{Adam, AdamConfig},
};

/// A recording and its symbols.
pub struct AdaptationClip<'a> {
    pub mel: &'a Mel,
    pub symbols: &'a [Symbol],
    /// Whether each symbol ends a word, see [`crate::text::to_symbols`].
    pub word_ends: &'a [bool],
}

/// The configuration of an adaptation.
#[derive(Debug, Clone, PartialEq)]
pub struct AdaptConfig {
    /// The number of expectation steps over all recordings.
    pub rounds: usize,
    /// The number of optimizer steps after each expectation step.
    pub steps: usize,
    /// The most windows of a step. Fewer are used if fewer cover the recordings.
    pub batch: usize,
    /// The number of frames of a window.
    pub window: usize,
    pub rate: f64,
    pub seed: u64,
}

impl Default for AdaptConfig {
    fn default() -> Self {
        Self { rounds: 12, steps: 3, batch: 8, window: 160, rate: 1e-3, seed: 1 }
    }
}

/// The input of the recogniser for a recording, and its targets.
struct Example {
    /// The normalised log mels, `[T, M]`.
    frames: Vec<f32>,
    /// The probability of each class, `[T, CLASSES]`.
    targets: Vec<f32>,
}

impl Example {
    /// Returns the number of frames.
    fn len(&self) -> usize {
        self.targets.len() / CLASSES
    }
}

/// Adapts an aligner to the speaker of the recordings. Recordings that are too short for their symbols are left out.
///
/// # Errors
/// Fails with `training-diverged`, and as [`ForcedAligner::align`] does for a spectrogram of another shape.
pub async fn adapt(
    aligner: &ForcedAligner,
    recordings: &[AdaptationClip<'_>],
    config: &AdaptConfig,
) -> Result<ForcedAligner> {
    let device = &aligner.device.clone().autodiff();
    let mut adapted = aligner.clone();
    let mut adam = Adam::new(AdamConfig { weight_decay: 0.0, ..AdamConfig::default() });
    let mut rng = ChaCha8Rng::seed_from_u64(config.seed);
    for round in 0..config.rounds {
        let mut examples = Vec::with_capacity(recordings.len());
        for recording in recordings {
            examples.extend(expect(&adapted, recording).await?);
        }
        if examples.is_empty() {
            return Ok(adapted);
        }
        let batch =
            config.batch.min(examples.iter().map(Example::len).sum::<usize>().div_ceil(config.window));
        let mut model = adapted.model.train();
        let mut losses = Vec::with_capacity(config.steps);
        for _ in 0..config.steps {
            let (frames, targets) = draw(&examples, adapted.mels, batch, config.window, &mut rng, device);
            let posteriors = model
                .classify(model.hidden(frames, Mode::Train) * mask(batch, config.window, &mut rng, device));
            let loss = (posteriors * targets.clone()).sum().neg() / targets.sum();
            losses.push(loss.clone().inner());
            model = adam.step(model, &loss.backward(), |_| config.rate);
        }
        let loss = Tensor::cat(losses, 0)
            .mean()
            .into_scalar_async::<f32>()
            .await
            .map_err(|error| Error::device_lost(format!("{error:?}")))?;
        if !loss.is_finite() {
            return Err(Error::training_diverged(round * config.steps));
        }
        adapted.model = model.valid();
    }
    Ok(adapted)
}

/// Computes the targets of a recording. Returns `None` if it is too short for its symbols.
async fn expect(aligner: &ForcedAligner, recording: &AdaptationClip<'_>) -> Result<Option<Example>> {
    let &AdaptationClip { mel, symbols, word_ends } = recording;
    let occupancies = aligner.occupancies(mel, symbols, word_ends).await?;
    Ok(occupancies.map(|occupancies| {
        let mut frames = mel.data.clone();
        normalise(&mut frames, mel.mels);
        Example { frames, targets: occupancies.into_flattened() }
    }))
}

/// Samples windows: frames `[B, T, M]` and targets `[B, T, CLASSES]`. A recording that is shorter than the window is padded by frames without targets.
fn draw(
    examples: &[Example],
    mels: usize,
    batch: usize,
    window: usize,
    rng: &mut ChaCha8Rng,
    device: &Device,
) -> (Tensor<3>, Tensor<3>) {
    let (mut frames, mut targets) = (vec![0.0; batch * window * mels], vec![0.0; batch * window * CLASSES]);
    // Recordings are sampled in proportion to their length, so that every frame has the same weight.
    let total: usize = examples.iter().map(Example::len).sum();
    for row in 0..batch {
        let mut place = rng.random_range(0..total);
        let example = examples.iter().find(|example| {
            let inside = place < example.len();
            if !inside {
                place -= example.len();
            }
            inside
        });
        let example = example.expect("the place lies in a recording");
        let count = window.min(example.len());
        let first = place.saturating_sub(window / 2).min(example.len() - count);
        frames[row * window * mels..][..count * mels]
            .copy_from_slice(&example.frames[first * mels..][..count * mels]);
        targets[row * window * CLASSES..][..count * CLASSES]
            .copy_from_slice(&example.targets[first * CLASSES..][..count * CLASSES]);
    }
    let tensor = |values: Vec<f32>, width: usize| {
        Tensor::from_data(TensorData::new(values, [batch, window, width]), device)
    };
    (tensor(frames, mels), tensor(targets, CLASSES))
}

/// Samples a dropout mask, `[B, T, WIDTH]`, from a generator of its own: the device's is shared by the whole process, and the same clips have to give the same
/// voice.
fn mask(batch: usize, window: usize, rng: &mut ChaCha8Rng, device: &Device) -> Tensor<3> {
    let shape = [batch, window, WIDTH];
    let values: Vec<f32> = (0..shape.iter().product())
        .map(|_| if rng.random_bool(DROPOUT) { 0.0 } else { 1.0 / (1.0 - DROPOUT) as f32 })
        .collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        audio::{
            mel::{MelConfig, MelExtractor},
            wav,
        },
        text::{Phonemizer, to_symbols},
    };

    const TEXT: &str =
        "My younger brother enjoys boiling fresh corn and sharing it with everybody on the beach each July.";

    fn shipped() -> ForcedAligner {
        ForcedAligner::load(include_bytes!("../../../../models/base/aligner.safetensors"), &Device::flex())
            .unwrap()
    }

    /// A sentence of a speaker that the aligner was not trained on.
    fn sentence() -> Mel {
        let clip = wav::read(include_bytes!("../../../../tests/fixtures/held-out.wav")).unwrap();
        MelExtractor::new(MelConfig::speech_16k()).extract(&clip.samples[..(6.975 * 16_000.0) as usize])
    }

    #[test]
    fn adaptation_lowers_phoneme_errors_and_keeps_boundaries() {
        let (aligner, mel) = (shipped(), sentence());
        let (symbols, word_ends) = to_symbols(&Phonemizer::embedded().words(TEXT).unwrap());
        let adapted = pollster::block_on(adapt(
            &aligner,
            &[AdaptationClip { mel: &mel, symbols: &symbols, word_ends: &word_ends }],
            &AdaptConfig::default(),
        ))
        .unwrap();
        let errors = |aligner: &ForcedAligner| {
            pollster::block_on(aligner.phoneme_errors(&mel, &symbols)).unwrap().errors
        };
        assert!(errors(&adapted) < errors(&aligner), "{} and {}", errors(&adapted), errors(&aligner));
        let ends = |aligner: &ForcedAligner| {
            let alignment = pollster::block_on(aligner.align(&mel, &symbols, &word_ends)).unwrap();
            alignment
                .durations
                .iter()
                .scan(0, |now, frames| {
                    *now += frames;
                    Some(*now)
                })
                .collect::<Vec<u32>>()
        };
        let (before, after) = (ends(&aligner), ends(&adapted));
        let far = before.iter().zip(&after).filter(|(a, b)| a.abs_diff(**b) > 4).count();
        assert!(
            before.len() == after.len() && far * 10 < before.len(),
            "{far} of {} boundaries moved by more than 50 ms",
            before.len()
        );
    }

    #[test]
    fn a_recording_that_is_too_short_is_left_out() {
        let (aligner, mel) = (shipped(), Mel { mels: 80, data: vec![-5.0; 3 * 80] });
        let (symbols, word_ends) = to_symbols(&Phonemizer::embedded().words(TEXT).unwrap());
        let adapted = pollster::block_on(adapt(
            &aligner,
            &[AdaptationClip { mel: &mel, symbols: &symbols, word_ends: &word_ends }],
            &AdaptConfig::default(),
        ))
        .unwrap();
        let whole = sentence();
        assert_eq!(
            pollster::block_on(adapted.transcribe(&whole)).unwrap(),
            pollster::block_on(aligner.transcribe(&whole)).unwrap()
        );
    }
}
