//! `ownvoice precision`: finds overflows, operations that differ from their reference, and differences between runs.

use std::path::{Path, PathBuf};

use burn::prelude::Device;
use clap::{Args, Subcommand};
use serde_json::json;

use super::{
    console::Console,
    device::{DeviceArguments, PlanArguments},
    output::{self, OutputKind},
    tune_net::net_parser,
};
use crate::{
    check::propose::propose,
    learn::preflight::{RunFacts, preflight},
};
use burn_fused::{
    ComputePlan, Mode,
    compute::PlantedFault,
    precision::{
        Dump, Replayer, Statistics, first_fault,
        report::{report, side},
        to_the_end,
    },
};
use ownvoice::{
    Error, Result,
    check::{
        compare_steps::{ComparedSteps, bisect_steps, compare_steps},
        step_dump::{Side, StepConfig, sample_features},
    },
    features::Features,
    files,
    nets::{
        NetConfig, NetKind,
        precision::{NetSide, NetStepConfig, compare_net, default_plan},
    },
    voice::Base,
};

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice precision compare --device vulkan --precision mixed
  ownvoice precision bisect --device vulkan
  ownvoice precision propose --device cuda --json
  ownvoice precision statistics --precision mixed
  ownvoice precision fault run/step-000123.safetensors
  ownvoice precision preflight run-a run-b
  ownvoice precision compare --plant sign:decoder.second:lstm:w_hh")]
pub struct PrecisionVerb {
    #[command(subcommand)]
    command: PrecisionCommand,
}

#[derive(Subcommand)]
enum PrecisionCommand {
    /// Compare a training step with one on the CPU in f32 without fused operations; list the differences, the first divergence first
    #[command(after_help = "Examples:
  ownvoice precision compare --device vulkan --precision mixed
  ownvoice precision compare --net mobilenetv1 --precision mixed
  ownvoice precision compare --plant sign:decoder.second:lstm:w_hh --json")]
    Compare(CompareArguments),
    /// Find the smallest set of fused operations without which the step no longer differs
    #[command(after_help = "Examples:
  ownvoice precision bisect --device vulkan
  ownvoice precision bisect --plant sign:decoder.second:lstm:w_hh")]
    Bisect(StepArguments),
    /// Propose the modules for half precision, and compare again with only these
    #[command(after_help = "Examples:
  ownvoice precision propose --device cuda
  ownvoice precision propose --device vulkan --json")]
    Propose(StepArguments),
    /// Show statistics of magnitudes: the largest, zeros, values below the range of f16, NaN and infinities
    #[command(after_help = "Examples:
  ownvoice precision statistics --precision mixed
  ownvoice precision statistics --device vulkan --json")]
    Statistics(StepArguments),
    /// Find the first operation at fault in the dump of a step
    #[command(after_help = "Examples:
  ownvoice precision fault run/step-000123.safetensors
  ownvoice precision fault run/step-000123.safetensors --json")]
    Fault(FaultArguments),
    /// Show the differences of two runs in configuration, weights, data order, seed, precision and loss scale
    #[command(after_help = "Examples:
  ownvoice precision preflight run-a run-b
  ownvoice precision preflight run-a run-b --json")]
    Preflight(PreflightArguments),
}

/// The arguments of a training step.
#[derive(Args)]
struct StepArguments {
    /// Folder of the base voice
    #[arg(long, default_value = "models/base")]
    base: PathBuf,
    /// Folder of features for the batch [default: speech-like noise]
    #[arg(long)]
    data: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArguments,
    #[command(flatten)]
    plan: PlanArguments,
    /// Number of windows or pictures in a batch
    #[arg(long, default_value_t = 2)]
    batch: usize,
    /// Length of a window in frames
    #[arg(long, default_value_t = 64)]
    window: usize,
    /// Use batch statistics, as in pretraining, instead of running statistics, as in cloning
    #[arg(long)]
    pretraining: bool,
    /// Seed of the random numbers; the same seed, input and device give the same result
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Minimum cosine that passes
    #[arg(long, default_value_t = 0.98)]
    cosine: f64,
    /// Plant a fault for a drill: overflow:MODULE:OPERATION, sign:MODULE:OPERATION:INPUT or nan:MODULE:OPERATION:INPUT, of the input's gradient
    #[arg(long)]
    plant: Vec<String>,
}

