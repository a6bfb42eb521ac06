//! `--feeder-threads`: how batches are made ahead of a training.

use clap::Args;

use crate::learn::data_loader::DataLoaderConfig;

/// `--feeder-threads`
#[derive(Debug, Clone, Copy, Args)]
pub struct DataLoaderArguments {
    /// Threads that make batches ahead; 0 makes each when it is needed. The result is the same
    #[arg(long, value_name = "N", default_value_t = DataLoaderConfig::default().threads)]
    feeder_threads: usize,
}

impl DataLoaderArguments {
    pub fn get(self) -> DataLoaderConfig {
        DataLoaderConfig { threads: self.feeder_threads, ..DataLoaderConfig::default() }
    }
}
