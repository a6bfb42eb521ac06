//! Training of the neural vocoder: its data set, its losses and its run.

pub mod dataset;
pub mod train_vocoder;
pub mod training;
