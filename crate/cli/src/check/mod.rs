//! Checks of a run: the facts of two runs side by side, proposals of a compute plan, and the profile of the data loader.

pub mod loader;
pub mod propose;