#[derive(Args)]
struct CompareArguments {
    #[command(flatten)]
    step: StepArguments,
    /// Small net for pictures
    ///
    /// A step of this net with random weights, on noise of 64 x 64 pixels (32 x 32 for lenet), is compared instead of one of the base.
    #[arg(long, value_parser = net_parser())]
    net: Option<NetKind>,
    /// List all tensors, not only those that fail
    #[arg(long)]
    all: bool,
    /// Folder for both dumps
    #[arg(long)]
    out: Option<PathBuf>,
}

#[derive(Args)]
struct FaultArguments {
    /// Dump: step-NNNNNN.safetensors of a run folder, or a file of `compare --out`
    dump: PathBuf,
    #[command(flatten)]
    device: DeviceArguments,
}

#[derive(Args)]
struct PreflightArguments {
    /// Folders of two runs
    #[arg(num_args = 2, required = true, value_names = ["RUN_A", "RUN_B"])]
    runs: Vec<PathBuf>,
}

pub fn precision(arguments: &PrecisionVerb, console: &Console) -> Result<()> {
    match &arguments.command {
        PrecisionCommand::Compare(arguments) => compare(arguments, console),
        PrecisionCommand::Bisect(arguments) => bisect(arguments, console),
        PrecisionCommand::Propose(arguments) => propose_half(arguments, console),
        PrecisionCommand::Statistics(arguments) => statistics(arguments, console),
        PrecisionCommand::Fault(arguments) => fault(arguments, console),
        PrecisionCommand::Preflight(arguments) => show_preflight(arguments, console),
    }
}

/// The two sides of a comparison.
struct Bench {
    on_cpu: Base,
    on_device: Base,
    name: String,
    plan: ComputePlan,
    features: Features,
    step: StepConfig,
    cosine: f64,
}

impl Bench {
    fn open(arguments: &StepArguments) -> Result<Self> {
        let device = arguments.device.open()?;
        let mut plan = arguments.plan.get()?;
        if !plan.precision.runs_on(&device) {
            return Err(Error::precision_unsupported());
        }
        plan.faults = faults(arguments)?;
        let on_cpu = Base::open(&arguments.base, &Device::flex())?;
        let config = on_cpu.config().clone();
        let StepArguments { batch, window, seed, .. } = *arguments;
        if batch == 0 || window == 0 || window % config.reduction != 0 {
            return Err(Error::option_invalid(format!(
                "batch and window must be positive, the window a multiple of {}",
                config.reduction
            )));
        }
        if !(0.0..=1.0).contains(&arguments.cosine) {
            return Err(Error::option_invalid("the minimum cosine must be between 0 and 1"));
        }
        let features = match &arguments.data {
            Some(folder) => Features::load(folder)?,
            None => sample_features(config.mels),
        };
        if features.speakers.len() > config.speakers {
            return Err(Error::option_invalid("the features have more speakers than the base"));
        }
        let mode = if arguments.pretraining { Mode::Train } else { Mode::Eval };
        Ok(Self {
            on_device: Base::open(&arguments.base, &device)?,
            on_cpu,
            name: arguments.device.device.name(),
            plan,
            features,
            step: StepConfig { config, batch, window, mode, seed },
            cosine: arguments.cosine,
        })
    }

    /// Returns the reference: the CPU in f32 without fused operations.
    fn reference(&self) -> Side<'_> {
        let (model, device) = (&self.on_cpu.model, &self.on_cpu.device);
        Side { model, device, name: "cpu", plan: ComputePlan::reference() }
    }

    /// Returns the device under test with a compute plan.
    fn found(&self, plan: ComputePlan) -> Side<'_> {
        let (model, device) = (&self.on_device.model, &self.on_device.device);
        Side { model, device, name: &self.name, plan }
    }

    fn compare(&self, plan: ComputePlan) -> Result<ComparedSteps> {
        let (reference, found) = (self.reference(), self.found(plan));
        pollster::block_on(compare_steps(
            &reference,
            &found,
            &self.features,
            &self.step,
            self.cosine,
            &mut to_the_end,
        ))
    }
}

