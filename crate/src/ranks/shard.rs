//! The part of a batch that one worker of a page, or one rank of a pretraining, computes.

/// A part of a batch, for data parallelism.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// From 0 on.
    pub rank: usize,
    pub world_size: usize,
}

impl Shard {
    pub const WHOLE: Self = Self { rank: 0, world_size: 1 };

    /// Its part of what all have together; the parts differ in length by one at most.
    pub fn of<T>(self, all: &[T]) -> &[T] {
        let at = |rank: usize| rank * all.len() / self.world_size;
        &all[at(self.rank)..at(self.rank + 1)]
    }
}
