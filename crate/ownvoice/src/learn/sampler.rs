//! In which order a corpus is drawn: a function of the seed and the number of the batch, and of nothing that ran before. So a resumed run goes on to the
//! sample, and any number of threads and ranks draws the same.

use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use std::sync::{Arc, Mutex, PoisonError};

/// Batches that are sorted by length together: enough that those of a batch are alike, few enough that an epoch stays mixed.
const POOL_BATCHES: usize = 16;

/// What a batch is drawn for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BatchKey {
    /// The batch of a training step, from 0 on.
    Train(usize),
    /// The n-th of the batches that are held out: the same at each validation.
    HeldOut(usize),
}

impl BatchKey {
    /// Random numbers for one item of the batch, its own: whichever thread or rank makes it, they are the same.
    ///
    /// * `item`: its place in the whole batch
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

/// Items of a corpus in epochs: each epoch has every item, in batches of like length, in an order of its own.
#[derive(Debug)]
pub struct BatchSampler {
    items: Vec<Item>,
    batch: usize,
    seed: u64,
    /// The latest epochs: threads may be at the end of one and at the start of the next.
    epochs: Mutex<Vec<(usize, Arc<[usize]>)>>,
}

#[derive(Debug, Clone, Copy)]
struct Item {
    index: usize,
    length: usize,
}

impl BatchSampler {
    /// * `items`: an index and a length of each; they must not be empty
    /// * `batch`: items of a batch
    pub fn new(items: impl IntoIterator<Item = (usize, usize)>, batch: usize, seed: u64) -> Self {
        let items: Vec<Item> = items.into_iter().map(|(index, length)| Item { index, length }).collect();
        assert!(!items.is_empty() && batch > 0, "something to draw from");
        Self { items, batch, seed, epochs: Mutex::default() }
    }

    /// Items of the n-th batch.
    pub fn batch(&self, number: usize) -> Vec<usize> {
        let batches = self.items.len().div_ceil(self.batch);
        let epoch = self.epoch(number / batches);
        epoch[number % batches * self.batch..][..self.batch].to_vec()
    }

    /// The items of all batches of an epoch, one batch after the other.
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
        // Where the last batch is not full, the epoch's first items fill it.
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
    fn an_epoch_has_every_item_in_batches_of_like_length() {
        let order = BatchSampler::new((0..1000).map(|index| (index, index * 7919 % 100)), 8, 1);
        let epoch = |number: usize| (0..125).map(move |batch| number * 125 + batch);
        let drawn: Vec<Vec<usize>> = epoch(0).map(|number| order.batch(number)).collect();
        assert_eq!(drawn.concat().into_iter().collect::<BTreeSet<_>>(), (0..1000).collect());
        let spread = |batch: &Vec<usize>| {
            let lengths = batch.iter().map(|index| index * 7919 % 100);
            lengths.clone().max().unwrap() - lengths.min().unwrap()
        };
        assert!(drawn.iter().map(spread).sum::<usize>() / drawn.len() < 10, "of 100");
        let means: Vec<usize> = drawn
            .iter()
            .map(|batch| batch.iter().map(|index| index * 7919 % 100).sum::<usize>() / 8)
            .collect();
        assert!(means.windows(2).any(|two| two[0] > two[1]), "short batches come between long ones");
        assert_ne!(drawn, epoch(1).map(|number| order.batch(number)).collect::<Vec<_>>());
        let other = BatchSampler::new((0..1000).map(|index| (index, 0)), 8, 2);
        assert_ne!(drawn[0], other.batch(0), "another seed is another order");
    }

    #[test]
    fn any_batch_is_found_without_those_before() {
        let new = || BatchSampler::new((0..37).map(|index| (index, index % 5)), 8, 3);
        let order = new();
        for number in (0..40).rev() {
            assert_eq!(order.batch(number), new().batch(number));
        }
        assert_eq!(BatchSampler::new([(5, 1)], 4, 0).batch(9), [5; 4], "few items fill a batch together");
    }

    #[test]
    fn each_item_has_random_numbers_of_its_own() {
        let draws = [BatchKey::Train(0), BatchKey::Train(1), BatchKey::HeldOut(0)];
        let numbers = draws.iter().flat_map(|draw| (0..3).map(|item| draw.random(1, item).random::<u64>()));
        assert_eq!(numbers.collect::<BTreeSet<_>>().len(), 9);
        assert_eq!(
            BatchKey::Train(7).random(1, 2).random::<u64>(),
            BatchKey::Train(7).random(1, 2).random::<u64>()
        );
    }
}
