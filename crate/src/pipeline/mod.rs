//! The way to a base voice, step by step and as a whole: features, aligner, base, vocoder, speaker encoder, measurement.
//!
//! Each step is a plain configuration and a function; [`recipe()`] runs them all. They report to a [`Report`](crate::report::Report) and print nothing.

mod aligner;
mod base;
mod clone;
mod measure;
mod prepare;
mod recipe;
mod speaker_encoder;
mod vocoder;
pub mod wavs;

pub use aligner::{AlignerConfig, train_aligner};
pub use base::{ALIGNER, AlignmentPath, Preset, PretrainConfig, pretrain};
pub use clone::{learn, read_clips};
pub use measure::{MeasureConfig, measure, speaker_verifier};
pub use prepare::{PrepareConfig, Prepared, prepare};
pub use recipe::{RecipeConfig, make_corpus, recipe};
pub use speaker_encoder::{
    SpeakerEncoderConfig, Verification, train_speaker_encoder, verify as verify_speakers,
};
pub use vocoder::{TrainVocoderConfig, train_vocoder};

use std::path::{Path, PathBuf};

use crate::report::{Progress, Report};

/// What a training of weights came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    /// The file that was written.
    pub path: PathBuf,
    pub bytes: usize,
    pub held_out_loss: f32,
}

impl Trained {
    fn new(path: &Path, content: &[u8], held_out_loss: f32) -> Self {
        Self { path: path.to_owned(), bytes: content.len(), held_out_loss }
    }
}

/// Counts items as they are done, on any thread.
struct Counter<'a> {
    report: &'a dyn Report,
    done: std::sync::atomic::AtomicUsize,
    of: usize,
    message: &'static str,
}

impl<'a> Counter<'a> {
    fn new(report: &'a dyn Report, of: usize, message: &'static str) -> Self {
        Self { report, done: 0.into(), of, message }
    }

    fn count(&self) {
        let done = 1 + self.done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.report.progress(&Progress { done, of: Some(self.of), message: self.message });
    }
}
