//! The windows of a tuning on the device, and their losses.

use burn::{
    module::{Module, Param},
    prelude::*,
};

use super::{
    answers::{Answers, SPECTROGRAM_LOSS, losses, seen},
    base::LipBase,
    encoder::pictures,
    lesson::{EncodedWindow, Lesson},
    tuned::Adapted,
};
use crate::{
    Error, Result,
    model::teacher_forcing::{TeacherForcing, TeacherForcingInput},
};
use burn_fused::{Mode, Scope, readback::read};

/// The windows of all lessons.
pub(super) struct Windows {
    /// The encoded pictures, `[windows, N, E]`.
    encoded: Tensor<3>,
    /// The normalised mels, `[windows, T, M]`.
    targets: Tensor<3>,
    /// The mask of the frames, `[windows, T, 1]`.
    mask: Tensor<3>,
    /// The expected attention, `[1, T / R, N]` (see [`Answers`]).
    seen: Tensor<3>,
    /// The number of pictures of each window.
    pictures: Vec<usize>,
    /// The number of mel frames of each window.
    frames: Vec<usize>,
    reduction: usize,
}

impl Windows {
    /// Collects the windows of lessons. Fails with `no-clips` without any.
    pub(super) fn new(base: &LipBase, lessons: &[Lesson]) -> Result<Self> {
        let windows: Vec<&EncodedWindow> = lessons.iter().flat_map(|lesson| &lesson.windows).collect();
        let first = windows.first().ok_or_else(Error::no_clips)?;
        let ([_, length, _], [_, pictures, _]) = (first.targets.dims(), first.encoded.dims());
        let reduction = base.manifest.model.tacotron.reduction;
        let shares = TensorData::new(seen(pictures, length, reduction), [1, length / reduction, pictures]);
        let together = |part: &dyn Fn(&EncodedWindow) -> &Tensor<3>| {
            Tensor::cat(windows.iter().map(|window| part(window).clone()).collect(), 0)
        };
        Ok(Self {
            encoded: together(&|window| &window.encoded),
            targets: together(&|window| &window.targets),
            mask: together(&|window| &window.mask),
            seen: Tensor::from_data(shares, &base.device),
            pictures: windows.iter().map(|window| window.pictures).collect(),
            frames: windows.iter().map(|window| window.frames).collect(),
            reduction,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.pictures.len()
    }

    /// Computes the losses of some windows (see [`losses`]).
    pub(super) fn losses(&self, parts: &Adapted, windows: &[usize], mode: Mode) -> Vec<Tensor<1>> {
        let device = &self.encoded.device();
        let indices: Vec<i32> = windows.iter().map(|&window| window as i32).collect();
        let indices = Tensor::<1, Int>::from_data(TensorData::new(indices, [windows.len()]), device);
        let chosen = |all: &Tensor<3>| Tensor::from_inner(all.clone().select(0, indices.clone()));
        let frames: Vec<usize> = windows.iter().map(|&window| self.frames[window]).collect();
        let answers = Answers {
            targets: chosen(&self.targets),
            mask: chosen(&self.mask),
            seen: Tensor::from_inner(self.seen.clone()),
            frames: frames.iter().sum(),
            steps: frames.iter().map(|frames| frames.div_ceil(self.reduction)).sum(),
        };
        let encoded = chosen(&self.encoded);
        let lengths: Vec<usize> = windows.iter().map(|&window| self.pictures[window]).collect();
        let seen = pictures(&lengths, Some(encoded.dims()[1]), &encoded.device());
        let [_, steps, _] = answers.seen.dims();
        let speaker = parts.speaker.val().repeat_dim(0, windows.len());
        let spoken = TeacherForcingInput::without_feedback(&seen, encoded, speaker, steps);
        losses(parts.decoder.teacher_force(spoken, ()), &parts.postnet, &Scope::default(), &answers, mode)
    }

    /// Computes the spectrogram loss after the postnet, without gradients.
    pub(super) async fn criterion(&self, parts: &Adapted, windows: &[usize]) -> Result<f32> {
        let loss = self.losses(parts, windows, Mode::Eval).swap_remove(SPECTROGRAM_LOSS);
        Ok(read(loss.inner()).await?[0])
    }
}

/// Returns the base's parameters for training, with the row of its speaker table that has the lowest loss on the windows.
pub(super) async fn nearest(base: &LipBase, windows: &Windows, train: &[usize]) -> Result<Adapted> {
    let mut nearest: Option<(f32, Adapted)> = None;
    for row in 0..base.manifest.speakers.len() {
        let Adapted { speaker, decoder, postnet } = Adapted::from_base(base, row);
        let parts = Adapted {
            speaker: Param::from_tensor(Tensor::from_inner(speaker.val())),
            decoder: decoder.train(),
            postnet: postnet.train(),
        };
        let loss = windows.criterion(&parts, train).await?;
        if nearest.as_ref().is_none_or(|(least, _)| loss < *least) {
            nearest = Some((loss, parts));
        }
    }
    Ok(nearest.expect("a base has a speaker").1)
}
