//! Makes batches ahead of the training, on threads, into bounded queues: one loader for all that trains.
//!
//! Thread i of n makes the batches i, i + n, i + 2 n .. into a queue of its own, and the training takes from the queues in turn. So the order is that of
//! the blocking loader, whatever the number of threads, and there is nothing to sort. What a batch holds is a function of its number alone, see
//! [`ownvoice::learn::sampler`].

use burn::prelude::Device;
use std::{
    ops::Range,
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use ownvoice::{Result, learn::sampler::BatchKey};

/// What batches are made of.
pub trait Collate: Sync {
    /// As a thread makes it: its tensors are on the CPU.
    type Made: Send;
    /// As the training takes it.
    type Batch;

    /// Makes a batch, the same at every call with the same arguments.
    fn make(&self, draw: BatchKey, cpu: &Device) -> Result<Self::Made>;

    /// Moves a batch to the device of the training, in whose thread this runs. Randomness of the device belongs here.
    fn place(&self, made: Self::Made, device: &Device) -> Self::Batch;

    /// Both at once.
    fn draw(&self, draw: BatchKey, device: &Device) -> Result<Self::Batch> {
        Ok(self.place(self.make(draw, &cpu())?, device))
    }
}

/// The device that batches are made on.
fn cpu() -> Device {
    Device::flex().autodiff()
}

/// How batches are made ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataLoaderConfig {
    /// 0 makes each batch on demand: the blocking loader.
    pub threads: usize,
    /// Batches that may wait, of all threads together; at least one a thread.
    pub depth: usize,
}

impl DataLoaderConfig {
    /// The training waits for its data as well as for its device.
    pub const BLOCKING: Self = Self { threads: 0, depth: 0 };
}

impl Default for DataLoaderConfig {
    fn default() -> Self {
        Self { threads: 2, depth: 8 }
    }
}

/// A batch, and what it cost the training.
pub struct LoadedBatch<B> {
    pub batch: B,
    /// How long the training had to wait for it.
    pub waited: Duration,
    /// Batches that were ready when this one was asked for.
    pub ready: usize,
}

/// Hands out the batches of consecutive steps.
pub struct DataLoader<'a, S: Collate> {
    source: &'a S,
    device: &'a Device,
    queues: Vec<Receiver<Result<S::Made>>>,
    ready: &'a AtomicUsize,
    /// Of the next batch.
    step: usize,
    first: usize,
}

/// Runs `training` with a loader of the batches of `steps`. Its threads end with it.
///
/// * `device`: of the training
pub fn with_loader<S: Collate, R>(
    source: &S,
    config: DataLoaderConfig,
    steps: Range<usize>,
    device: &Device,
    training: impl FnOnce(&mut DataLoader<S>) -> R,
) -> R {
    let ready = AtomicUsize::new(0);
    let DataLoaderConfig { threads, depth } = config;
    thread::scope(|scope| {
        let mut queues = Vec::with_capacity(threads);
        for thread in 0..threads {
            let (sender, receiver) = sync_channel((depth / threads).max(1));
            let (steps, ready) = (steps.clone().skip(thread).step_by(threads), &ready);
            scope.spawn(move || make_ahead(source, steps, &sender, ready));
            queues.push(receiver);
        }
        // Dropping the queues ends the threads: they have nobody to make batches for.
        training(&mut DataLoader {
            source,
            device,
            queues,
            ready: &ready,
            step: steps.start,
            first: steps.start,
        })
    })
}

fn make_ahead<S: Collate>(
    source: &S,
    steps: impl Iterator<Item = usize>,
    queue: &SyncSender<Result<S::Made>>,
    ready: &AtomicUsize,
) {
    let cpu = cpu();
    for step in steps {
        let made = source.make(BatchKey::Train(step), &cpu);
        let failed = made.is_err();
        ready.fetch_add(1, Ordering::Relaxed);
        if queue.send(made).is_err() || failed {
            return;
        }
    }
}

impl<S: Collate> DataLoader<'_, S> {
    /// The batch of the next step. Fails as its making did.
    pub fn take(&mut self) -> Result<LoadedBatch<S::Batch>> {
        let begun = Instant::now();
        let step = self.step;
        self.step += 1;
        let (made, ready) = if self.queues.is_empty() {
            (self.source.make(BatchKey::Train(step), &cpu())?, 0)
        } else {
            let queue = &self.queues[(step - self.first) % self.queues.len()];
            let ready = self.ready.load(Ordering::Relaxed);
            let made = queue.recv().expect("a thread ends after its last batch, or with an error")?;
            self.ready.fetch_sub(1, Ordering::Relaxed);
            (made, ready)
        };
        let batch = self.source.place(made, self.device);
        Ok(LoadedBatch { batch, waited: begun.elapsed(), ready })
    }

    /// A batch that is no part of the order, made on demand.
    pub fn draw(&self, draw: BatchKey) -> Result<S::Batch> {
        self.source.draw(draw, self.device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ownvoice::Error;
    use rand::Rng;

    /// Batches are their own random numbers; some take longer than others, and one may fail.
    struct Numbers {
        fails: Option<usize>,
        made: AtomicUsize,
    }

    impl Collate for Numbers {
        type Made = u64;
        type Batch = u64;

        fn make(&self, draw: BatchKey, _: &Device) -> Result<u64> {
            let BatchKey::Train(step) = draw else { panic!("nothing is held out") };
            self.made.fetch_add(1, Ordering::Relaxed);
            if Some(step) == self.fails {
                return Err(Error::corpus_invalid("a bad value"));
            }
            let number = draw.random(1, 0).random::<u64>();
            thread::sleep(Duration::from_micros(number % 500));
            Ok(number)
        }

        fn place(&self, made: u64, _: &Device) -> u64 {
            made
        }
    }

    fn numbers(fails: Option<usize>) -> Numbers {
        Numbers { fails, made: AtomicUsize::new(0) }
    }

    fn taken(threads: usize, steps: Range<usize>) -> Vec<u64> {
        let config = DataLoaderConfig { threads, depth: 4 };
        with_loader(&numbers(None), config, steps.clone(), &Device::flex(), |loader| {
            steps.map(|_| loader.take().unwrap().batch).collect()
        })
    }

    #[test]
    fn the_order_is_the_same_with_any_number_of_threads_and_after_a_resume() {
        let blocking = taken(0, 0..60);
        for threads in 1..5 {
            assert_eq!(taken(threads, 0..60), blocking, "{threads} threads");
            assert_eq!(taken(threads, 23..60), blocking[23..], "{threads} threads, resumed");
        }
    }

    #[test]
    fn the_queue_is_bounded_and_a_training_may_end_early() {
        let source = numbers(None);
        let config = DataLoaderConfig { threads: 2, depth: 6 };
        with_loader(&source, config, 0..10_000, &Device::flex(), |loader| {
            loader.take().unwrap();
            thread::sleep(Duration::from_millis(100));
            let ready = loader.take().unwrap().ready;
            // What waits in the queues, and one that each thread holds.
            assert!((6..=8).contains(&ready), "{ready}");
        });
        assert!(source.made.load(Ordering::Relaxed) <= 12);
    }

    #[test]
    fn an_error_comes_with_its_batch() {
        for threads in [0, 1, 3] {
            let config = DataLoaderConfig { threads, depth: 4 };
            with_loader(&numbers(Some(5)), config, 0..50, &Device::flex(), |loader| {
                assert!((0..5).all(|_| loader.take().is_ok()), "{threads} threads");
                assert_eq!(loader.take().err().unwrap().code(), "corpus-invalid", "{threads} threads");
            });
        }
    }
}
