//! Training of the neural vocoder: its dataset, batches, losses and run.

mod batch;
mod dataset;
pub mod from_files;
mod smoothing;
mod spectra;
pub mod training;
