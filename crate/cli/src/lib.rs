//! The command line of ownvoice, and what makes its base voices: corpora, pretraining, the trainings of aligner, vocoder and speaker encoder, lips, evaluation.
//!
//! Only the command is stable. Some modules are public for the tests, fuzzers and benchmarks of this project.

// The order is that of the table in DESIGN.md: each module imports only those before it.
#[doc(hidden)]
pub mod learn;

#[doc(hidden)]
pub mod corpus;

#[doc(hidden)]
pub mod speaker_encoder;

mod align;
mod vocoder;

#[doc(hidden)]
pub mod import;

mod fine_tune;

#[doc(hidden)]
pub mod evaluate;

#[doc(hidden)]
pub mod pretrain;

#[doc(hidden)]
pub mod check;

#[doc(hidden)]
pub mod lips;

#[doc(hidden)]
pub mod nets;

mod serve;

#[doc(hidden)]
pub mod commands;

pub use commands::run;
