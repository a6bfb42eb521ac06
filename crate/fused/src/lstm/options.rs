//! The direction and the lengths of a recurrence.

use serde::{Deserialize, Serialize};

/// The direction and the lengths of a recurrence.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ScanOptions {
    /// Whether it runs from the last step to the first.
    pub reverse: bool,
    /// The valid steps of each batch item, past which the state stays unchanged. `None` for all steps of all items.
    pub lengths: Option<Vec<usize>>,
}
