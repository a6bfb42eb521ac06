//! Speech from silent videos of a face: videos, features, drawn corpora, training and evaluation. The model itself is in `ownvoice::lips`.

pub mod batch;
pub mod commands;
pub mod corpus;
pub mod drawing;
pub mod evaluate;
pub mod features;
pub mod layout;
pub mod prepare;
pub mod profile;
pub mod say_video;
pub mod train;
pub mod tune;
pub mod video;
pub mod visemes;
