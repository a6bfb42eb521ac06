//! Training of the recogniser that the aligner reads its posteriors from.

pub mod train_aligner;
pub mod training;
