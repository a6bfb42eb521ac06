//! A part of a net's trunk.

use burn::prelude::*;

/// A part of the trunk of a net for pictures, which runs and is profiled alone.
pub struct Stage<'a> {
    /// The names of its layers in files.
    pub name: &'static str,
    forward: Box<dyn Fn(Tensor<4>) -> Tensor<4> + 'a>,
}

impl<'a> Stage<'a> {
    pub fn new(name: &'static str, forward: impl Fn(Tensor<4>) -> Tensor<4> + 'a) -> Self {
        Self { name, forward: Box::new(forward) }
    }

    /// Maps `[B, D, W, C]`, the maps of the stage before, to maps of other sizes.
    pub fn forward(&self, maps: Tensor<4>) -> Tensor<4> {
        (self.forward)(maps)
    }
}
