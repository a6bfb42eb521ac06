//! Speech to train on: a corpus spoken by installed engines, and the layouts that public corpora come in. Native only.

pub mod align;
pub mod coverage;
pub mod disguise;
pub mod engines;
pub mod layouts;
pub mod make;
pub mod sentences;

pub use align::{Alignment, Labels, align, label};
pub use coverage::Coverage;
pub use disguise::Disguise;
pub use engines::EnginePhone;
pub use layouts::{Layout, Recording};
pub use make::{DISGUISED, FOREIGN, HELD_OUT, MakeOptions, make, make_disguised};
