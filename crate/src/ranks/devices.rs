//! Ranks as threads of one process, each with a device of its own: the devices sum tensors among themselves (burn's `all_reduce`; on CUDA that is NCCL).

use burn::tensor::{
    Device, Tensor,
    distributed::{ReduceOperation, all_reduce},
};
use std::thread;

use super::{Exchange, Ranks, Shard};
use crate::Result;

struct OwnDevice {
    shard: Shard,
    devices: Vec<Device>,
}

impl Exchange for OwnDevice {
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

/// Runs `work` on each device, and returns what the first made of it. An error of any ends the process' training: it is returned once its own thread ends.
///
/// * `devices`: of one kind that can sum, without gradients
pub fn over<R: Send>(devices: &[Device], work: impl Fn(Ranks, &Device) -> Result<R> + Sync) -> Result<R> {
    thread::scope(|scope| {
        let start = |rank: usize| {
            let shard = Shard { rank, world_size: devices.len() };
            let ranks = Ranks::new(Box::new(OwnDevice { shard, devices: devices.to_vec() }));
            let (work, device) = (&work, &devices[rank]);
            scope.spawn(move || work(ranks, device))
        };
        let threads: Vec<_> = (0..devices.len()).map(start).collect();
        let results = threads.into_iter().map(|thread| thread.join().expect("a panic ends all"));
        let results = results.collect::<Result<Vec<R>>>()?;
        Ok(results.into_iter().next().expect("at least one device"))
    })
}
