//! The frames of all clips on the device, the windows that an iteration gathers from them, and their loss.

use burn::prelude::*;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::clip::AlignedClip;
use crate::voice::{Adapted, Base};
use burn_fused::{
    Compute, Mode,
    weights::{HostWeights, Weight, Weights},
};

/// All frames of all clips, concatenated, on the device.
#[derive(Debug, Clone)]
pub struct FrameStore {
    /// The context of each frame, `[1, F, C]`.
    pub context: Tensor<3>,
    /// The normalised log mels, `[1, F, M]`.
    pub targets: Tensor<3>,
    /// 1 for a frame and 0 for padding, `[1, F, 1]`.
    pub mask: Tensor<3>,
    pub clips: Vec<Span>,
}

/// The frames of a clip in a [`FrameStore`], without padding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    pub first: usize,
    pub frames: usize,
}

/// A batch of windows.
pub struct WindowBatch {
    /// `[B, T, C]`
    pub context: Tensor<3>,
    /// `[B, T, M]`
    pub targets: Tensor<3>,
    /// The weight of each frame in the loss, `[B, T, 1]`.
    pub mask: Tensor<3>,
    /// The number of frames that the loss is divided by.
    pub valid_frames: usize,
}

impl FrameStore {
    /// Gathers the windows that begin at these frames.
    pub fn gather(&self, starts: &[usize], window: usize) -> WindowBatch {
        let frames: Vec<i32> =
            starts.iter().flat_map(|start| (0..window).map(move |frame| (start + frame) as i32)).collect();
        let shape = [frames.len()];
        let frames = Tensor::<1, Int>::from_data(TensorData::new(frames, shape), &self.targets.device());
        let take = |from: &Tensor<3>| {
            let width = from.dims()[2];
            from.clone().select(1, frames.clone()).reshape([starts.len(), window, width])
        };
        let valid_frames = starts.iter().map(|&start| self.valid(start, window)).sum();
        WindowBatch {
            context: take(&self.context),
            targets: take(&self.targets),
            mask: take(&self.mask),
            valid_frames,
        }
    }

    /// Returns the context of a clip, padded to a whole number of steps, `[1, N R, C]`.
    pub fn context_of(&self, Span { first, frames }: Span, reduction: usize) -> Tensor<3> {
        self.context.clone().narrow(1, first, frames.next_multiple_of(reduction))
    }

    /// Returns the number of frames of a window that belong to its clip.
    pub fn valid(&self, start: usize, window: usize) -> usize {
        let clip = self.clips.iter().rev().find(|clip| clip.first <= start).expect("clips cover all starts");
        (clip.first + clip.frames - start).min(window)
    }
}

/// Samples the first frame of a window. Clips are sampled in proportion to their length, and their last frames as often as the others.
pub fn draw(clips: &[Span], window: usize, rng: &mut ChaCha8Rng) -> usize {
    let total: usize = clips.iter().map(|clip| clip.frames).sum();
    start_at(clips, window, rng.random_range(0..total))
}

/// Returns the first frames of `count` windows that are spread evenly over all clips. Each lies in the middle of an equal part, since clips begin with silence.
pub fn spread(clips: &[Span], window: usize, count: usize) -> Vec<usize> {
    let total: usize = clips.iter().map(|clip| clip.frames).sum();
    (0..count).map(|index| start_at(clips, window, (2 * index + 1) * total / (2 * count))).collect()
}

/// Returns the first frame of the window for the frame `at` of all clips.
fn start_at(clips: &[Span], window: usize, mut at: usize) -> usize {
    for &Span { first, frames } in clips {
        if at < frames {
            return first + at.min(frames.saturating_sub(window));
        }
        at -= frames;
    }
    unreachable!("the frame lies below the total")
}

/// Predicts the spectrograms of windows, before and after the postnet, `[B, T, M]`.
pub fn predict(parts: &Adapted, windows: &WindowBatch) -> (Tensor<3>, Tensor<3>) {
    let [batch, _, _] = windows.targets.dims();
    let speaker = parts.speaker.val();
    let width = speaker.dims()[1];
    let speakers = speaker.expand([batch, width]);
    let state = parts.decoder.start(batch, &windows.targets.device());
    let (frames, _) = parts.decoder.forward(windows.context.clone(), speakers, state);
    let residual = parts.postnet.forward(frames.clone(), Mode::Eval);
    (frames.clone(), frames + residual)
}

