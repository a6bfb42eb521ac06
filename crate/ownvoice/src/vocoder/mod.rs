//! Vocoders, which convert mel spectrograms to samples.

mod griffin_lim;
pub mod network;
mod neural;

pub use griffin_lim::GriffinLim;
pub use neural::NeuralVocoder;

use crate::audio::mel::Mel;

/// A converter of mel spectrograms to samples, which threads may share.
pub trait Vocoder: Send + Sync {
    /// Returns a short name for tables and options, such as `griffin-lim`.
    fn name(&self) -> &'static str;

    /// Returns the rate of its samples, which may exceed that of the recordings that its spectrograms are extracted from.
    fn sample_rate_hz(&self) -> u32;

    /// Converts a log-mel spectrogram `[T, M]` to `[(T - 1) * hop]` samples within full scale, where a hop lasts as long as a frame.
    fn vocode(&self, mel: &Mel) -> Vec<f32>;
}
