//! Data parallelism over ranks: processes or devices that train one model together, each on its shard of every batch.
//!
//! Each rank has the whole model and makes the same updates to it. Gradients, losses and batch statistics differ between ranks and are summed over all of them.
//! The transports of the sum implement [`AllReduce`].

pub mod devices;
#[cfg(feature = "mpi")]
pub mod mpi;
pub mod shard;
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

/// A transport that sums values over all ranks. All ranks must make the same calls in the same order. A call returns when all ranks have made it, or fails with
/// `rank-lost`.
pub trait AllReduce: Send + Sync {
    /// Returns the part of each batch that belongs to this rank.
    fn shard(&self) -> Shard;

    /// Replaces the values by their sums over all ranks.
    fn sum(&self, values: &mut [f32]) -> Result<()>;

    /// Returns the devices of all ranks if they sum tensors among themselves. [`Self::sum`] then is for values on the host only.
    fn devices(&self) -> Option<&[Device]> {
        None
    }
}

/// This rank of a training. The default is a training of a single rank.
#[derive(Clone, Default)]
pub struct Ranks(Option<Arc<Joined>>);

struct Joined {
    transport: Box<dyn AllReduce>,
    /// Whether an all-reduce has failed. No further one is made, since the ranks are no longer at the same step.
    failed: AtomicBool,
    /// The bytes that this rank has sent.
    bytes: AtomicU64,
    /// The number of all-reduces.
    calls: AtomicU64,
}

impl Ranks {
    pub fn new(transport: Box<dyn AllReduce>) -> Self {
        Self(Some(Arc::new(Joined {
            transport,
            failed: AtomicBool::new(false),
            bytes: AtomicU64::new(0),
            calls: AtomicU64::new(0),
        })))
    }

    /// Returns the part of each batch that belongs to this rank.
    pub fn shard(&self) -> Shard {
        self.0.as_ref().map_or(Shard::WHOLE, |joined| joined.transport.shard())
    }

    /// Returns whether this is the only rank.
    pub fn is_alone(&self) -> bool {
        self.shard().world_size == 1
    }

    /// Returns whether this is the rank that writes files and reports.
    pub fn is_first(&self) -> bool {
        self.shard().rank == 0
    }

    /// Returns [`AllReduce::devices`].
    pub fn devices(&self) -> Option<&[Device]> {
        self.0.as_ref()?.transport.devices()
    }

    /// Replaces the values by their sums over all ranks.
    pub fn sum(&self, values: &mut [f32]) -> Result<()> {
        let Some(joined) = self.0.as_ref().filter(|_| !self.is_alone()) else { return Ok(()) };
        self.check()?;
        self.count(values.len());
        joined.transport.sum(values).inspect_err(|_| joined.failed.store(true, Relaxed))
    }

    /// Fails if an all-reduce has failed before, for instance in a layer that cannot return errors.
    pub fn check(&self) -> Result<()> {
        match &self.0 {
            Some(joined) if joined.failed.load(Relaxed) => {
                Err(Error::RankLost("an all-reduce failed".into()))
            }
            _ => Ok(()),
        }
    }

    /// Returns a result if all ranks succeeded. Otherwise returns this rank's own error, or `rank-lost` if only other ranks failed.
    pub fn agree<T, E: From<Error>>(&self, result: Result<T, E>) -> Result<T, E> {
        let mut failures = [f32::from(u8::from(result.is_err()))];
        match (result, self.sum(&mut failures)) {
            (Ok(value), Ok(())) if failures == [0.0] => Ok(value),
            (Ok(_), Ok(())) => {
                Err(Error::RankLost("another rank failed and reports its own error".into()).into())
            }
            (Ok(_), Err(error)) => Err(error.into()),
            (Err(error), _) => Err(error),
        }
    }

    /// Fails with `option-invalid` if the ranks do not have the same values, with which they would train different models.
    pub fn compare(&self, what: &str, values: &[f32]) -> Result<()> {
        let mut sums = values.to_vec();
        self.sum(&mut sums)?;
        let count = self.shard().world_size as f32;
        let alike = values.iter().zip(&sums).all(|(own, sum)| (own * count - sum).abs() <= 1e-5 * sum.abs());
        // A rank whose values equal the mean learns from the others that values differ.
        let mut unlike = [f32::from(u8::from(!alike))];
        self.sum(&mut unlike)?;
        let error = || Error::OptionInvalid(format!("the ranks begin with different values of {what}"));
        if unlike == [0.0] { Ok(()) } else { Err(error()) }
    }

    /// Counts an all-reduce of `values` values.
    pub fn count(&self, values: usize) {
        if let Some(joined) = &self.0 {
            joined.bytes.fetch_add(4 * values as u64, Relaxed);
            joined.calls.fetch_add(1, Relaxed);
        }
    }

    /// Returns the bytes that this rank has sent so far, and the number of all-reduces.
    pub fn traffic(&self) -> (u64, u64) {
        self.0.as_ref().map_or((0, 0), |joined| (joined.bytes.load(Relaxed), joined.calls.load(Relaxed)))
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
    fn ranks_sum_values_and_share_failures() {
        let found = run(3, |ranks| {
            let rank = ranks.shard().rank;
            let mut values = [rank as f32, 1.0];
            ranks.sum(&mut values).unwrap();
            ranks.compare("a value", &[7.0]).unwrap();
            let unlike = ranks.compare("the rank", &[rank as f32]).unwrap_err();
            let result = if rank == 1 { Err(Error::DumpCorrupt("its own".into())) } else { Ok(()) };
            (values, unlike, ranks.agree(result).unwrap_err())
        });
        assert_eq!(found.iter().map(|(values, ..)| *values).collect::<Vec<_>>(), [[3.0, 3.0]; 3]);
        assert!(found.iter().all(|(_, unlike, _)| matches!(unlike, Error::OptionInvalid(_))));
        let own: Vec<bool> = found.iter().map(|(.., error)| matches!(error, Error::DumpCorrupt(_))).collect();
        assert_eq!(own, [false, true, false]);
        assert!(matches!(found[0].2, Error::RankLost(_)) && matches!(found[2].2, Error::RankLost(_)));
    }

    #[test]
    fn a_single_rank_exchanges_nothing() {
        let (ranks, mut values) = (Ranks::default(), [2.0]);
        ranks.sum(&mut values).unwrap();
        assert_eq!((values, ranks.traffic(), ranks.shard()), ([2.0], (0, 0), Shard::WHOLE));
        assert_eq!(ranks.agree(Err::<(), _>(Error::Cancelled)).unwrap_err(), Error::Cancelled);
    }
}
