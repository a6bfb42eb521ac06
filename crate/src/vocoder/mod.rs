//! What turns mel spectrograms into sound.

mod griffin_lim;
mod neural;

pub use griffin_lim::GriffinLim;
pub use neural::NeuralVocoder;

use crate::audio::mel::Mel;

pub trait Vocoder {
    /// A short name for tables and options, such as `griffin-lim`.
    fn name(&self) -> &'static str;

    /// Log-mel `[T, M]` to `[(T - 1) * hop]` samples within full scale.
    fn vocode(&self, mel: &Mel) -> Vec<f32>;
}
