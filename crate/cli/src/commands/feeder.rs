//! `--feeder-threads`: how batches are made ahead of a training.

use clap::Args;

use crate::learn::feeder::FeederConfig;

/// `--feeder-threads`
#[derive(Debug, Clone, Copy, Args)]
pub struct FeederArguments {
    /// Threads that make batches ahead; 0 makes each when it is needed. The result is the same
    #[arg(long, value_name = "N", default_value_t = FeederConfig::default().threads)]
    feeder_threads: usize,
}

impl FeederArguments {
    pub fn get(self) -> FeederConfig {
        FeederConfig { threads: self.feeder_threads, ..FeederConfig::default() }
    }
}
