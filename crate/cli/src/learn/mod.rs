//! The training loop of any module: runs with checkpoints, the data loader, and the monitoring of overflows and statistics.

pub mod data_loader;
pub mod hyperparameters;
pub mod preflight;
pub mod run;
pub mod trainable_model;
pub mod watch;

use std::path::{Path, PathBuf};

/// The result of a training.
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
