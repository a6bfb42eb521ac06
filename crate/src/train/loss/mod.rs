//! What training minimises: L1 + L2 of the spectrogram before and after the postnet, L2 of log durations.

#[cfg(feature = "cube")]
mod cube;
mod flex;
mod ops;

use burn::{backend::Dispatch, prelude::*};
use ops::LossOps;

use super::batch::Batch;
use crate::{model::Tacotron, nn::Mode};

/// L1 + L2 over the frames that count.
///
/// * `predicted`, `targets`: `[B, T, M]`
/// * `mask`:                 `[B, T, 1]`
pub fn spectrogram_loss(predicted: Tensor<3>, targets: Tensor<3>, mask: Tensor<3>, valid_frames: usize) -> Tensor<1> {
    let mels = targets.dims()[2];
    let sums = Dispatch::errors(predicted.into_dispatch(), targets.into_dispatch(), mask.into_dispatch());
    Tensor::<1>::from_dispatch(sums).sum().div_scalar((valid_frames * mels) as f32)
}

/// Losses of one batch, each `[1]`.
pub struct Losses {
    /// Before the postnet.
    pub before: Tensor<1>,
    /// After it.
    pub after: Tensor<1>,
    /// Mean square of ln frames.
    pub durations: Tensor<1>,
}

impl Losses {
    pub fn total(&self) -> Tensor<1> {
        self.before.clone() + self.after.clone() + self.durations.clone()
    }
}

/// Runs the duration path under teacher forcing.
pub fn losses(model: &Tacotron, batch: &Batch, mode: Mode) -> Losses {
    let device = batch.targets.device();
    let symbols = &batch.symbols;
    let items = symbols.lengths.len();
    let encoded = model.encode(symbols, mode);
    let speaker = model.speakers.val().select(0, batch.speakers.clone());
    let log_durations = model.durations.forward(encoded.clone(), speaker.clone(), &symbols.lengths);
    let context = model.upsample(symbols, encoded, batch.durations.clone(), batch.times.clone(), batch.positions.clone());
    let (frames, _) = model.decoder.forward(batch.previous.clone(), context, speaker, model.decoder.start(items, &device));
    let residual = model.postnet.forward(frames.clone(), mode);
    let compare = |predicted| spectrogram_loss(predicted, batch.targets.clone(), batch.mask.clone(), batch.valid_frames);
    let duration_error = (log_durations - batch.durations.clone().clamp_min(1.0).log()) * symbols.mask.clone();
    let symbol_count: usize = symbols.lengths.iter().sum();
    Losses {
        before: compare(frames.clone()),
        after: compare(frames + residual),
        durations: duration_error.powi_scalar(2).sum().div_scalar(symbol_count as f32),
    }
}