/// Computes the loss of an iteration, as the sum of those before and after the postnet, `[1]`.
pub fn loss(parts: &Adapted, windows: &WindowBatch) -> Tensor<1> {
    let (before, after) = predict(parts, windows);
    let compute = |name| parts.scope.at("loss").at(name).compute();
    windows.loss(&compute("before"), before) + windows.loss(&compute("after"), after)
}

impl WindowBatch {
    /// Joins two batches. The frames of `others` are weighted by `weight`.
    pub fn and(self, others: Self, weight: f32) -> Self {
        let join = |these: Tensor<3>, others: Tensor<3>| Tensor::cat(vec![these, others], 0);
        Self {
            context: join(self.context, others.context),
            targets: join(self.targets, others.targets),
            mask: join(self.mask, others.mask.mul_scalar(weight)),
            valid_frames: self.valid_frames,
        }
    }

    /// Computes the loss of predicted spectrograms `[B, T, M]`. Returns `[1]`.
    pub fn loss(&self, compute: &Compute, predicted: Tensor<3>) -> Tensor<1> {
        compute.spectrogram_loss(predicted, self.targets.clone(), self.mask.clone(), self.valid_frames)
    }
}

impl FrameStore {
    /// Adds the tensors to `weights`, with a prefix to their names.
    pub fn put(&self, prefix: &str, weights: &mut Weights) {
        for (name, tensor) in [("context", &self.context), ("targets", &self.targets), ("mask", &self.mask)] {
            let shape = tensor.dims().to_vec();
            let values = tensor.clone().reshape([shape.iter().product::<usize>()]);
            weights.insert(format!("{prefix}{name}"), Weight { shape, values });
        }
    }

    /// Reads what [`Self::put`] has written. Returns `None` if a tensor is missing.
    pub fn take(prefix: &str, clips: Vec<Span>, weights: &mut HostWeights, device: &Device) -> Option<Self> {
        let mut tensor = |name: &str| {
            let (shape, values) = weights.remove(&format!("{prefix}{name}"))?;
            Some(Tensor::<3>::from_data(TensorData::new(values, <[usize; 3]>::try_from(shape).ok()?), device))
        };
        Some(Self { context: tensor("context")?, targets: tensor("targets")?, mask: tensor("mask")?, clips })
    }
}

/// Moves the clips to the device, each padded to a whole number of windows.
pub fn assemble(base: &Base, clips: &[AlignedClip], window: usize) -> FrameStore {
    let (config, device) = (base.config(), &base.device);
    let (mels, width) = (config.mels, config.context_width());
    let padded = |clip: &AlignedClip| clip.frames().next_multiple_of(window);
    let total: usize = clips.iter().map(padded).sum();
    // The frames of hundreds of clips are not in memory twice.
    let mut context = Tensor::zeros([1, total, width], device);
    let (mut targets, mut mask) = (Vec::with_capacity(total * mels), Vec::with_capacity(total));
    let mut spans = Vec::with_capacity(clips.len());
    let mut first = 0;
    for clip in clips {
        let (frames, padded) = (clip.frames(), padded(clip));
        let contexts = base.contexts(&base.encode(&clip.symbols), &clip.durations, padded);
        let contexts = base.with_excitation(contexts, &clip.f0_hz);
        context = context.slice_assign([0..1, first..first + padded, 0..width], contexts);
        let normalised: Vec<f32> =
            clip.mel.iter().map(|&value| config.mel_normalisation().apply(value)).collect();
        let frame = |index: usize| &normalised[index.min(frames - 1) * mels..][..mels];
        for index in 0..padded {
            targets.extend_from_slice(frame(index));
            mask.push(if index < frames { 1.0f32 } else { 0.0 });
        }
        spans.push(Span { first, frames });
        first += padded;
    }
    let tensor = |values: Vec<f32>, width: usize| {
        Tensor::from_data(TensorData::new(values, [1, total, width]), device)
    };
    FrameStore { context, targets: tensor(targets, mels), mask: tensor(mask, 1), clips: spans }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_spread_over_all_clips() {
        let clips = [Span { first: 0, frames: 30 }, Span { first: 40, frames: 50 }];
        assert_eq!(
            spread(&clips, 20, 4),
            [10, 40, 60, 70],
            "frames 10, 30, 50 and 70 of 80, and no window exceeds its clip"
        );
    }
}
