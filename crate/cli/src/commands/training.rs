//! The arguments and the result that all verbs with long trainings have in common.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::{
    console::Console,
    data_loader::DataLoaderArguments,
    device::{DeviceArguments, PlanArguments},
    ranks::RanksArguments,
};
use crate::{
    learn::Trained,
    learn::hyperparameters::{Hyperparameters, RunConfig, WatchConfig},
};
use burn_fused::ranks::Ranks;
use ownvoice::{Result, report::Report};

#[derive(Args)]
pub struct TrainingArguments {
    #[command(flatten)]
    device: DeviceArguments,
    #[command(flatten)]
    plan: PlanArguments,
    /// Resume from the checkpoint in the run folder
    #[arg(long)]
    resume: bool,
    /// Number of steps between two statistics of magnitudes in statistics.jsonl of the run folder; 0 for none
    #[arg(long, default_value_t = WatchConfig::default().statistics_every)]
    statistics_every: usize,
    /// Folder for checkpoint and loss curve [default: OUT/run]
    #[arg(long)]
    run: Option<PathBuf>,
    #[command(flatten)]
    loader: DataLoaderArguments,
    #[command(flatten)]
    ranks: RanksArguments,
}

impl TrainingArguments {
    /// Runs a training on all ranks and prints its result.
    ///
    /// * `hyperparameters`: the compute plan is replaced by that of the arguments
    /// * `out`: the folder of the model
    pub fn train(
        &self,
        hyperparameters: &Hyperparameters,
        out: &Path,
        ranks: &Ranks,
        console: &Console,
        work: impl Fn(RunConfig, &dyn Report) -> Result<Trained> + Sync,
    ) -> Result<()> {
        let hyperparameters = Hyperparameters { compute: self.plan.get()?, ..hyperparameters.clone() };
        let directory = self.run.clone().unwrap_or_else(|| out.join("run"));
        let trained = self.ranks.train(self.device, ranks, console, |ranks, device, report| {
            let defaults = RunConfig::new(hyperparameters.clone(), directory.clone(), device);
            let run_config = RunConfig {
                resume: self.resume,
                loader: self.loader.get(),
                ranks: ranks.clone(),
                watch: WatchConfig { statistics_every: self.statistics_every, ..defaults.watch },
                ..defaults
            };
            work(run_config, report)
        })?;
        print(&trained, console);
        Ok(())
    }
}

/// Prints the result of a training.
pub fn print(trained: &Trained, console: &Console) {
    let Trained { path, bytes, held_out_loss } = trained;
    console.result(
        &json!({"path": path, "bytes": bytes, "held_out_loss": held_out_loss}),
        format!("{}: {:.1} MB, held-out loss {held_out_loss:.4}", path.display(), *bytes as f32 / 1e6),
    );
}
