//! Benchmarks cloning and synthesis on this machine. Prints rows of JSON, one per line, for `cargo xtask bench`.
//!
//! `cargo run --release --example bench -- --lips models/lips`

mod lips;
mod op_by_op;

use std::{path::PathBuf, time::Instant};

use burn::{Tensor, prelude::Device, tensor::Distribution};
use clap::Parser;
use serde_json::json;

use burn_fused::{
    ComputePlan, Mode, Precision,
    matmul::{matmul, operand},
    precision::statistics::{module_statistics, output_statistics},
    trace::Probe,
};
use lips::{lip_rows, lip_training_rows};
use op_by_op::OpByOp;
use ownvoice::{
    Error, Result,
    audio::{
        Audio,
        mel::{Mel, MelConfig},
    },
    check::step_dump::{Side, StepConfig, sample_features},
    clone::{
        FineTuner,
        clip::Clip,
        options::{AdvancedCloneOptions, CloneOptions},
    },
    model::TacotronConfig,
    synth::{SpeakOptions, speak_async},
    vocoder::Vocoder,
    voice::{Base, Voice},
};
use ownvoice_cli::{
    commands::device::{DeviceArguments, DeviceName, PrecisionArguments},
    learn::hyperparameters::WatchConfig,
};

// The same allocator as in the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
struct Arguments {
    /// Folder of the base voice
    #[arg(long, default_value = "models/base")]
    base: PathBuf,
    #[command(flatten)]
    device: DeviceArguments,
    #[command(flatten)]
    precision: PrecisionArguments,
    /// Folder of a lip-to-speech base
    ///
    /// Synthesis from a drawn video and a training step of such a base are timed too; needs ffmpeg.
    #[arg(long)]
    lips: Option<PathBuf>,
    /// Number of training iterations
    ///
    /// These are the timed iterations, after five that are not timed.
    #[arg(long, default_value_t = 20)]
    iterations: usize,
}

const WARM_UP: usize = 5;
const TEXT: &str =
    "The tide came in while we were talking, and nobody noticed until the boats began to move.";

/// A vocoder that returns no samples, to time the model alone.
struct Silent;

impl Vocoder for Silent {
    fn name(&self) -> &'static str {
        "silent"
    }

    fn sample_rate_hz(&self) -> u32 {
        MelConfig::speech_16k().sample_rate_hz
    }

    fn vocode(&self, _mel: &Mel) -> Vec<f32> {
        Vec::new()
    }
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    rayon::ThreadPoolBuilder::new().use_current_thread().build_global().expect("nothing has used the pool");
    if arguments.iterations == 0 {
        return Err(Error::option_invalid("iterations must be positive"));
    }
    let device = arguments.device.open()?;
    let base = Base::open(&arguments.base, &device)?;
    let (device_name, precision) = (arguments.device.device, arguments.precision.precision);
    let (mel_seconds, vocoder_seconds, speech_seconds, samples) = speak(&base)?;
    let clip = Clip { audio: Audio { samples, sample_rate_hz: base.sample_rate_hz() }, text: TEXT.into() };
    let trained = train(&base, &[clip], arguments.iterations, precision)?;
    let memory_mb = peak_memory_mb();
    let gemm_s = gemms(base.config(), &device, precision, |a, b| matmul(a, b, precision));
    // On the CPU, burn's matmul is the same.
    let burn_gemm_s =
        (device_name != DeviceName::Cpu).then(|| gemms(base.config(), &device, precision, Tensor::matmul));
    let limit_s = burn_gemm_s.unwrap_or(gemm_s).min(gemm_s);
    let name = |figure: &str| {
        let mixed = if precision == Precision::Mixed { ".mixed" } else { "" };
        format!("train.native.{}{mixed}.{figure}", device_name.name())
    };
    let row = |name: String, value: f64, unit: &str| json!({"name": name, "value": value, "unit": unit});
    let mut rows = vec![
        row(name("s_per_iter"), trained.s_per_iter, "s (small, 8 x 128 frames)"),
        row(name("gemm_s"), gemm_s, "s (its matmuls alone)"),
        row(name("gemm_share"), limit_s / trained.s_per_iter, "of an iteration: the device's own limit is 1"),
    ];
    rows.push(row(
        name("statistics_share"),
        statistics_share(&base, precision)?,
        "of a step: magnitudes of weights, gradients and outputs, every 25",
    ));
    if device_name == DeviceName::Cpu {
        rows.push(row(
            "train.native.op_by_op.s_per_iter".into(),
            train_op_by_op(&base, arguments.iterations.div_ceil(4)),
            "s (the same from burn's own layers)",
        ));
        rows.push(row("say.rtf.mel".into(), mel_seconds / speech_seconds, "s a second of speech"));
        rows.push(row("say.rtf.vocoder".into(), vocoder_seconds / speech_seconds, "s a second of speech"));
        rows.extend(
            memory_mb.map(|megabytes| row("train.peak_memory_mb".into(), megabytes, "MB (whole process)")),
        );
    } else {
        rows.extend(
            burn_gemm_s.map(|seconds| row(name("burn_gemm_s"), seconds, "s (the same matmuls by burn)")),
        );
        rows.push(row(name("dispatch_s"), trained.dispatch_s, "s until an iteration is queued"));
        rows.push(row(
            format!("say.rtf.mel.{}", device_name.name()),
            mel_seconds / speech_seconds,
            "s a second of speech",
        ));
        rows.extend(trained.held_early_mb.map(|held| {
            row(name("device_memory_early_mb"), held, "MB that its allocator holds at iteration 20")
        }));
        rows.extend(
            trained
                .held_mb
                .map(|held| row(name("device_memory_mb"), held, "MB that it holds after the last")),
        );
    }
    if let Some(folder) = &arguments.lips {
        rows.extend(lip_rows(folder, &device)?);
        rows.extend(lip_training_rows(&device, precision, name)?);
    }
    rows.iter().for_each(|row| println!("{row}"));
    Ok(())
}

