//! Windows of fixed length from a prepared corpus, made into tensors.

use burn::prelude::*;
use half::f16;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::features::{Features, Utterance};
use crate::{
    audio::excitation::EXCITATION_WIDTH,
    model::{TacotronConfig, pitch::CONTOUR_SCALE, tacotron::Symbols},
    nn::upsample::{POSITION_WIDTH, frame_positions},
};

/// One training batch on the device.
#[derive(Debug, Clone)]
pub struct Batch {
    pub symbols: Symbols,
    /// `[B]`, rows of the speaker table
    pub speakers: Tensor<1, Int>,
    /// `[B, L]`, frames
    pub durations: Tensor<2>,
    /// `[B, T]`, centres in frames from the start of the utterance
    pub times: Tensor<2>,
    /// `[B, T, 4]`
    pub positions: Tensor<3>,
    /// What a model with pitch is given and learns to predict.
    pub pitch: Option<PitchBatch>,
    /// `[B, N, M]`, the normalised frame before each step; `None` where the decoder gets no feedback
    pub previous: Option<Tensor<3>>,
    /// `[B, T, M]`, normalised
    pub targets: Tensor<3>,
    /// `[B, T, 1]`, one where there is a frame
    pub mask: Tensor<3>,
    /// Frames that count, of all items.
    pub valid_frames: usize,
}

/// Pitch of a batch's frames, from the recordings.
#[derive(Debug, Clone)]
pub struct PitchBatch {
    /// `[B, T, X]`, see [`crate::audio::excitation`]
    pub excitation: Tensor<3>,
    /// `[B, T, 1]`, ln F0 above the speaker's mean in [`CONTOUR_SCALE`], 0 where unvoiced
    pub contour: Tensor<3>,
    /// `[B, T, 1]`, one where voiced
    pub voiced: Tensor<3>,
    pub voiced_frames: usize,
}

/// Draws batches with a seed of its own, so that a resumed run goes on where it was.
pub struct Batcher {
    pub batch: usize,
    /// Frames of a window; a multiple of the model's reduction.
    pub window: usize,
    rng: ChaCha8Rng,
}

/// Utterances of up to this many frames are drawn whole, 5 s at 16 kHz: longer ones would make every other item of their batch wait.
const WHOLE_FRAMES: usize = 400;
/// Share of windows that begin where their utterance does: a synthesis always starts there.
const START_SHARE: f64 = 0.3;

