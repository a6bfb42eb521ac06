//! The speaker encoder (x-vector): network, verification, augmentation and training.

pub(crate) mod augment;
pub(crate) mod from_files;
pub(crate) mod network;
pub mod several;
pub(crate) mod training;
pub mod verifier;
