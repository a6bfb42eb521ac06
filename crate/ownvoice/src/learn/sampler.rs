//! The order in which a corpus is drawn. It depends only on the seed and the number of the batch, so that a resumed run continues exactly, and any number of
//! threads and ranks draws the same batches.

use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use std::sync::{Arc, Mutex, PoisonError};

/// The number of batches whose items are sorted by length together: large enough for items of similar length in a batch, small enough to keep the epoch
/// shuffled.
const POOL_BATCHES: usize = 16;

/// The seed of the held-out batches, which are the same in each run.
pub const HELD_OUT_SEED: u64 = 0;

/// Identifies a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BatchKey {
    /// The batch of a training step, counted from 0.
    Train(usize),
    /// The n-th held-out batch, which is the same at each validation.
    HeldOut(usize),
}

impl BatchKey {
    /// Returns the random number generator of an item of the batch, which does not depend on the thread or rank that uses it.
    ///
    /// * `item`: the index in the whole batch
    pub fn random(self, seed: u64, item: usize) -> ChaCha8Rng {
        const MAX_ITEMS: u64 = 1 << 24;
        let (number, held_out) = match self {
            Self::Train(step) => (step as u64, 0),
            Self::HeldOut(number) => (number as u64, 1 << 63),
        };
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(held_out | (number * MAX_ITEMS + item as u64 % MAX_ITEMS));
        random
    }
}

/// Samples the items of a corpus in epochs. Each epoch contains every item once, in batches of similar length and in another order.
#[derive(Debug)]
pub struct BatchSampler {
    items: Vec<Item>,
    batch: usize,
    seed: u64,
    /// The order of the latest epochs. Threads may be at the end of one epoch and at the start of the next.
    epochs: Mutex<Vec<(usize, Arc<[usize]>)>>,
}

#[derive(Debug, Clone, Copy)]
struct Item {
    index: usize,
    length: usize,
}

impl BatchSampler {
    /// * `items`: the index and length of each item; at least one
    /// * `batch`: the number of items in a batch
    pub fn new(items: impl IntoIterator<Item = (usize, usize)>, batch: usize, seed: u64) -> Self {
        let items: Vec<Item> = items.into_iter().map(|(index, length)| Item { index, length }).collect();
        assert!(!items.is_empty() && batch > 0, "a sampler needs items and a batch size");
        Self { items, batch, seed, epochs: Mutex::default() }
    }

    /// Returns the indices of the items of the n-th batch.
    pub fn batch(&self, number: usize) -> Vec<usize> {
        let batches = self.items.len().div_ceil(self.batch);
        let epoch = self.epoch(number / batches);
        epoch[number % batches * self.batch..][..self.batch].to_vec()
    }

    /// Returns the items of all batches of an epoch, one batch after the other.
    fn epoch(&self, epoch: usize) -> Arc<[usize]> {
        const KEPT: usize = 2;
        let mut epochs = self.epochs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, order)) = epochs.iter().find(|(number, _)| *number == epoch) {
            return Arc::clone(order);
        }
        let order = self.shuffled(epoch);
        if epochs.len() == KEPT {
            epochs.remove(0);
        }
        epochs.push((epoch, Arc::clone(&order)));
        order
    }

    fn shuffled(&self, epoch: usize) -> Arc<[usize]> {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(epoch as u64);
        let mut items = self.items.clone();
        items.shuffle(&mut random);
        // The epoch's first items fill up the last batch.
        let count = items.len().next_multiple_of(self.batch);
        let mut items: Vec<Item> = items.iter().copied().cycle().take(count).collect();
        for pool in items.chunks_mut(POOL_BATCHES * self.batch) {
            pool.sort_by_key(|item| item.length);
        }
        let mut batches: Vec<&[Item]> = items.chunks_exact(self.batch).collect();
        batches.shuffle(&mut random);
        batches.into_iter().flatten().map(|item| item.index).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;
    use std::collections::BTreeSet;

    #[test]
    fn an_epoch_contains_every_item_in_batches_of_similar_length() {
        let sampler = BatchSampler::new((0..1000).map(|index| (index, index * 7919 % 100)), 8, 1);
        let epoch = |number: usize| (0..125).map(move |batch| number * 125 + batch);
        let drawn: Vec<Vec<usize>> = epoch(0).map(|number| sampler.batch(number)).collect();
        assert_eq!(drawn.concat().into_iter().collect::<BTreeSet<_>>(), (0..1000).collect());
        let spread = |batch: &Vec<usize>| {
            let lengths = batch.iter().map(|index| index * 7919 % 100);
            lengths.clone().max().unwrap() - lengths.min().unwrap()
        };
        assert!(drawn.iter().map(spread).sum::<usize>() / drawn.len() < 10, "lengths differ by up to 100");
        let means: Vec<usize> = drawn
            .iter()
            .map(|batch| batch.iter().map(|index| index * 7919 % 100).sum::<usize>() / 8)
            .collect();
        assert!(means.windows(2).any(|two| two[0] > two[1]), "batches are not sorted by length");
        assert_ne!(drawn, epoch(1).map(|number| sampler.batch(number)).collect::<Vec<_>>());
        let other = BatchSampler::new((0..1000).map(|index| (index, 0)), 8, 2);
        assert_ne!(drawn[0], other.batch(0), "another seed gives another order");
    }

    #[test]
    fn a_batch_does_not_depend_on_those_drawn_before() {
        let new = || BatchSampler::new((0..37).map(|index| (index, index % 5)), 8, 3);
        let sampler = new();
        for number in (0..40).rev() {
            assert_eq!(sampler.batch(number), new().batch(number));
        }
        assert_eq!(BatchSampler::new([(5, 1)], 4, 0).batch(9), [5; 4], "items are repeated to fill a batch");
    }

    #[test]
    fn each_item_has_its_own_random_numbers() {
        let draws = [BatchKey::Train(0), BatchKey::Train(1), BatchKey::HeldOut(0)];
        let numbers = draws.iter().flat_map(|draw| (0..3).map(|item| draw.random(1, item).random::<u64>()));
        assert_eq!(numbers.collect::<BTreeSet<_>>().len(), 9);
        assert_eq!(
            BatchKey::Train(7).random(1, 2).random::<u64>(),
            BatchKey::Train(7).random(1, 2).random::<u64>()
        );
    }
}
