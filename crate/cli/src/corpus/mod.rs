//! Training corpora: one spoken by installed engines, recordings of people, and the layouts of public corpora. Native only.

pub mod coverage;
pub mod engines;
pub mod ipa;
mod kokoro;
pub mod labels;
pub mod layouts;
pub mod make;
pub mod make_people;
mod packages;
pub mod people;
pub mod perturbation;
mod phone_match;
pub mod phones;
pub mod prepare;
mod program;
pub mod recording;
pub mod sentences;
pub mod teacher;
mod voices;
mod wordnet;

pub use coverage::Coverage;
pub use labels::{Labels, label};
pub use layouts::Layout;
pub use make::{FOREIGN, MakeOptions, PERTURBED, make, make_perturbed};
pub use perturbation::Perturbation;
pub use phone_match::{PhoneMatch, match_phones};
pub use phones::EnginePhone;
pub use recording::Recording;
pub use voices::HELD_OUT;
