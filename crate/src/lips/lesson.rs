//! What a base is tuned on: a stretch of one face with its sound, encoded.
//!
//! The encoder of faces learns nothing in a tuning, so that each picture is encoded once and need not be kept.

use burn::prelude::*;

use super::{
    base::LipBase,
    clock::{mel_frames, seconds},
    face::FACE_BYTES,
    model::{normalised, pictures},
    track::SEARCH_EVERY,
};
use crate::nn::Mode;

/// A stretch of one face with its sound, in windows of the base.
#[derive(Debug, Clone)]
pub struct Lesson {
    pub windows: Vec<EncodedWindow>,
    pictures: usize,
}

/// One window, padded to the whole one.
#[derive(Debug, Clone)]
pub struct EncodedWindow {
    /// `[1, N, E]`
    pub encoded: Tensor<3>,
    /// `[1, T, M]`, normalised
    pub targets: Tensor<3>,
    /// `[1, T, 1]`, one where there is a frame
    pub mask: Tensor<3>,
    /// That are shown, of N.
    pub pictures: usize,
    /// That are spoken, of T.
    pub frames: usize,
}

impl Lesson {
    /// * `faces`:    `[pictures, 96, 96, 3]`, a multiple of five of them
    /// * `log_mels`: of the same time, `[T, M]`
    pub fn new(base: &LipBase, faces: &[u8], log_mels: &[f32]) -> Self {
        let mel = &base.manifest.mel;
        let count = faces.len() / FACE_BYTES;
        assert!(count.is_multiple_of(SEARCH_EVERY) && faces.len().is_multiple_of(FACE_BYTES), "whole tracks");
        assert_eq!(log_mels.len(), mel_frames(count, mel) * mel.mels, "faces and sound are of one time");
        let window = base.manifest.window_pictures;
        let windows = (0..count).step_by(window).map(|first| {
            let shown = first..(first + window).min(count);
            let spoken = mel_frames(shown.start, mel) * mel.mels..mel_frames(shown.end, mel) * mel.mels;
            encode(base, &faces[shown.start * FACE_BYTES..shown.end * FACE_BYTES], &log_mels[spoken])
        });
        Self { windows: windows.collect(), pictures: count }
    }

    pub fn seconds(&self) -> f32 {
        seconds(self.pictures)
    }
}

fn encode(base: &LipBase, faces: &[u8], log_mels: &[f32]) -> EncodedWindow {
    let LipBase { manifest, model, device, .. } = base;
    let (window, side) = (manifest.window_pictures, manifest.model.side);
    let tacotron = &manifest.model.tacotron;
    let (mels, length) = (tacotron.mels, mel_frames(window, &manifest.mel));
    let (shown, frames) = (faces.len() / FACE_BYTES, log_mels.len() / mels);
    let seen = normalised(faces, side, device);
    let seen = match window - shown {
        0 => seen,
        padding => Tensor::cat(vec![seen, Tensor::zeros([1, side, side, padding, 3], device)], 3),
    };
    // Past the end the last frame goes on; the mask keeps it out of the loss.
    let targets: Vec<f32> = (0..length)
        .flat_map(|at| &log_mels[at.min(frames - 1) * mels..][..mels])
        .map(|value| (value - tacotron.mel_mean) / tacotron.mel_scale)
        .collect();
    let mask: Vec<f32> = (0..length).map(|at| f32::from(u8::from(at < frames))).collect();
    let tensor =
        |values: Vec<f32>, shape: [usize; 3]| Tensor::<3>::from_data(TensorData::new(values, shape), device);
    EncodedWindow {
        encoded: model.encoder.forward(seen, &pictures(&[shown], Some(window), device), Mode::Eval),
        targets: tensor(targets, [1, length, mels]),
        mask: tensor(mask, [1, length, 1]),
        pictures: shown,
        frames,
    }
}
