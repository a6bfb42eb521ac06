//! Tools that find numerical faults: overflows, operations that differ from their reference, and differences between two runs.
//!
//! A [`Dump`] is one training step as data: the inputs and the output of each operation, forward and backward.
//!
//! - [`fault`] names the first operation of a dump with a non-finite output.
//! - [`mod@compare`] joins two dumps by module and operation. It also computes each operation alone on the inputs of the first dump, which separates the error of
//!   an operation from the error of its inputs.
//! - [`mod@bisect`] finds the fused operations whose plain references remove a mismatch.
//! - [`statistics`] counts the magnitudes of tensors, and is cheap enough for every run.

pub mod bisect;
pub mod compare;
pub mod dump;
pub mod fault;
pub mod metrics;
pub mod replay;
pub mod report;
pub mod statistics;

pub use bisect::{Bisection, bisect};
pub use compare::{Comparison, GoOn, Row, What, compare, to_the_end};
pub use dump::{CallRecord, Dump, Values};
pub use fault::{Culprit, first_fault};
pub use metrics::Metrics;
pub use replay::Replayer;
pub use statistics::Statistics;
