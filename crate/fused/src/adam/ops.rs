//! The update of one parameter as backend operations: one pass over its values.

use burn::backend::{Backend, backend_extension, tensor::FloatTensor};

/// Partial sums that a parameter has in the norm of all.
pub const PARTS: usize = 64;

/// Scalars of an update. `rate` includes both bias corrections of Adam.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    pub rate: f32,
    /// Factor of weight decay on each weight.
    pub kept: f32,
    pub beta_1: f32,
    pub beta_2: f32,
    pub epsilon: f32,
}

/// Values that loss scaling keeps on the device: by what the loss is multiplied, updates since that last changed, and updates left out because
/// the gradients were no numbers.
pub const SCALING: usize = 3;
/// Updates without an overflow after which the loss scale doubles.
pub const GROW_AFTER: f32 = 50.0;
/// Upper bound of the loss scale.
pub const MAX_SCALE: f32 = 1_048_576.0;

#[backend_extension(Flex, Cube: cfg(feature = "cube"))]
pub trait AdamOps: Backend {
    /// Puts a gradient's sums of squares among those of all parameters, zeros so far: `parts` is `[P * PARTS]`, and `place` counts parameters.
    fn squares(parts: FloatTensor<Self>, gradient: FloatTensor<Self>, place: usize) -> FloatTensor<Self>;

    /// By what all gradients are to be multiplied, `[1]`, so that their norm is `clip_norm` at most and the loss' scale is taken off again; zero
    /// where they are no numbers. And the scaling after that, `[SCALING]`: with `grows`, overflows halve the scale and their absence doubles it.
    ///
    /// * `squared_norm`: `[1]`
    /// * `scaling`:      `[SCALING]`
    fn clip(
        squared_norm: FloatTensor<Self>,
        scaling: FloatTensor<Self>,
        clip_norm: f32,
        grows: bool,
    ) -> (FloatTensor<Self>, FloatTensor<Self>);

    /// The parameter and its moments after an update; as they were where `factor`, `[1]`, is zero. The others have as many values as the parameter.
    fn update(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        first: FloatTensor<Self>,
        second: FloatTensor<Self>,
        factor: FloatTensor<Self>,
        settings: Settings,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>);
}
