//! Finding faults of precision: what overflows, which operation differs from its reference, what two runs do not share.
//!
//! A [`Dump`] is one training step as data: what went into each operation and what came out, forward and backward.
//! [`fault`] names the first operation of a dump with a non-finite output; [`mod@compare`] joins two dumps by module and operation, and computes each
//! operation alone on the inputs of the first, which separates an operation's own error from the error of its inputs; [`mod@bisect`] finds the fused operations
//! whose plain twins remove a mismatch; [`propose`] lists the modules for which half precision suffices; [`preflight`] compares two runs before their curves are
//! compared; [`statistics`] is cheap enough to stay on. [`crate::train::step_dump`] runs and records the steps.

pub mod bisect;
pub mod compare;
pub mod dump;
pub mod fault;
pub mod metrics;
pub mod preflight;
pub mod propose;
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
