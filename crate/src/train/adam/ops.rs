//! The update of one parameter as backend operations: one pass over its values.

use burn::backend::{Backend, backend_extension, tensor::FloatTensor};

/// Partial sums that a parameter has in the norm of all.
pub const PARTS: usize = 64;

/// What an update is told besides its tensors. The learning rate and both of Adam's corrections are in `rate`.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    pub rate: f32,
    /// What weight decay leaves of each weight.
    pub kept: f32,
    pub beta_1: f32,
    pub beta_2: f32,
    pub epsilon: f32,
    pub clip_norm: f32,
}

impl Settings {
    /// By what clipping multiplies all gradients.
    #[inline(always)]
    pub fn scale(&self, squared_norm: f32) -> f32 {
        (self.clip_norm / (squared_norm.sqrt() + 1e-6)).min(1.0)
    }
}

#[backend_extension(Flex, Cube: cfg(feature = "cube"))]
pub trait AdamOps: Backend {
    /// Puts a gradient's sums of squares among those of all parameters: `parts` is `[P * PARTS]`, and `place` counts parameters.
    fn squares(parts: FloatTensor<Self>, gradient: FloatTensor<Self>, place: usize) -> FloatTensor<Self>;

    /// The parameter and its moments after an update. `squared_norm` is `[1]`; the others have as many values as the parameter.
    fn update(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        first: FloatTensor<Self>,
        second: FloatTensor<Self>,
        squared_norm: FloatTensor<Self>,
        settings: Settings,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>);
}