/// Synthesises a sentence. Returns the seconds for the spectrogram, for the vocoder and of the speech, and the samples.
fn speak(base: &Base) -> Result<(f64, f64, f64, Vec<f32>)> {
    let voice = Voice::unadapted(base);
    let say = || {
        pollster::block_on(speak_async(&voice, TEXT, &SpeakOptions::default(), &Silent, async |_, _| true))
    };
    say()?;
    let begun = Instant::now();
    let speech = say()?;
    let mel_seconds = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let samples = base.vocoder.vocode(&speech.mel);
    let vocoder_seconds = begun.elapsed().as_secs_f64();
    Ok((mel_seconds, vocoder_seconds, samples.len() as f64 / f64::from(base.sample_rate_hz()), samples))
}

/// The measurements of a fine-tuning.
struct Trained {
    s_per_iter: f64,
    /// The median of all iterations. Most read nothing back, and return when their work is queued.
    dispatch_s: f64,
    /// The megabytes that the allocator of the device holds at iteration [`STEADY_ITERATION`], and after the last.
    held_early_mb: Option<f64>,
    held_mb: Option<f64>,
}

/// The iteration from which memory should be constant.
const STEADY_ITERATION: usize = 20;

fn train(base: &Base, clips: &[Clip], iterations: usize, precision: Precision) -> Result<Trained> {
    // Without rehearsal, as in the comparison with other implementations.
    let options = CloneOptions {
        iterations: WARM_UP + iterations,
        rehearsal: 0.0,
        precision,
        ..CloneOptions::default()
    };
    let mut tuner = pollster::block_on(FineTuner::start_async(base, clips, options))?;
    for _ in 0..WARM_UP {
        pollster::block_on(tuner.step_async())?;
    }
    // The last warm-up iteration reads its loss, so that nothing is queued.
    let begun = Instant::now();
    let mut each = Vec::new();
    let held = || base.device.memory_pool_usage().map(|usage| usage.bytes_reserved as f64 / 1e6);
    let mut held_early_mb = None;
    for iteration in WARM_UP + 1..=WARM_UP + iterations {
        let begun = Instant::now();
        pollster::block_on(tuner.step_async())?;
        each.push(begun.elapsed().as_secs_f64());
        if iteration == STEADY_ITERATION {
            held_early_mb = held();
        }
    }
    let s_per_iter = begun.elapsed().as_secs_f64() / iterations as f64;
    each.sort_by(f64::total_cmp);
    Ok(Trained { s_per_iter, dispatch_s: each[each.len() / 2], held_early_mb, held_mb: held() })
}

