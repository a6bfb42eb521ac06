//! Pretraining of a base, and the recipe: all steps that make a base.
//!
//! Each step is a configuration and a function. `recipe` runs all of them. They report to a [`Report`](ownvoice::report::Report) and print nothing.

pub(crate) mod base;
mod pretrained;
pub(crate) mod recipe;
pub mod training;
pub(crate) mod warm_start;

pub(crate) use base::pretrain;
pub(crate) use recipe::recipe;
