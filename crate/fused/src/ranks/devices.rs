//! Ranks as threads of one process, each with its own device. The devices sum tensors among themselves with burn's `all_reduce`, which is NCCL on CUDA.

use burn::tensor::{
    Device, Tensor,
    distributed::{ReduceOperation, all_reduce},
};
use std::thread;

use super::{AllReduce, Ranks, Shard};
use crate::{Error, Result};

struct OwnDevice {
    shard: Shard,
    devices: Vec<Device>,
}

impl AllReduce for OwnDevice {
    fn shard(&self) -> Shard {
        self.shard
    }

    fn sum(&self, values: &mut [f32]) -> Result<()> {
        let own = Tensor::<1>::from_floats(&*values, &self.devices[self.shard.rank]);
        let sums = all_reduce(own, ReduceOperation::Sum, self.devices.clone()).resolve();
        values.copy_from_slice(&sums.into_data().try_to_vec::<f32>().expect("computed in f32"));
        Ok(())
    }

    fn devices(&self) -> Option<&[Device]> {
        Some(&self.devices)
    }
}

/// Runs `work` on each device and returns the result of the first. Returns an error of any device once all threads have ended.
///
/// * `devices`: devices of one kind that supports `all_reduce`, without autodiff
pub fn over<R: Send, E: From<Error> + Send>(
    devices: &[Device],
    work: impl Fn(Ranks, &Device) -> Result<R, E> + Sync,
) -> Result<R, E> {
    thread::scope(|scope| {
        let start = |rank: usize| {
            let shard = Shard { rank, world_size: devices.len() };
            let ranks = Ranks::new(Box::new(OwnDevice { shard, devices: devices.to_vec() }));
            let (work, device) = (&work, &devices[rank]);
            scope.spawn(move || work(ranks, device))
        };
        let threads: Vec<_> = (0..devices.len()).map(start).collect();
        let results =
            threads.into_iter().map(|thread| thread.join().expect("a panic of a rank ends the process"));
        let results = results.collect::<Result<Vec<R>, E>>()?;
        Ok(results.into_iter().next().expect("at least one device"))
    })
}
