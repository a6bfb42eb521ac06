//! The training data of a tuning: encoded stretches of one face with their sound.
//!
//! The face encoder is not tuned, so each picture is encoded once and need not be kept.

use burn::prelude::*;

use super::{
    base::LipBase,
    clock::{mel_frames, seconds},
    encoder::{normalised, pictures},
    face::FACE_BYTES,
    track::SEARCH_EVERY,
};
use crate::model::AttendedEncoder;
use burn_fused::Mode;

/// A stretch of one face with its sound, divided into windows of the base.
#[derive(Debug, Clone)]
pub struct Lesson {
    pub windows: Vec<EncodedWindow>,
    pictures: usize,
}

/// An encoded window, padded to the full length.
#[derive(Debug, Clone)]
pub struct EncodedWindow {
    /// The encoded pictures, `[1, N, E]`.
    pub encoded: Tensor<3>,
    /// The normalised mels, `[1, T, M]`.
    pub targets: Tensor<3>,
    /// `[1, T, 1]`, one where there is a frame.
    pub mask: Tensor<3>,
    /// The number of pictures, at most N.
    pub pictures: usize,
    /// The number of mel frames, at most T.
    pub frames: usize,
}

impl Lesson {
    /// Encodes a stretch.
    ///
    /// * `faces`:    `[pictures, 96, 96, 3]`, where the number of pictures is a multiple of five
    /// * `log_mels`: the synchronous mels, `[T, M]`
    pub fn new(base: &LipBase, faces: &[u8], log_mels: &[f32]) -> Self {
        let mel = &base.manifest.mel;
        let count = faces.len() / FACE_BYTES;
        assert!(
            count.is_multiple_of(SEARCH_EVERY) && faces.len().is_multiple_of(FACE_BYTES),
            "a track has a multiple of five pictures"
        );
        assert_eq!(log_mels.len(), mel_frames(count, mel) * mel.mels, "faces and sound have the same length");
        let window = base.manifest.window_pictures;
        let windows = (0..count).step_by(window).map(|first| {
            let shown = first..(first + window).min(count);
            let spoken = mel_frames(shown.start, mel) * mel.mels..mel_frames(shown.end, mel) * mel.mels;
            encode(base, &faces[shown.start * FACE_BYTES..shown.end * FACE_BYTES], &log_mels[spoken])
        });
        Self { windows: windows.collect(), pictures: count }
    }

    /// Returns the length in seconds.
    pub fn seconds(&self) -> f32 {
        seconds(self.pictures)
    }
}

fn encode(base: &LipBase, faces: &[u8], log_mels: &[f32]) -> EncodedWindow {
    let LipBase { manifest, model, device, .. } = base;
    let (window, side) = (manifest.window_pictures, manifest.model.side);
    let tacotron = &manifest.model.tacotron;
    let normalisation = tacotron.mel_normalisation();
    let (mels, length) = (tacotron.mels, mel_frames(window, &manifest.mel));
    let (shown, frames) = (faces.len() / FACE_BYTES, log_mels.len() / mels);
    let seen = normalised(faces, side, device);
    let seen = match window - shown {
        0 => seen,
        padding => Tensor::cat(vec![seen, Tensor::zeros([1, side, side, padding, 3], device)], 3),
    };
    // The last frame is repeated past the end; the mask excludes it from the loss.
    let targets: Vec<f32> = (0..length)
        .flat_map(|at| &log_mels[at.min(frames - 1) * mels..][..mels])
        .map(|&value| normalisation.apply(value))
        .collect();
    let mask: Vec<f32> = (0..length).map(|at| f32::from(u8::from(at < frames))).collect();
    let tensor =
        |values: Vec<f32>, shape: [usize; 3]| Tensor::<3>::from_data(TensorData::new(values, shape), device);
    EncodedWindow {
        encoded: model.encoder.encode(seen, &pictures(&[shown], Some(window), device), Mode::Eval),
        targets: tensor(targets, [1, length, mels]),
        mask: tensor(mask, [1, length, 1]),
        pictures: shown,
        frames,
    }
}
