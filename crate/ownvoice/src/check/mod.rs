//! Checks of a device and of a training step: the self-test, the dump of a step and its comparison, the precision check, and the profile by module.

mod clock;
pub mod compare_steps;
pub mod precision_check;
pub mod profile;
pub mod self_test;
pub mod step_dump;
mod synthetic;
