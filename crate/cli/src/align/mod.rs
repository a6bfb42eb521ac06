//! Training of the phone recogniser, whose posteriors the forced aligner reads.

pub mod from_files;
pub mod training;
