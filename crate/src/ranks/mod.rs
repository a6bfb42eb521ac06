//! Ranks: the processes or devices that train one model together, each on its shard of every batch (data parallelism).
//!
//! Each rank has the whole model and makes the same updates to it. What differs is summed over all of them where it is needed: gradients and losses under
//! the optimizer, batch statistics in the layers that have them. The transports of the sum implement [`Exchange`].

#[cfg(feature = "pretraining")]
pub mod devices;
#[cfg(feature = "mpi")]
pub mod mpi;
mod shard;
#[cfg(test)]
pub mod threads;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
};

use burn::tensor::Device;

use crate::{Error, Result};
pub use shard::Shard;

/// A transport of sums. Every rank makes the same calls in the same order; each returns when all ranks have made theirs, or fails with `rank-lost`.
pub trait Exchange: Send + Sync {
    fn shard(&self) -> Shard;

    /// Replaces the values by their sums over all ranks.
    fn sum(&self, values: &mut [f32]) -> Result<()>;

    /// The devices of all ranks, where these sum tensors among themselves: then [`Self::sum`] is used for what lies on the host alone.
    fn devices(&self) -> Option<&[Device]> {
        None
    }
}

/// This rank among all of its training: alone, unless an exchange is given.
#[derive(Clone, Default)]
pub struct Ranks(Option<Arc<Joined>>);

struct Joined {
    exchange: Box<dyn Exchange>,
    /// Nothing is exchanged after a failure: the ranks are no longer at the same place.
    failed: AtomicBool,
    /// Bytes that this rank gave to be summed, and how often.
    bytes: AtomicU64,
    exchanges: AtomicU64,
}

impl Ranks {
    pub fn new(exchange: Box<dyn Exchange>) -> Self {
        Self(Some(Arc::new(Joined {
            exchange,
            failed: AtomicBool::new(false),
            bytes: AtomicU64::new(0),
            exchanges: AtomicU64::new(0),
        })))
    }

    /// The part of each batch that is this rank's.
    pub fn shard(&self) -> Shard {
        self.0.as_ref().map_or(Shard::WHOLE, |joined| joined.exchange.shard())
    }

    pub fn is_alone(&self) -> bool {
        self.shard().world_size == 1
    }

    /// Whether this is the rank that writes and reports.
    pub fn is_first(&self) -> bool {
        self.shard().rank == 0
    }

    /// See [`Exchange::devices`].
    pub fn devices(&self) -> Option<&[Device]> {
        self.0.as_ref()?.exchange.devices()
    }

    /// Replaces the values by their sums over all ranks.
    pub fn sum(&self, values: &mut [f32]) -> Result<()> {
        let Some(joined) = self.0.as_ref().filter(|_| !self.is_alone()) else { return Ok(()) };
        self.check()?;
        self.count(values.len());
        joined.exchange.sum(values).inspect_err(|_| joined.failed.store(true, Relaxed))
    }

    /// Fails where an exchange has failed before, in a layer that cannot return errors.
    pub fn check(&self) -> Result<()> {
        match &self.0 {
            Some(joined) if joined.failed.load(Relaxed) => Err(Error::rank_lost("an exchange failed")),
            _ => Ok(()),
        }
    }

    /// Passes a result on where all ranks succeeded. A rank's own error is returned as it is, another's as `rank-lost`.
    pub fn agree<T>(&self, result: Result<T>) -> Result<T> {
        let mut failures = [f32::from(u8::from(result.is_err()))];
        match (result, self.sum(&mut failures)) {
            (Ok(value), Ok(())) if failures == [0.0] => Ok(value),
            (Ok(_), Ok(())) => Err(Error::rank_lost("another rank failed; its own error says why")),
            (Ok(_), Err(error)) | (Err(error), _) => Err(error),
        }
    }

    /// Fails with `option-invalid` where the ranks do not have the same values: they would train different models.
    pub fn compare(&self, what: &str, values: &[f32]) -> Result<()> {
        let mut sums = values.to_vec();
        self.sum(&mut sums)?;
        let count = self.shard().world_size as f32;
        let alike = values.iter().zip(&sums).all(|(own, sum)| (own * count - sum).abs() <= 1e-5 * sum.abs());
        // A rank in the middle is like the mean, and learns from the others that they differ.
        let mut unlike = [f32::from(u8::from(!alike))];
        self.sum(&mut unlike)?;
        let error = || Error::option_invalid(format!("the ranks do not begin alike: {what}"));
        if unlike == [0.0] { Ok(()) } else { Err(error()) }
    }

    /// Counts what a rank gives to be summed.
    pub fn count(&self, values: usize) {
        if let Some(joined) = &self.0 {
            joined.bytes.fetch_add(4 * values as u64, Relaxed);
            joined.exchanges.fetch_add(1, Relaxed);
        }
    }

    /// Bytes that this rank has given to be summed so far, and in how many exchanges.
    pub fn traffic(&self) -> (u64, u64) {
        self.0.as_ref().map_or((0, 0), |joined| (joined.bytes.load(Relaxed), joined.exchanges.load(Relaxed)))
    }
}

impl fmt::Debug for Ranks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ranks({:?})", self.shard())
    }
}

#[cfg(test)]
mod tests {
    use super::{threads::run, *};

    #[test]
    fn sums_are_those_of_all_ranks_and_an_error_reaches_all() {
        let found = run(3, |ranks| {
            let rank = ranks.shard().rank;
            let mut values = [rank as f32, 1.0];
            ranks.sum(&mut values).unwrap();
            ranks.compare("a value", &[7.0]).unwrap();
            let unlike = ranks.compare("the rank", &[rank as f32]).unwrap_err().code();
            let result = if rank == 1 { Err(Error::corpus_invalid("its own")) } else { Ok(()) };
            (values, unlike, ranks.agree(result).unwrap_err().code())
        });
        assert_eq!(found.iter().map(|(values, ..)| *values).collect::<Vec<_>>(), [[3.0, 3.0]; 3]);
        assert!(found.iter().all(|(_, unlike, _)| *unlike == "option-invalid"));
        let codes: Vec<&str> = found.iter().map(|(.., code)| *code).collect();
        assert_eq!(codes, ["rank-lost", "corpus-invalid", "rank-lost"]);
    }

    #[test]
    fn a_rank_alone_exchanges_nothing() {
        let (ranks, mut values) = (Ranks::default(), [2.0]);
        ranks.sum(&mut values).unwrap();
        assert_eq!((values, ranks.traffic(), ranks.shard()), ([2.0], (0, 0), Shard::WHOLE));
        assert_eq!(ranks.agree(Err::<(), _>(Error::cancelled())).unwrap_err().code(), "cancelled");
    }
}
