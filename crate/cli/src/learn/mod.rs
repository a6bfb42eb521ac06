//! The training of any module: its run with checkpoints, the data loader and the watch over overflows and statistics.

pub mod feeder;
pub mod learner;
pub mod recipe;
pub mod run;
pub mod watch;