fn compare(arguments: &CompareArguments, console: &Console) -> Result<()> {
    arguments.out.as_deref().map_or(Ok(()), |folder| output::check(folder, OutputKind::Files, console))?;
    let ComparedSteps { reference, found, comparison } = match arguments.net {
        Some(kind) => compare_step_of_net(kind, &arguments.step)?,
        None => {
            let bench = Bench::open(&arguments.step)?;
            bench.compare(bench.plan.clone())?
        }
    };
    if let Some(folder) = &arguments.out {
        files::write(&folder.join("a.safetensors"), reference.serialize())?;
        files::write(&folder.join("b.safetensors"), found.serialize())?;
    }
    let rows: Vec<_> =
        if arguments.all { comparison.rows.iter().collect() } else { comparison.below().collect() };
    let text = report(&reference.about, &found.about, &comparison, arguments.all);
    let json = json!({
        "passes": comparison.passes(),
        "verdict": comparison.verdict(),
        "cosine": comparison.cosine,
        "tensors": comparison.rows.len(),
        "rows": rows,
        "unmatched": comparison.unmatched,
        "a": reference.about,
        "b": found.about,
    });
    console.result(&json, text);
    Ok(())
}

/// Compares a step of a net with random weights.
fn compare_step_of_net(kind: NetKind, arguments: &StepArguments) -> Result<ComparedSteps> {
    let device = arguments.device.open()?;
    let mut config = NetConfig::of(kind, 5);
    config.side = config.side.min(64);
    let defaults = default_plan(&config, arguments.plan.precision.precision)?;
    let mut plan = arguments.plan.over(|_| defaults.clone())?;
    if !plan.precision.runs_on(&device) {
        return Err(Error::precision_unsupported());
    }
    if arguments.batch == 0 || !(0.0..=1.0).contains(&arguments.cosine) {
        return Err(Error::option_invalid(
            "the batch must be positive, and the minimum cosine between 0 and 1",
        ));
    }
    plan.faults = faults(arguments)?;
    let mode = if arguments.pretraining { Mode::Train } else { Mode::Eval };
    let step = NetStepConfig { config, batch: arguments.batch, mode, seed: arguments.seed };
    let reference = NetSide { device: &Device::flex(), name: "cpu", plan: ComputePlan::reference() };
    let found = NetSide { device: &device, name: &arguments.device.device.name(), plan };
    pollster::block_on(compare_net(&reference, &found, &step, arguments.cosine, &mut to_the_end))
}

/// Returns the faults to plant.
fn faults(arguments: &StepArguments) -> Result<Vec<PlantedFault>> {
    Ok(arguments.plant.iter().map(|fault| fault.parse()).collect::<burn_fused::Result<_>>()?)
}

fn bisect(arguments: &StepArguments, console: &Console) -> Result<()> {
    let bench = Bench::open(arguments)?;
    let (reference, found) = (bench.reference(), bench.found(bench.plan.clone()));
    let result =
        pollster::block_on(bisect_steps(&reference, &found, &bench.features, &bench.step, bench.cosine))?;
    console.result(&json!({"verdict": result.verdict(), "bisection": result}), result.verdict());
    Ok(())
}

fn propose_half(arguments: &StepArguments, console: &Console) -> Result<()> {
    let bench = Bench::open(arguments)?;
    if bench.plan.precision == burn_fused::Precision::F32 {
        return Err(Error::option_invalid(
            "modules for half precision are proposed only for --precision mixed",
        ));
    }
    let ComparedSteps { found, comparison, .. } = bench.compare(bench.plan.clone())?;
    let half = propose(&comparison, &found);
    let after = bench.compare(ComputePlan { half: half.clone(), ..bench.plan.clone() })?.comparison;
    let text = format!(
        "with {}: {}\n--half {}: {}",
        bench.plan.half.join(","),
        comparison.verdict(),
        half.join(","),
        after.verdict()
    );
    let json = json!({
        "half": half,
        "before": {"passes": comparison.passes(), "verdict": comparison.verdict()},
        "after": {"passes": after.passes(), "verdict": after.verdict()},
    });
    console.result(&json, text);
    Ok(())
}

