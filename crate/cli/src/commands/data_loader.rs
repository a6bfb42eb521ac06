//! `--feeder-threads`: the number of threads of the data loader.

use clap::Args;

use crate::learn::data_loader::DataLoaderConfig;

/// The argument `--feeder-threads`.
#[derive(Debug, Clone, Copy, Args)]
pub struct DataLoaderArguments {
    /// Number of threads that prepare batches ahead, which does not change the result; 0 prepares each batch on demand
    #[arg(long, value_name = "N", default_value_t = DataLoaderConfig::default().threads)]
    feeder_threads: usize,
}

impl DataLoaderArguments {
    pub fn get(self) -> DataLoaderConfig {
        DataLoaderConfig { threads: self.feeder_threads, ..DataLoaderConfig::default() }
    }
}
