//! Finding faults of precision: what overflows, which operation differs from its reference, what two runs do not share.
//!
//! A [`Dump`] is one training step as data: what went into each operation and what came out, forward and backward.
//! [`fault`] names the first operation of a dump that makes something that is no number; [`mod@compare`] joins two dumps by module and operation, and computes each
//! operation alone on the inputs of the first, so that an operation's own error is told from what it was handed; [`mod@bisect`] finds the fused operations whose
//! plain twins make a mismatch go away; [`propose`] lists the modules that half precision serves; [`preflight`] compares two runs before anyone looks at a
//! curve; [`statistics`] is cheap enough to stay on. How a step is run is no business of this room: see [`crate::train::step_dump`].

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
