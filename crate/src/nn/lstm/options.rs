//! How a recurrence runs over time.

use serde::{Deserialize, Serialize};

/// How a scan runs over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ScanOptions {
    /// From the last step to the first.
    pub reverse: bool,
    /// Valid steps of each batch item; beyond them the state is carried unchanged. `None`: all steps of all items.
    pub lengths: Option<Vec<usize>>,
}
