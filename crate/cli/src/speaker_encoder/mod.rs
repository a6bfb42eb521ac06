//! The speaker encoder (x-vector): network, verification, augmentation and training.

pub mod augment;
pub mod network;
pub mod train_speaker_encoder;
pub mod training;
pub mod verifier;
