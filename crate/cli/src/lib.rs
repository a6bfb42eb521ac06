//! The command line of ownvoice, and what makes its base voices: corpora, pretraining, the trainings of aligner, vocoder and speaker encoder, lips, evaluation.
//!
//! The command is all that is stable here. The modules are public for the tests and fuzzers of this project.

// Each module imports only those before it.
#[doc(hidden)]
pub mod corpus;
#[doc(hidden)]
pub mod learn;

#[doc(hidden)]
pub mod align;
#[doc(hidden)]
pub mod speaker_encoder;
#[doc(hidden)]
pub mod vocoder;

#[doc(hidden)]
pub mod import;

#[doc(hidden)]
pub mod clone;

#[doc(hidden)]
pub mod evaluate;
#[doc(hidden)]
pub mod pretrain;

#[doc(hidden)]
pub mod check;
#[doc(hidden)]
pub mod lips;

#[doc(hidden)]
pub mod commands;

pub use commands::run;
