//! The way to a base voice, step by step and as a whole: features, aligner, base, vocoder, speaker encoder, measurement.
//!
//! Each step is a plain configuration and a function; [`recipe()`] runs them all. They report to a [`Report`](ownvoice::report::Report) and print nothing.

pub mod base;
pub mod people_mark;
pub mod recipe;
pub mod training;
pub mod warm_start;

pub use base::{ALIGNER, AlignmentPath, Preset, PretrainConfig, pretrain};

use ownvoice::report::{Progress, Report};

pub use recipe::{RecipeConfig, make_corpus, recipe};

use std::path::{Path, PathBuf};

/// What a training of weights came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    /// The file that was written.
    pub path: PathBuf,
    pub bytes: usize,
    pub held_out_loss: f32,
}

impl Trained {
    pub fn new(path: &Path, content: &[u8], held_out_loss: f32) -> Self {
        Self { path: path.to_owned(), bytes: content.len(), held_out_loss }
    }
}

/// Counts items as they are done, on any thread.
pub struct Counter<'a> {
    report: &'a dyn Report,
    done: std::sync::atomic::AtomicUsize,
    of: usize,
    message: &'static str,
}

impl<'a> Counter<'a> {
    pub fn new(report: &'a dyn Report, of: usize, message: &'static str) -> Self {
        Self { report, done: 0.into(), of, message }
    }

    pub fn count(&self) {
        let done = 1 + self.done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.report.progress(&Progress { done, of: Some(self.of), message: self.message });
    }
}
