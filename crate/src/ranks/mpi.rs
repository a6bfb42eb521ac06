//! Ranks as processes that `mpirun` starts, on one machine or several (Message Passing Interface 3.1, section 5.12).
//!
//! By rsmpi's bindings alone: its safe layer cannot represent the death of a rank, and controls how the process exits. Sums are non-blocking and
//! polled, so that the signal by which `mpirun` ends the rest of a run is noticed while waiting.

use mpi_sys as sys;
use std::{
    ffi::c_int,
    ptr::{from_ref, null_mut},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use super::{Exchange, Ranks, Shard};
use crate::{Error, Result};

/// Set by the signal that ends what is left of a run.
static TERMINATED: AtomicBool = AtomicBool::new(false);

extern "C" fn terminate(_: c_int) {
    TERMINATED.store(true, Ordering::Relaxed);
}

/// Joins the others. To be called once, by the thread that trains.
pub fn join() -> Result<Ranks> {
    let (mut provided, mut rank, mut size) = (0, 0, 0);
    // SAFETY: MPI is initialised here and nowhere else; the outputs are our own variables.
    unsafe {
        check(sys::MPI_Init_thread(null_mut(), null_mut(), sys::RSMPI_THREAD_SERIALIZED, &raw mut provided))?;
        check(sys::MPI_Comm_set_errhandler(sys::RSMPI_COMM_WORLD, sys::RSMPI_ERRORS_RETURN))?;
        check(sys::MPI_Comm_rank(sys::RSMPI_COMM_WORLD, &raw mut rank))?;
        check(sys::MPI_Comm_size(sys::RSMPI_COMM_WORLD, &raw mut size))?;
        // MPI has handlers of its own; this one comes after.
        libc::signal(libc::SIGTERM, terminate as *const () as libc::sighandler_t);
    }
    let shard = Shard { rank: rank as usize, world_size: size as usize };
    Ok(Ranks::new(Box::new(Process { shard })))
}

/// Ends the exchange in order. If a process exits without this call, `mpirun` ends the others.
pub fn leave() {
    // SAFETY: all exchanges are done.
    unsafe {
        sys::MPI_Finalize();
    }
}

struct Process {
    shard: Shard,
}

impl Exchange for Process {
    fn shard(&self) -> Shard {
        self.shard
    }

    fn sum(&self, values: &mut [f32]) -> Result<()> {
        let count = c_int::try_from(values.len())
            .map_err(|_| Error::option_invalid("more values than MPI sums at once"))?;
        let given = values.to_vec();
        // SAFETY: both buffers have `count` values and stay where they are until the request is done. Where it never is, they are leaked.
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

/// Until a request is done, or the run is.
unsafe fn wait(request: &mut sys::MPI_Request) -> Result<()> {
    loop {
        let mut done = 0;
        // SAFETY: the request is one that MPI made.
        check(unsafe { sys::MPI_Test(&raw mut *request, &raw mut done, sys::RSMPI_STATUS_IGNORE) })?;
        if done != 0 {
            return Ok(());
        }
        if TERMINATED.load(Ordering::Relaxed) {
            return Err(Error::rank_lost("it was told to end, as a run is when one of its ranks dies"));
        }
        thread::yield_now();
    }
}

fn check(code: c_int) -> Result<()> {
    if code == sys::MPI_SUCCESS as c_int {
        Ok(())
    } else {
        Err(Error::rank_lost(format!("MPI failed with its code {code}")))
    }
}
