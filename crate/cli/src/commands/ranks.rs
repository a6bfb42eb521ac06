//! The ranks of a training: processes that `mpirun` starts, or several devices of one process.

use burn::prelude::Device;
use clap::Args;

use super::{console::Console, device::DeviceArguments};
use burn_fused::ranks::{Ranks, devices};
use ownvoice::{Error, Result, report::Report};

/// `--devices`
#[derive(Debug, Clone, Copy, Args)]
pub struct RanksArguments {
    /// Number of CUDA devices that share each batch; `mpirun -n 2 ownvoice ..` starts processes that share it
    #[arg(long, value_name = "N", default_value_t = 1)]
    devices: usize,
}

impl RanksArguments {
    /// Trains on one device, as a rank that `mpirun` started, or on several devices, each of which is a rank.
    pub fn train<R: Send>(
        self,
        device: DeviceArguments,
        ranks: &Ranks,
        console: &Console,
        work: impl Fn(&Ranks, &Device, &dyn Report) -> Result<R> + Sync,
    ) -> Result<R> {
        // Only the first rank prints.
        let work = |ranks: &Ranks, device: &Device| {
            work(ranks, device, if ranks.is_first() { console } else { &() })
        };
        match self.devices {
            0 => Err(Error::option_invalid("the number of devices must be positive")),
            1 => work(ranks, &device.open()?),
            _ if !ranks.is_alone() => {
                Err(Error::option_invalid("each process that mpirun starts uses one device"))
            }
            count => devices::over(&device.open_several(count)?, |ranks, device| work(&ranks, device)),
        }
    }
}

/// Returns the ranks that `mpirun` started, or a single rank. Fails with `option-invalid` if several ranks would do the same work.
///
/// * `shared`: whether the verb shares its work among ranks
pub fn join(shared: bool) -> Result<Ranks> {
    let size = SIZES.iter().find_map(|name| std::env::var(name).ok()?.parse::<usize>().ok());
    if size.is_none_or(|size| size < 2) {
        return Ok(Ranks::default());
    }
    if !shared {
        return Err(Error::option_invalid(
            "only pretrain, train-vocoder, lips train and profile can share their work among ranks",
        ));
    }
    join_mpi()
}

/// The environment variables with the number of processes, of Open MPI, and of MPICH and Slurm.
const SIZES: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];

#[cfg(feature = "mpi")]
fn join_mpi() -> Result<Ranks> {
    Ok(burn_fused::ranks::mpi::join()?)
}

#[cfg(not(feature = "mpi"))]
fn join_mpi() -> Result<Ranks> {
    Err(Error::option_invalid("this build cannot share its work among ranks; build with `--features mpi`"))
}

/// Ends MPI after all ranks have succeeded. After an error the process exits, and `mpirun` ends the others.
pub fn leave(ranks: &Ranks) {
    #[cfg(feature = "mpi")]
    if !ranks.is_alone() {
        burn_fused::ranks::mpi::leave();
    }
    #[cfg(not(feature = "mpi"))]
    let _ = ranks;
}
