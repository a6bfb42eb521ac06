//! The way to a base voice, step by step and as a whole: features, aligner, base, vocoder, speaker encoder, measurement.
//!
//! Each step is a plain configuration and a function; [`recipe()`] runs them all. They report to a [`Report`](ownvoice::report::Report) and print nothing.

pub mod base;
pub mod domain_embedding;
pub mod recipe;
pub mod training;
pub mod warm_start;

pub use base::{ALIGNER, AlignmentPath, Preset, PretrainConfig, pretrain};

pub use recipe::{RecipeConfig, make_corpus, recipe};
