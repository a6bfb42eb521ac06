//! Speech to train on: a corpus spoken by installed engines, and the layouts that public corpora come in. Native only.

pub mod coverage;
pub mod engines;
pub mod ipa;
pub mod labels;
pub mod layouts;
pub mod make;
pub mod make_people;
mod packages;
pub mod people;
pub mod perturbation;
pub mod phones;
mod program;
pub mod sentences;

pub use coverage::Coverage;
pub use labels::{Labels, PhoneMatch, label, match_phones};
pub use layouts::{Layout, Recording};
pub use make::{FOREIGN, HELD_OUT, MakeOptions, PERTURBED, make, make_perturbed};
pub use perturbation::Perturbation;
pub use phones::EnginePhone;
