//! Training of the phone recogniser, whose posteriors the forced aligner reads.

pub mod train_aligner;
pub mod training;
