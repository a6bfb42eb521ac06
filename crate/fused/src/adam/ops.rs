//! The update of one parameter as backend operations, each of which takes one pass over its values.

use burn::backend::{Backend, backend_extension, tensor::FloatTensor};

/// The number of partial sums of squares of each parameter. The global norm is the root of the sum over all parameters.
pub const PARTS: usize = 64;

/// The scalars of an update.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The learning rate, which includes both bias corrections of Adam.
    pub rate: f32,
    /// The factor by which weight decay multiplies each weight.
    pub kept: f32,
    pub beta_1: f32,
    pub beta_2: f32,
    pub epsilon: f32,
}

/// The number of values in the state of loss scaling: the loss scale, the number of updates since it last changed, and the number of updates skipped because of
/// non-finite gradients.
pub const SCALING: usize = 3;
/// The number of updates without an overflow after which the loss scale doubles.
pub const GROW_AFTER: f32 = 50.0;
/// The upper bound of the loss scale.
pub const MAX_SCALE: f32 = 1_048_576.0;

/// The operations of an update.
#[backend_extension(Flex, Cube: cfg(feature = "cube"))]
pub trait AdamOps: Backend {
    /// Writes the partial sums of squares of one gradient into `parts`, `[P * PARTS]` for P parameters, where they must be zero before. `place` is the index of the
    /// parameter.
    fn squares(parts: FloatTensor<Self>, gradient: FloatTensor<Self>, place: usize) -> FloatTensor<Self>;

    /// Returns the factor of all gradients, `[1]`, and the next state of loss scaling, `[SCALING]`.
    ///
    /// The factor removes the loss scale and limits the norm to `clip_norm`. It is zero if the norm is non-finite. With `grows`, an overflow halves the loss scale,
    /// and [`GROW_AFTER`] updates without one double it.
    ///
    /// * `squared_norm`: `[1]`
    /// * `scaling`:      `[SCALING]`
    fn clip(
        squared_norm: FloatTensor<Self>,
        scaling: FloatTensor<Self>,
        clip_norm: f32,
        grows: bool,
    ) -> (FloatTensor<Self>, FloatTensor<Self>);

    /// Returns the parameter and its moments after an update, or unchanged if `factor`, `[1]`, is zero. Gradient and moments have as many values as the parameter.
    fn update(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        first: FloatTensor<Self>,
        second: FloatTensor<Self>,
        factor: FloatTensor<Self>,
        settings: Settings,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>);
}
