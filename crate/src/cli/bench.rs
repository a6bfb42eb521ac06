//! `ownvoice bench`: seconds an iteration and speed of speech on this machine, as rows for `cargo xtask bench`.

use clap::Args;
use serde_json::{Value, json};
use std::{path::PathBuf, time::Instant};

use super::{base, device::DeviceName, noise, op_by_op::OpByOp};
use crate::{
    Result,
    nn::Precision,
    synth::{SpeakOptions, speak_async},
    train::{Clip, CloneOptions, FineTuner},
    vocoder::Vocoder,
    voice::{Base, Voice},
};

#[derive(Args)]
pub struct BenchArguments {
    /// Folder of the base voice
    #[arg(long, default_value = "models/base")]
    base: PathBuf,
    #[arg(long, value_enum, default_value = "cpu")]
    device: DeviceName,
    /// Mixed: products in half precision, where the device has it
    #[arg(long, value_enum, default_value = "f32")]
    precision: Precision,
    /// Iterations that are timed, after five that are not
    #[arg(long, default_value_t = 20)]
    iterations: usize,
    /// Time a training step of the speaker encoder instead, with its noise made on the device and on the host
    #[arg(long)]
    speaker_encoder: bool,
    #[arg(long)]
    json: bool,
}

const WARM_UP: usize = 5;
const TEXT: &str = "The tide came in while we were talking, and nobody noticed until the boats began to move.";

/// Passes spectrograms through without samples, so that the model is timed alone.
struct Silent;

impl Vocoder for Silent {
    fn name(&self) -> &'static str {
        "silent"
    }

    fn vocode(&self, _mel: &crate::audio::mel::Mel) -> Vec<f32> {
        Vec::new()
    }
}

pub fn bench(arguments: &BenchArguments) -> Result<()> {
    let device = arguments.device.open()?;
    if arguments.speaker_encoder {
        print(&noise::rows(&device), arguments.json);
        return Ok(());
    }
    let base = base::load(&arguments.base, &device)?;
    let (mel_seconds, vocoder_seconds, speech_seconds, samples) = speak(&base)?;
    let clip = Clip { samples, sample_rate_hz: base.mel_config().sample_rate_hz, text: TEXT.into() };
    let s_per_iter = train(&base, &[clip], arguments.iterations, arguments.precision)?;
    let memory_mb = peak_memory_mb();
    let op_by_op = train_op_by_op(&base, arguments.iterations.div_ceil(4));
    let device = format!("{:?}", arguments.device).to_lowercase();
    let mixed = if arguments.precision == Precision::Mixed { ".mixed" } else { "" };
    let name = format!("train.native.{device}{mixed}.s_per_iter");
    let mut rows = vec![
        json!({"name": name, "value": s_per_iter, "unit": "s (small, 8 x 128 frames)"}),
        json!({"name": "train.native.op_by_op.s_per_iter", "value": op_by_op, "unit": "s (the same from burn's own layers)"}),
        json!({"name": "say.rtf.mel", "value": mel_seconds / speech_seconds, "unit": "s a second of speech"}),
        json!({"name": "say.rtf.vocoder", "value": vocoder_seconds / speech_seconds, "unit": "s a second of speech"}),
    ];
    if let Some(megabytes) = memory_mb {
        rows.push(json!({"name": "train.peak_memory_mb", "value": megabytes, "unit": "MB (whole process)"}));
    }
    print(&rows, arguments.json);
    Ok(())
}

fn print(rows: &[Value], as_json: bool) {
    if as_json {
        println!("{}", serde_json::to_string(rows).expect("plain data"));
        return;
    }
    for row in rows {
        println!("{:<48} {:>9.4} {}", row["name"].as_str().unwrap_or(""), row["value"].as_f64().unwrap_or(0.0), row["unit"].as_str().unwrap_or(""));
    }
}

/// Seconds for the spectrogram, for its samples, of the speech; and the samples.
fn speak(base: &Base) -> Result<(f64, f64, f64, Vec<f32>)> {
    let voice = Voice::unadapted(base);
    let say = || pollster::block_on(speak_async(base, &voice, TEXT, &SpeakOptions::default(), &Silent, async |_, _| true));
    say()?;
    let begun = Instant::now();
    let speech = say()?;
    let mel_seconds = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let samples = base.vocoder.vocode(&speech.mel);
    let vocoder_seconds = begun.elapsed().as_secs_f64();
    Ok((mel_seconds, vocoder_seconds, samples.len() as f64 / f64::from(speech.sample_rate_hz), samples))
}

fn train(base: &Base, clips: &[Clip], iterations: usize, precision: Precision) -> Result<f64> {
    let options = CloneOptions { iterations: WARM_UP + iterations, precision, ..CloneOptions::default() };
    let mut tuner = pollster::block_on(FineTuner::start_async(base, clips, options))?;
    let mut begun = Instant::now();
    for iteration in 0..WARM_UP + iterations {
        if iteration == WARM_UP {
            begun = Instant::now();
        }
        pollster::block_on(tuner.step_async())?;
    }
    Ok(begun.elapsed().as_secs_f64() / iterations as f64)
}

/// Seconds of an iteration that fuses nothing.
fn train_op_by_op(base: &Base, iterations: usize) -> f64 {
    let CloneOptions { batch, window, .. } = CloneOptions::default();
    let mut training = OpByOp::new(base.config(), batch, window, &base.device);
    training.step();
    let begun = Instant::now();
    (0..iterations).for_each(|_| training.step());
    base.device.sync().expect("the device answers");
    begun.elapsed().as_secs_f64() / iterations as f64
}

/// The process's highest resident memory, where the system tells.
fn peak_memory_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kilobytes| kilobytes / 1024.0)
}
