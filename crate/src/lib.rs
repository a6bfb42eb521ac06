//! A multi-speaker Tacotron 2 that learns a voice from one minute of speech, natively and in the browser.
//!
//! Modules, each of which imports only those before it: [`error`], [`audio`], [`text`], [`nn`], [`weights`], [`model`], [`align`], [`vocoder`], [`voice`], [`synth`],
//! `files`, `import`, `corpus`, [`train`], [`evaluate`], `cli`. Native only, behind the feature `cli`: `import`, `corpus` and `cli`.
//!
//! Axes: `B` batch, `L` text symbols, `T` mel frames, `M` mel channels, `E` encoder width, `S` samples, `H` hidden width, `R` frames a decoder step.

pub mod error;

pub use error::{Error, Result};

pub mod audio;
pub mod text;

pub mod nn;

pub mod weights;

pub mod model;

pub mod align;

pub mod vocoder;

pub mod voice;

pub mod synth;

pub mod files;

#[cfg(feature = "cli")]
pub mod import;

#[cfg(feature = "cli")]
pub mod corpus;
pub mod train;

pub mod evaluate;

#[cfg(feature = "cli")]
pub mod cli;
