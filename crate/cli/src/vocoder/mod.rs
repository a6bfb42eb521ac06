//! Training of the neural vocoder: its dataset, batches, losses and run.

mod batch;
mod dataset;
mod spectra;
pub mod train_vocoder;
pub mod training;
