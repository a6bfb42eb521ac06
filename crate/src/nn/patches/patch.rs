//! Which neighbours of a place are laid side by side.

use serde::{Deserialize, Serialize};

/// How places of a picture become places of the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patch {
    /// Height and width, odd.
    pub side: usize,
    /// Places from one patch to the next, in both directions.
    pub stride: usize,
}

impl Patch {
    /// Patches in a row of so many places, the first and the last of which are centres where the stride allows it; beyond them is zero.
    pub fn count(self, places: usize) -> usize {
        places.div_ceil(self.stride)
    }
}
