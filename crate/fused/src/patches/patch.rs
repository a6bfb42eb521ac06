//! The size and the stride of patches.

use serde::{Deserialize, Serialize};

/// The size and the stride of patches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patch {
    /// The height and width of a patch, odd.
    pub side: usize,
    /// The pixels from one patch to the next, in both directions.
    pub stride: usize,
}

impl Patch {
    /// Returns the number of patches along a side of `places` pixels. The first pixel is the centre of the first patch.
    pub fn count(self, places: usize) -> usize {
        places.div_ceil(self.stride)
    }
}
