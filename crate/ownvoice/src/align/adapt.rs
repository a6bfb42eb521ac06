//! Adaptation of the recogniser to one speaker, by recordings with known texts: expectation maximisation over the paths of the lattice (Baum et al. 1970).
//!
//! The adapted recogniser finds the boundaries of phones in another language, with another accent or by another microphone than those of its corpus.

use std::collections::{BTreeMap, btree_map::Entry};

use burn::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{
    ForcedAligner,
    lattice::Lattice,
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

/// A window of a recording.
struct Window {
    recording: usize,
    first: usize,
    frames: usize,
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
    let recordings: Vec<_> = recordings.iter().filter(|recording| recording.fits()).collect();
    let total: usize = recordings.iter().map(|recording| recording.mel.frames()).sum();
    if total == 0 {
        return Ok(adapted);
    }
    let batch = config.batch.min(total.div_ceil(config.window));
    for round in 0..config.rounds {
        // The expectation of a recording is computed when a window of it is drawn: a round draws from few of many recordings.
        let mut examples: BTreeMap<usize, Example> = BTreeMap::new();
        let mut model = adapted.model.clone().train();
        let mut losses = Vec::with_capacity(config.steps);
        for _ in 0..config.steps {
            let windows: Vec<Window> =
                (0..batch).map(|_| draw(&recordings, rng.random_range(0..total), config.window)).collect();
            for window in &windows {
                if let Entry::Vacant(place) = examples.entry(window.recording) {
                    place.insert(expect(&adapted, recordings[window.recording]).await?);
                }
            }
            let (frames, targets) = gather(&windows, &examples, adapted.mels, config.window, device);
            let posteriors = model
                .classify(model.hidden(frames, Mode::Train) * mask(batch, config.window, &mut rng, device));
            let loss = (posteriors * targets.clone()).sum().neg() / targets.sum().clamp_min(1.0);
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

impl AdaptationClip<'_> {
    /// Whether the recording is long enough for its symbols.
    fn fits(&self) -> bool {
        Lattice::fitting(self.symbols, self.word_ends, self.mel.frames()).is_some()
    }
}

/// Computes the targets of a recording. A recording that its symbols cannot explain has none.
async fn expect(aligner: &ForcedAligner, recording: &AdaptationClip<'_>) -> Result<Example> {
    let &AdaptationClip { mel, symbols, word_ends } = recording;
    let occupancies = aligner.occupancies(mel, symbols, word_ends).await?;
    let targets = occupancies
        .map_or_else(|| vec![0.0; mel.frames() * CLASSES], |occupancies| occupancies.into_flattened());
    let mut frames = mel.data.clone();
    normalise(&mut frames, mel.mels);
    Ok(Example { frames, targets })
}

/// Returns the window around a frame of all recordings. Recordings are sampled in proportion to their length, so that every frame has the same weight.
fn draw(recordings: &[&AdaptationClip], mut place: usize, window: usize) -> Window {
    let lengths = recordings.iter().map(|recording| recording.mel.frames());
    for (recording, length) in lengths.enumerate() {
        if place < length {
            let frames = window.min(length);
            return Window {
                recording,
                first: place.saturating_sub(window / 2).min(length - frames),
                frames,
            };
        }
        place -= length;
    }
    unreachable!("the place lies in a recording")
}

/// Gathers windows: frames `[B, T, M]` and targets `[B, T, CLASSES]`. A recording that is shorter than the window is padded by frames without targets.
fn gather(
    windows: &[Window],
    examples: &BTreeMap<usize, Example>,
    mels: usize,
    length: usize,
    device: &Device,
) -> (Tensor<3>, Tensor<3>) {
    let tensor = |width: usize, of: fn(&Example) -> &[f32]| {
        let mut values = vec![0.0; windows.len() * length * width];
        for (&Window { recording, first, frames }, row) in
            windows.iter().zip(values.chunks_exact_mut(length * width))
        {
            row[..frames * width]
                .copy_from_slice(&of(&examples[&recording])[first * width..][..frames * width]);
        }
        Tensor::from_data(TensorData::new(values, [windows.len(), length, width]), device)
    };
    (tensor(mels, |example| &example.frames), tensor(CLASSES, |example| &example.targets))
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
