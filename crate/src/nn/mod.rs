//! Layers: recurrence, attention, convolution, products in two precisions, upsampling and always-on dropout.

pub mod attention;
pub mod conv;
#[cfg(feature = "cube")]
pub(crate) mod cube;
pub mod dropout;
pub(crate) mod flex;
pub mod lstm;
pub mod product;
pub mod upsample;

pub use product::Precision;

/// What a forward pass is for. Given explicitly, so that no layer guesses it from its device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Batch statistics, dropout on.
    Train,
    /// Running statistics, dropout off: adapting a trained model to little speech, and synthesis.
    Steady,
}
