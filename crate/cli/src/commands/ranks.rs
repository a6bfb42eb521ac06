//! Several ranks: whether `mpirun` started this process, and which devices the ranks of one process have.

use burn::prelude::Device;
use clap::Args;

use super::{console::Console, device::DeviceArguments};
use burn_fused::ranks::{Ranks, devices};
use ownvoice::{Error, Result, report::Report};

/// `--devices`
#[derive(Debug, Clone, Copy, Args)]
pub struct RanksArguments {
    /// Devices that share each batch, on CUDA; processes that share it are started by `mpirun -n 2 ownvoice ..`
    #[arg(long, value_name = "N", default_value_t = 1)]
    devices: usize,
}

impl RanksArguments {
    /// Trains on one device as one of the ranks that `mpirun` started, or on several devices that are the ranks.
    pub fn train<R: Send>(
        self,
        device: DeviceArguments,
        ranks: &Ranks,
        console: &Console,
        work: impl Fn(&Ranks, &Device, &dyn Report) -> Result<R> + Sync,
    ) -> Result<R> {
        // One rank speaks for all.
        let work = |ranks: &Ranks, device: &Device| {
            work(ranks, device, if ranks.is_first() { console } else { &() })
        };
        match self.devices {
            0 => Err(Error::option_invalid("no device to train on")),
            1 => work(ranks, &device.open()?),
            _ if !ranks.is_alone() => {
                Err(Error::option_invalid("each process that mpirun starts has one device"))
            }
            count => devices::over(&device.open_several(count)?, |ranks, device| work(&ranks, device)),
        }
    }
}

/// This process among those that `mpirun` started; alone where it started none.
///
/// * `shared`: whether the verb shares its work among ranks; fails with `option-invalid` where several would do the same work beside each other
pub fn join(shared: bool) -> Result<Ranks> {
    let size = SIZES.iter().find_map(|name| std::env::var(name).ok()?.parse::<usize>().ok());
    if size.is_none_or(|size| size < 2) {
        return Ok(Ranks::default());
    }
    if !shared {
        return Err(Error::option_invalid(
            "only pretrain, train-vocoder, lips train and profile share their work among ranks",
        ));
    }
    join_mpi()
}

/// Where Open MPI, and MPICH and Slurm, say how many processes they started.
const SIZES: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];

#[cfg(feature = "mpi")]
fn join_mpi() -> Result<Ranks> {
    Ok(burn_fused::ranks::mpi::join()?)
}

#[cfg(not(feature = "mpi"))]
fn join_mpi() -> Result<Ranks> {
    Err(Error::option_invalid("this build cannot share its work among ranks; build with `--features mpi`"))
}

/// Ends the exchange, after a success of all. After an error the process just ends, and `mpirun` ends the others.
pub fn leave(ranks: &Ranks) {
    #[cfg(feature = "mpi")]
    if !ranks.is_alone() {
        burn_fused::ranks::mpi::leave();
    }
    #[cfg(not(feature = "mpi"))]
    let _ = ranks;
}