/// Returns the share that statistics of magnitudes every [`WatchConfig::statistics_every`] steps add to a step of a pretraining: the longer step that keeps its
/// outputs, and the statistics of weights, gradients and outputs. Each time is the shortest of several interleaved runs, to exclude other work on the machine.
fn statistics_share(base: &Base, precision: Precision) -> Result<f64> {
    const RUNS: usize = 10;
    let (plan, config) = (ComputePlan::from_precision(precision), base.config().clone());
    let side = Side { model: &base.model, device: &base.device, name: "", plan };
    let AdvancedCloneOptions { batch, window, .. } = AdvancedCloneOptions::default();
    let features = sample_features(config.mels);
    let step = StepConfig { config, batch, window, mode: Mode::Train, seed: 1 };
    let (mut plain, mut kept, mut counted) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
    let seconds = |begun: Instant| {
        base.device.sync().expect("the device answers");
        begun.elapsed().as_secs_f64()
    };
    for _ in 0..RUNS {
        let begun = Instant::now();
        side.gradients(&features, &step, None)?;
        plain = plain.min(seconds(begun));
        let (probe, begun) = (Probe::for_outputs(), Instant::now());
        let (model, gradients) = side.gradients(&features, &step, Some(&probe))?;
        kept = kept.min(seconds(begun));
        let begun = Instant::now();
        pollster::block_on(output_statistics(probe.take()))?;
        pollster::block_on(module_statistics(&model, &gradients))?;
        counted = counted.min(seconds(begun));
    }
    Ok(((kept - plain).max(0.0) + counted) / WatchConfig::default().statistics_every as f64 / plain)
}

/// Returns the seconds of an iteration without fused operations.
fn train_op_by_op(base: &Base, iterations: usize) -> f64 {
    let AdvancedCloneOptions { batch, window, .. } = AdvancedCloneOptions::default();
    let mut training = OpByOp::new(base.config(), batch, window, &base.device);
    training.step();
    let begun = Instant::now();
    (0..iterations).for_each(|_| training.step());
    begun.elapsed().as_secs_f64() / iterations as f64
}

/// Returns a lower bound of an iteration's seconds: the time of its matmuls, with recurrences as parallel ones. Convolutions on the CPU need fewer multiplications
/// (Winograd).
fn gemms(
    config: &TacotronConfig,
    device: &Device,
    precision: Precision,
    matmul: impl Fn(Tensor<2>, Tensor<2>) -> Tensor<2>,
) -> f64 {
    const RUNS: usize = 5;
    let AdvancedCloneOptions { batch, window, .. } = AdvancedCloneOptions::default();
    let (steps, hidden) = (batch * window / config.reduction, config.decoder_width);
    let context = config.reduction * config.context_width() + config.speaker_width;
    let edge = |layer: usize| {
        if layer == 0 || layer == config.postnet_layers { config.mels } else { config.postnet_width }
    };
    let mut matmuls: Vec<[usize; 3]> =
        [context, hidden, hidden, hidden].map(|inputs| [steps, inputs, 4 * hidden]).into();
    matmuls.push([steps, hidden + context, config.reduction * config.mels]);
    matmuls.extend(
        (0..config.postnet_layers)
            .map(|layer| [batch * window, config.postnet_kernel * edge(layer), edge(layer + 1)]),
    );
    let random = |rows, columns| {
        operand(Tensor::<2>::random([rows, columns], Distribution::Normal(0.0, 1.0), device), precision)
    };
    let operands: Vec<_> = matmuls
        .iter()
        .map(|&[rows, inputs, outputs]| {
            (random(rows, inputs), random(inputs, outputs), random(rows, outputs))
        })
        .collect();
    let run = || {
        let begun = Instant::now();
        for (input, weight, grad) in &operands {
            let output = matmul(input.clone(), weight.clone());
            let weight_gradient = matmul(input.clone().transpose(), grad.clone());
            let input_gradient = matmul(grad.clone(), weight.clone().transpose());
            drop((output, weight_gradient, input_gradient));
        }
        device.sync().expect("the device answers");
        begun.elapsed().as_secs_f64()
    };
    (0..=RUNS).map(|_| run()).skip(1).fold(f64::INFINITY, f64::min)
}

/// Returns the peak resident memory of the process, if the system reports it.
fn peak_memory_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kilobytes| kilobytes / 1024.0)
}
