//! Ranks as threads of one process, for tests without MPI.

use std::{
    sync::{Arc, Barrier, Mutex},
    thread,
};

use super::{AllReduce, Ranks, Shard};
use crate::Result;

struct Board {
    barrier: Barrier,
    /// The values of each rank. They are summed in the order of ranks, so that all ranks get the same sums.
    given: Mutex<Vec<Vec<f32>>>,
}

struct Thread {
    shard: Shard,
    board: Arc<Board>,
}

impl AllReduce for Thread {
    fn shard(&self) -> Shard {
        self.shard
    }

    fn sum(&self, values: &mut [f32]) -> Result<()> {
        self.board.given.lock().unwrap()[self.shard.rank] = values.to_vec();
        self.board.barrier.wait();
        values.fill(0.0);
        for given in &*self.board.given.lock().unwrap() {
            values.iter_mut().zip(given).for_each(|(sum, value)| *sum += value);
        }
        self.board.barrier.wait();
        Ok(())
    }
}

/// Runs `work` on `world_size` ranks and returns their results in order.
pub fn run<R: Send>(world_size: usize, work: impl Fn(Ranks) -> R + Sync) -> Vec<R> {
    let board = Arc::new(Board {
        barrier: Barrier::new(world_size),
        given: Mutex::new(vec![Vec::new(); world_size]),
    });
    thread::scope(|scope| {
        let start = |rank| {
            let (work, board) = (&work, Arc::clone(&board));
            let transport = Thread { shard: Shard { rank, world_size }, board };
            scope.spawn(move || work(Ranks::new(Box::new(transport))))
        };
        let threads: Vec<_> = (0..world_size).map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}
