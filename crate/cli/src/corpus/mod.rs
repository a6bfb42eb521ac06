//! Corpora: speech of a neural teacher to train on, speech of installed engines, recordings of people to measure on, and the layouts of public corpora.

pub(crate) mod coverage;
pub(crate) mod engines;
pub(crate) mod ipa;
mod kokoro;
pub(crate) mod labels;
pub mod layouts;
pub(crate) mod list;
pub(crate) mod make;
pub(crate) mod make_people;
mod packages;
pub(crate) mod people;
pub(crate) mod perturbation;
mod phone_match;
pub(crate) mod phones;
pub(crate) mod prepare;
pub(crate) mod program;
pub(crate) mod recording;
pub(crate) mod recordings;
pub(crate) mod sentences;
pub(crate) mod teacher;
mod voices;
mod wordnet;

pub(crate) use coverage::Coverage;
pub(crate) use labels::{Labels, label};
pub(crate) use make::{FOREIGN, MakeOptions, make};
pub use perturbation::Perturbation;
pub(crate) use recording::Recording;