impl Batcher {
    pub fn new(batch: usize, window: usize, seed: u64) -> Self {
        Self { batch, window, rng: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// Random windows of random utterances among `from`.
    pub fn draw(
        &mut self,
        features: &Features,
        from: &[usize],
        config: &TacotronConfig,
        device: &Device,
    ) -> Batch {
        let picks: Vec<(&Utterance, usize)> = (0..self.batch)
            .map(|_| {
                let utterance = &features.utterances[from[self.rng.random_range(0..from.len())]];
                let slack = utterance.frames.saturating_sub(self.window);
                let first =
                    if self.rng.random_bool(START_SHARE) { 0 } else { self.rng.random_range(0..=slack) };
                (utterance, first)
            })
            .collect();
        assemble(features, &picks, self.window, config, device)
    }

    /// Random utterances as a whole, as long as the longest of them.
    pub fn draw_whole(
        &mut self,
        features: &Features,
        from: &[usize],
        config: &TacotronConfig,
        device: &Device,
    ) -> Batch {
        let short: Vec<&Utterance> = from
            .iter()
            .map(|&index| &features.utterances[index])
            .filter(|item| item.frames <= WHOLE_FRAMES)
            .collect();
        let picks: Vec<(&Utterance, usize)> =
            (0..self.batch).map(|_| (short[self.rng.random_range(0..short.len())], 0)).collect();
        let longest = picks.iter().map(|(utterance, _)| utterance.frames).max().expect("a batch has items");
        assemble(features, &picks, longest.next_multiple_of(config.reduction), config, device)
    }
}

/// Windows of given utterances from given frames on.
pub fn assemble(
    features: &Features,
    picks: &[(&Utterance, usize)],
    window: usize,
    config: &TacotronConfig,
    device: &Device,
) -> Batch {
    let (mels, steps) = (config.mels, window / config.reduction);
    let items: Vec<&[u8]> = picks.iter().map(|(utterance, _)| utterance.symbols.as_slice()).collect();
    let symbols = Symbols::new(&items, None, device);
    let width = symbols.ids.dims()[1];
    let normalise = |value: f16| (value.to_f32() - config.mel_mean) / config.mel_scale;

    let (mut durations, mut times, mut positions, mut mask) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut previous, mut targets) = (Vec::new(), Vec::with_capacity(picks.len() * window * mels));
    for &(utterance, first) in picks {
        let lengths = utterance.durations.as_ref().expect("only aligned utterances are drawn");
        durations.extend((0..width).map(|index| lengths.get(index).map_or(1.0, |&frames| frames as f32)));
        positions.extend(frame_positions(lengths, first, window).into_iter().flatten());
        for frame in first..first + window {
            times.push(frame as f32 + 0.5);
            let real = frame < utterance.frames;
            mask.push(f32::from(u8::from(real)));
            // Past the end the last frame goes on; the mask keeps it out of the loss.
            targets.extend(
                features
                    .frame(utterance, frame.min(utterance.frames - 1))
                    .iter()
                    .map(|&value| normalise(value)),
            );
            if config.autoregressive && (frame - first) % config.reduction == 0 {
                match frame {
                    0 => previous.extend(std::iter::repeat_n(0.0, mels)),
                    _ => previous.extend(
                        features
                            .frame(utterance, (frame - 1).min(utterance.frames - 1))
                            .iter()
                            .map(|&value| normalise(value)),
                    ),
                }
            }
        }
    }
    let batch = picks.len();
    let pitch = config.pitch.then(|| pitch(features, picks, window, device));
    let valid_frames = mask.iter().filter(|&&one| one > 0.0).count();
    let speakers: Vec<i32> = picks.iter().map(|(utterance, _)| utterance.speaker as i32).collect();
    Batch {
        symbols,
        speakers: Tensor::from_data(TensorData::new(speakers, [batch]), device),
        durations: Tensor::from_data(TensorData::new(durations, [batch, width]), device),
        times: Tensor::from_data(TensorData::new(times, [batch, window]), device),
        positions: Tensor::from_data(TensorData::new(positions, [batch, window, POSITION_WIDTH]), device),
        pitch,
        previous: config
            .autoregressive
            .then(|| Tensor::from_data(TensorData::new(previous, [batch, steps, mels]), device)),
        targets: Tensor::from_data(TensorData::new(targets, [batch, window, mels]), device),
        mask: Tensor::from_data(TensorData::new(mask, [batch, window, 1]), device),
        valid_frames,
    }
}

/// Frames past the end are unvoiced.
fn pitch(features: &Features, picks: &[(&Utterance, usize)], window: usize, device: &Device) -> PitchBatch {
    let means = features.mean_pitches_hz();
    let (mut excitation, mut contour, mut voiced) =
        (Vec::with_capacity(picks.len() * window * EXCITATION_WIDTH), Vec::new(), Vec::new());
    for &(utterance, first) in picks {
        for frame in first..first + window {
            let hz = if frame < utterance.frames { features.pitch_hz(utterance, frame) } else { 0.0 };
            excitation.extend(features.excitation().frame(hz));
            contour.push(if hz > 0.0 { (hz / means[utterance.speaker]).ln() / CONTOUR_SCALE } else { 0.0 });
            voiced.push(f32::from(u8::from(hz > 0.0)));
        }
    }
    let voiced_frames = voiced.iter().filter(|&&one| one > 0.0).count();
    let tensor = |values: Vec<f32>, width: usize| {
        Tensor::from_data(TensorData::new(values, [picks.len(), window, width]), device)
    };
    PitchBatch {
        excitation: tensor(excitation, EXCITATION_WIDTH),
        contour: tensor(contour, 1),
        voiced: tensor(voiced, 1),
        voiced_frames,
    }
}
