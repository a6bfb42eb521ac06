//! The part of a batch that one worker or one rank computes.

/// One of `world_size` parts of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// The number of this part, from 0.
    pub rank: usize,
    pub world_size: usize,
}

impl Shard {
    /// The whole batch.
    pub const WHOLE: Self = Self { rank: 0, world_size: 1 };

    /// Returns this part of a slice. The parts differ in length by at most one.
    pub fn slice<T>(self, all: &[T]) -> &[T] {
        let at = |rank: usize| rank * all.len() / self.world_size;
        &all[at(self.rank)..at(self.rank + 1)]
    }
}
