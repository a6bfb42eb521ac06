//! Ranks as processes that `mpirun` starts, on one machine or several (Message Passing Interface 3.1, section 5.12).
//!
//! Only the bindings of rsmpi are used: its safe layer cannot represent the death of a rank, and controls how the process exits. Sums are non-blocking and
//! polled, so that a waiting rank notices the signal by which `mpirun` ends a run.

use mpi_sys as sys;
use std::{
    ffi::c_int,
    ptr::{from_ref, null_mut},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use super::{AllReduce, Ranks, Shard};
use crate::{Error, Result};

/// Whether `mpirun` has asked this process to end.
static TERMINATED: AtomicBool = AtomicBool::new(false);

extern "C" fn terminate(_: c_int) {
    TERMINATED.store(true, Ordering::Relaxed);
}

/// Joins the other ranks. It must be called once, by the thread that trains.
pub fn join() -> Result<Ranks> {
    let (mut provided, mut rank, mut size) = (0, 0, 0);
    // SAFETY: MPI is initialised only here, and the outputs are local variables.
    unsafe {
        check(sys::MPI_Init_thread(null_mut(), null_mut(), sys::RSMPI_THREAD_SERIALIZED, &raw mut provided))?;
        check(sys::MPI_Comm_set_errhandler(sys::RSMPI_COMM_WORLD, sys::RSMPI_ERRORS_RETURN))?;
        check(sys::MPI_Comm_rank(sys::RSMPI_COMM_WORLD, &raw mut rank))?;
        check(sys::MPI_Comm_size(sys::RSMPI_COMM_WORLD, &raw mut size))?;
        // MPI sets its own handlers, so that this one is set afterwards.
        libc::signal(libc::SIGTERM, terminate as *const () as libc::sighandler_t);
    }
    let shard = Shard { rank: rank as usize, world_size: size as usize };
    Ok(Ranks::new(Box::new(Process { shard })))
}

/// Leaves the other ranks. If a process exits without this call, `mpirun` ends the others.
pub fn leave() {
    // SAFETY: No all-reduce is pending.
    unsafe {
        sys::MPI_Finalize();
    }
}

struct Process {
    shard: Shard,
}

impl AllReduce for Process {
    fn shard(&self) -> Shard {
        self.shard
    }

    fn sum(&self, values: &mut [f32]) -> Result<()> {
        let count = c_int::try_from(values.len())
            .map_err(|_| Error::OptionInvalid("MPI cannot sum this many values at once".into()))?;
        let given = values.to_vec();
        // SAFETY: both buffers have `count` values and are valid until the request is done. If it never is, `given` is leaked and the process ends with the error.
        unsafe {
            let mut request = sys::RSMPI_REQUEST_NULL;
            check(sys::MPI_Iallreduce(
                from_ref(&given[..]).cast(),
                values.as_mut_ptr().cast(),
                count,
                sys::RSMPI_FLOAT,
                sys::RSMPI_SUM,
                sys::RSMPI_COMM_WORLD,
                &raw mut request,
            ))?;
            let waited = wait(&mut request);
            if waited.is_err() {
                std::mem::forget(given);
            }
            waited
        }
    }
}

/// Waits until a request is done, or fails if `mpirun` ends the run.
///
/// # Safety
///
/// The request must be one that MPI made.
unsafe fn wait(request: &mut sys::MPI_Request) -> Result<()> {
    loop {
        let mut done = 0;
        // SAFETY: the caller guarantees it.
        check(unsafe { sys::MPI_Test(&raw mut *request, &raw mut done, sys::RSMPI_STATUS_IGNORE) })?;
        if done != 0 {
            return Ok(());
        }
        if TERMINATED.load(Ordering::Relaxed) {
            return Err(Error::RankLost("the run was ended, as it is when a rank dies".into()));
        }
        thread::yield_now();
    }
}

/// Turns a return code of MPI into a result.
fn check(code: c_int) -> Result<()> {
    if code == sys::MPI_SUCCESS as c_int {
        Ok(())
    } else {
        Err(Error::RankLost(format!("MPI failed with code {code}")))
    }
}
