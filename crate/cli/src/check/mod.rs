//! Checks for a training: the proposal of a compute plan and the profile of the data loader.

pub mod loader;
pub mod propose;
