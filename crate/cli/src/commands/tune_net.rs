//! `ownvoice tune-net`: the tuning of a small net for pictures.

use std::path::PathBuf;

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};

use super::{
    console::Console,
    device::{DeviceArguments, PrecisionArguments},
    output::{self, OutputKind},
};
use crate::nets::{NetTuned, TuneNetConfig, sentence, tune_net as tune};
use burn_fused::adam::Rule;
use ownvoice::{
    Result,
    nets::{LossKind, NetKind, NetTuneOptions},
};

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice tune-net --net lenet --data digits --out digits.safetensors --iterations 3000 --batch 64 --rate 0.002 --decay --patience 100 --translation 2
  ownvoice tune-net --net resnet18 --weights resnet18.pth --data things --out things.safetensors --frozen trunk
  ownvoice tune-net --net mobilenetv1 --weights models/nets/mobilenetv1.safetensors --side 129 --data things --out things.safetensors --frozen conv_stem,bn1,blocks --evaluate others --json")]
pub struct TuneNetArguments {
    /// Small net for pictures
    #[arg(long, value_parser = net_parser())]
    pub net: NetKind,
    /// Weights to start from: a state dictionary of PyTorch, or safetensors in its names [default: random]
    #[arg(long)]
    weights: Option<PathBuf>,
    /// Folder with a folder of pictures (.jpg, .jpeg, .png) for each class, or with IDX files, which may be gzipped
    #[arg(long)]
    data: PathBuf,
    /// Safetensors file to write, in PyTorch's names
    #[arg(long)]
    out: PathBuf,
    /// Folder of other pictures, on which the tuned net is evaluated
    #[arg(long)]
    evaluate: Option<PathBuf>,
    /// Height and width of the input in pixels [default: those of the weights, or 32 for lenet and 224 for the others]
    #[arg(long)]
    side: Option<usize>,
    /// Layers that are not trained, by the beginnings of PyTorch's names; "trunk" for all but the classifier
    #[arg(long, value_delimiter = ',', value_name = "LAYERS")]
    frozen: Vec<String>,
    /// Number of training iterations
    ///
    /// This is the maximum: training ends early when the held-out pictures no longer improve.
    #[arg(long, default_value_t = NetTuneOptions::default().iterations)]
    iterations: usize,
    /// Number of windows or pictures in a batch
    #[arg(long, default_value_t = NetTuneOptions::default().batch)]
    batch: usize,
    /// Optimizer
    #[arg(long, default_value = "adam", value_parser = optimizer_parser())]
    optimizer: Rule,
    /// Loss
    #[arg(long, default_value = "cross-entropy", value_parser = loss_parser())]
    loss: LossKind,
    /// Initial learning rate
    #[arg(long, default_value_t = NetTuneOptions::default().rate)]
    rate: f64,
    /// Let the learning rate fall linearly, to zero after the last iteration
    #[arg(long)]
    decay: bool,
    /// Number of validations without improvement, one every 25 iterations, that end the training
    #[arg(long, default_value_t = NetTuneOptions::default().patience)]
    patience: usize,
    /// Move each picture at random by at most this many pixels in each direction
    #[arg(long, value_name = "PIXELS", default_value_t = 0)]
    translation: usize,
    /// Momentum of the optimizer sgd
    #[arg(long, default_value_t = NetTuneOptions::default().momentum)]
    momentum: f32,
    /// Weight decay
    #[arg(long, default_value_t = NetTuneOptions::default().weight_decay)]
    weight_decay: f32,
    /// Normalise by the statistics of each batch, as from random weights, instead of running statistics
    #[arg(long)]
    batch_statistics: bool,
    /// Seed of the random numbers; the same seed, input and device give the same result
    #[arg(long, default_value_t = NetTuneOptions::default().seed)]
    seed: u64,
    #[command(flatten)]
    device: DeviceArguments,
    #[command(flatten)]
    precision: PrecisionArguments,
}

/// Returns a parser of the names of nets.
pub fn net_parser() -> impl TypedValueParser<Value = NetKind> {
    let names = NetKind::ALL.map(NetKind::name);
    PossibleValuesParser::new(names).map(|name| NetKind::by_name(&name).expect("a possible value"))
}

fn optimizer_parser() -> impl TypedValueParser<Value = Rule> {
    let names = Rule::ALL.map(Rule::name);
    PossibleValuesParser::new(names).map(|name| Rule::by_name(&name).expect("a possible value"))
}

/// Returns a parser of the names of losses whose targets are classes.
fn loss_parser() -> impl TypedValueParser<Value = LossKind> {
    let names = [LossKind::CrossEntropy, LossKind::MeanSquaredError].map(LossKind::name);
    PossibleValuesParser::new(names).map(|name| LossKind::by_name(&name).expect("a possible value"))
}

pub fn tune_net(arguments: &TuneNetArguments, console: &Console) -> Result<()> {
    output::check(&arguments.out, OutputKind::Weights, console)?;
    let device = arguments.device.open()?;
    let options = NetTuneOptions {
        iterations: arguments.iterations,
        batch: arguments.batch,
        optimizer: arguments.optimizer,
        rate: arguments.rate,
        decay: arguments.decay,
        patience: arguments.patience,
        translation: arguments.translation,
        momentum: arguments.momentum,
        weight_decay: arguments.weight_decay,
        loss: arguments.loss,
        frozen: arguments.frozen.clone(),
        batch_statistics: arguments.batch_statistics,
        seed: arguments.seed,
        precision: arguments.precision.precision,
        ..NetTuneOptions::default()
    };
    let config = TuneNetConfig {
        kind: arguments.net,
        weights: arguments.weights.clone(),
        side: arguments.side,
        data: arguments.data.clone(),
        out: arguments.out.clone(),
        evaluate: arguments.evaluate.clone(),
        options,
    };
    let tuned = tune(&config, &device, console)?;
    let NetTuned { classes, pictures, iterations, held_out, accuracy, .. } = &tuned;
    let mut text = format!(
        "{pictures} pictures of {} classes, {iterations} iterations: {}, initially {}",
        classes.len(),
        sentence(&held_out[1]),
        sentence(&held_out[0])
    );
    if let Some((share, count)) = accuracy {
        text += &format!("\n{:.2} % of {count} other pictures named correctly", 100.0 * share);
    }
    console.result(&tuned, text);
    Ok(())
}
