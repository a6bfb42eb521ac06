//! The data loader of all trainings: threads prepare batches ahead into bounded queues.
//!
//! Thread i of n makes the batches i, i + n, i + 2 n .. into its own queue, and the training takes from the queues in turn. The order is therefore that of the
//! blocking loader with any number of threads. The content of a batch depends only on its number, see [`ownvoice::learn::sampler`].

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

/// A source of batches: it makes each batch from its key.
pub trait Collate: Sync {
    /// The batch as a thread makes it, with tensors on the CPU.
    type HostBatch: Send;
    /// The batch as the training takes it.
    type Batch;

    /// Makes a batch, which depends only on `key`.
    fn make(&self, key: BatchKey, cpu: &Device) -> Result<Self::HostBatch>;

    /// Moves a batch to the device of the training, and applies random changes that are computed there. It runs in the thread of the training.
    fn place(&self, made: Self::HostBatch, device: &Device) -> Self::Batch;

    /// Makes a batch on `device`.
    fn batch(&self, key: BatchKey, device: &Device) -> Result<Self::Batch> {
        Ok(self.place(self.make(key, &cpu())?, device))
    }
}

/// Returns the device that batches are made on.
fn cpu() -> Device {
    Device::flex().autodiff()
}

/// The configuration of a data loader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataLoaderConfig {
    /// The number of threads; 0 makes each batch on demand, which blocks the training.
    pub threads: usize,
    /// The number of batches that may wait in the queues of all threads together; at least one per thread.
    pub depth: usize,
}

impl DataLoaderConfig {
    /// The blocking loader, which has no threads.
    pub const BLOCKING: Self = Self { threads: 0, depth: 0 };
}

impl Default for DataLoaderConfig {
    fn default() -> Self {
        Self { threads: 2, depth: 8 }
    }
}

/// A batch, and how long the training waited for it.
pub struct LoadedBatch<B> {
    pub batch: B,
    /// The time that the training waited.
    pub waited: Duration,
    /// The number of batches that were ready when this one was taken.
    pub ready: usize,
}

/// Returns the batches of consecutive steps.
pub struct DataLoader<'a, S: Collate> {
    source: &'a S,
    device: &'a Device,
    queues: Vec<Receiver<Result<S::HostBatch>>>,
    ready: &'a AtomicUsize,
    /// The step of the next batch.
    step: usize,
    /// The step of the first batch.
    first: usize,
}

/// Runs `training` with a loader of the batches of `steps`. The threads of the loader end with it.
///
/// * `device`: the device of the training
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
        // Dropped receivers end the threads.
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
    queue: &SyncSender<Result<S::HostBatch>>,
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
    /// Returns the batch of the next step, or the error of making it.
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

    /// Makes a batch that is not part of the order, such as one of held-out clips.
    pub fn batch(&self, key: BatchKey) -> Result<S::Batch> {
        self.source.batch(key, self.device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ownvoice::Error;
    use rand::Rng;

    /// A source whose batches are random numbers. Some take longer than others, and one may fail.
    struct Numbers {
        fails: Option<usize>,
        made: AtomicUsize,
    }

    impl Collate for Numbers {
        type HostBatch = u64;
        type Batch = u64;

        fn make(&self, key: BatchKey, _: &Device) -> Result<u64> {
            let BatchKey::Train(step) = key else { panic!("nothing is held out") };
            self.made.fetch_add(1, Ordering::Relaxed);
            if Some(step) == self.fails {
                return Err(Error::corpus_invalid("a bad value"));
            }
            let number = key.random(1, 0).random::<u64>();
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
            // The queues hold six batches, and each thread one more.
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