fn statistics(arguments: &StepArguments, console: &Console) -> Result<()> {
    let bench = Bench::open(arguments)?;
    let dump = pollster::block_on(bench.found(bench.plan.clone()).dump(&bench.features, &bench.step))?;
    let scale = dump.about.loss_scale;
    let statistics = |values: Vec<f32>| Statistics::from_values(&values);
    let calls = dump.calls.iter().flat_map(|record| {
        let name = format!("{}: {}", record.call.path, record.call.operation.name());
        let gradient = record.gradient.clone().map(|gradient| statistics(gradient.times(scale).values));
        let output = (format!("{name}, output"), statistics(record.output.values.clone()));
        [Some(output), gradient.map(|gradient| (format!("{name}, gradient of the output"), gradient))]
    });
    let gradients = dump.gradients.iter().map(|(path, values)| {
        Some((format!("{path}, gradient"), statistics(values.clone().times(scale).values)))
    });
    let rows: Vec<(String, Statistics)> = calls.chain(gradients).flatten().collect();
    let heading = format!(
        "{}; gradients times the loss scale of {scale}\n{:<64} {:>10} {:>8} {:>10} {:>6} {:>6}",
        side(&dump.about),
        "",
        "largest",
        "zeros",
        "subnormal",
        "NaN",
        "inf"
    );
    console.heading(heading);
    for (name, statistics) in rows {
        let Statistics { largest, zeros, subnormal, nans, infinities } = statistics;
        let mark = if statistics.overflows_half() { "  beyond f16" } else { "" };
        let text = format!(
            "{name:<64} {largest:>10.2e} {:>6.1} % {:>8.1} % {nans:>6} {infinities:>6}{mark}",
            100.0 * zeros,
            100.0 * subnormal
        );
        console.result(&json!({"name": name, "statistics": statistics}), text);
    }
    Ok(())
}

fn fault(arguments: &FaultArguments, console: &Console) -> Result<()> {
    let dump = Dump::deserialize(&files::read(&arguments.dump)?)
        .map_err(|error| Error::from(error).in_file(&arguments.dump))?;
    let device = arguments.device.open()?;
    let replayer = Replayer { plan: dump.about.plan.clone(), device, loss_scale: dump.about.loss_scale };
    let culprit = pollster::block_on(first_fault(&dump, &replayer))?;
    let text = culprit.as_ref().map_or("it has no non-finite values".to_string(), ToString::to_string);
    console.result(&json!({"fault": culprit, "text": text, "step": dump.about}), &text);
    Ok(())
}

fn show_preflight(arguments: &PreflightArguments, console: &Console) -> Result<()> {
    let facts = |folder: &Path| -> Result<RunFacts> {
        let path = folder.join(RunFacts::FILE);
        serde_json::from_slice(&files::read(&path)?)
            .map_err(|error| Error::checkpoint_corrupt(error).in_file(path))
    };
    let [run_a, run_b] = &arguments.runs[..] else { unreachable!("clap asks for two") };
    let found = preflight(&facts(run_a)?, &facts(run_b)?);
    let differing = found.iter().filter(|fact| !fact.same).count();
    let mut text = format!("{:<2} {:<28} {:<40} {}", "", "", run_a.display(), run_b.display());
    for fact in &found {
        let mark = if fact.same { "" } else { "!" };
        let b = if fact.same && fact.name != "data order" { String::new() } else { short(&fact.b) };
        text += &format!("\n{mark:<2} {:<28} {:<40} {b}", fact.name, short(&fact.a));
    }
    text += &match differing {
        0 => "\nthe runs are the same".to_string(),
        count => format!("\n{count} facts differ"),
    };
    console.result(&json!({"same": differing == 0, "facts": found}), text);
    Ok(())
}

/// Shortens a fact to the width of a column. The JSON has it in full.
fn short(fact: &str) -> String {
    const COLUMN: usize = 38;
    match fact.char_indices().nth(COLUMN) {
        Some((end, _)) if !fact.contains(' ') => format!("{}..", &fact[..end]),
        _ => fact.to_string(),
    }
}
