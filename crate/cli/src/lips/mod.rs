//! Speech from silent videos of a face: videos, features, drawn corpora, training and evaluation. The model itself is in `ownvoice::lips`.

pub(crate) mod batch;
pub(crate) mod commands;
pub mod corpus;
pub mod drawing;
pub mod evaluate;
pub mod features;
pub(crate) mod layout;
pub mod prepare;
pub mod profile;
pub mod say_video;
pub(crate) mod train;
pub(crate) mod tune;
pub mod video;
pub mod visemes;
