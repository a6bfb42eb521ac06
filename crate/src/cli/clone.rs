//! `ownvoice clone`.

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::path::PathBuf;

use super::{base, device::DeviceName};
use crate::{
    Result,
    corpus::layouts,
    files,
    model::pitch::Intonation,
    nn::Precision,
    train::{Clip, CloneOptions, FineTuner, ValidationMetrics},
    voice::{Base, Voice},
};

#[derive(Args)]
pub struct CloneArguments {
    /// Folder of the base voice
    #[arg(long, default_value = "models/base")]
    base: PathBuf,
    /// Recordings: `metadata.csv` of `id|text` and `wavs/id.wav`
    #[arg(long)]
    clips: PathBuf,
    /// The voice file to write
    #[arg(long)]
    out: PathBuf,
    #[arg(long, default_value_t = CloneOptions::default().iterations)]
    iterations: usize,
    #[arg(long, value_enum, default_value = "cpu")]
    device: DeviceName,
    /// Mixed: products in half precision, where the device has it
    #[arg(long, value_enum, default_value = "f32")]
    precision: Precision,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Use no more speech than this
    #[arg(long)]
    seconds: Option<f32>,
    /// Learning rate of decoder and postnet
    #[arg(long, default_value_t = CloneOptions::default().rate)]
    rate: f64,
    /// How much the base's own voices count beside the new one, so that the model does not forget how to speak; 0: nothing is rehearsed
    #[arg(long, default_value_t = CloneOptions::default().rehearsal)]
    rehearsal: f32,
}

/// Reads the clips of an LJSpeech-style folder, up to a number of seconds.
pub fn read_clips(directory: &std::path::Path, seconds: Option<f32>) -> Result<Vec<Clip>> {
    let mut clips = Vec::new();
    let mut total = 0.0;
    for recording in layouts::load(directory)? {
        if seconds.is_some_and(|limit| total >= limit) {
            break;
        }
        let audio = files::read_wav(&recording.wav)?;
        total += audio.seconds();
        clips.push(Clip { audio, text: recording.text });
    }
    Ok(clips)
}

pub fn clone(arguments: &CloneArguments) -> Result<()> {
    files::check_writable(&arguments.out)?;
    let device = arguments.device.open()?;
    let base = base::load(&arguments.base, &device)?;
    let clips = read_clips(&arguments.clips, arguments.seconds)?;
    let options = CloneOptions {
        iterations: arguments.iterations,
        seed: arguments.seed,
        rate: arguments.rate,
        rehearsal: arguments.rehearsal,
        precision: arguments.precision,
        ..CloneOptions::default()
    };
    println!("aligning {} clips", clips.len());
    let voice = learn(&base, &clips, options, &mut |line| println!("{line}"))?;
    let bytes = pollster::block_on(voice.save_async(&base))?;
    files::write(&arguments.out, &bytes)?;
    println!(
        "{}: {:.1} MB, duration scale {:.2}",
        arguments.out.display(),
        bytes.len() as f32 / 1e6,
        voice.duration_scale
    );
    if let Some(Intonation { mean_hz, spread }) = voice.intonation {
        println!("mean pitch {mean_hz:.0} Hz, its spread {spread:.2} times the base's");
    }
    Ok(())
}

/// Fine-tunes to the end, with a bar. `say` is given a line at each validation, and one at the end.
pub fn learn(base: &Base, clips: &[Clip], options: CloneOptions, say: &mut dyn FnMut(&str)) -> Result<Voice> {
    let bar = ProgressBar::new(options.iterations as u64).with_style(
        ProgressStyle::with_template("{elapsed_precise} {bar:30} {pos}/{len} {msg} ({eta} left)")
            .expect("a valid template"),
    );
    let mut tuner = pollster::block_on(FineTuner::start_async(base, clips, options))?;
    loop {
        let step = pollster::block_on(tuner.step_async())?;
        bar.set_length(step.iterations as u64);
        bar.set_position(step.iteration as u64);
        bar.set_message(format!("loss {:.3}", step.loss));
        if let Some(ValidationMetrics { loss, similarity, phoneme_error_rate, variance_scale }) =
            step.validation
        {
            let held_out = format!(
                "held out {loss:.4}, similarity {similarity:.3}, phoneme errors {phoneme_error_rate:.2}, variance scale {variance_scale:.2?}"
            );
            bar.suspend(|| {
                say(&format!(
                    "iteration {}: loss {:.4}, {held_out}, {:.1} s",
                    step.iteration, step.loss, step.seconds
                ))
            });
        }
        if let Some(stop) = step.stop {
            bar.finish_and_clear();
            say(&format!("{} iterations in {:.1} s; ended by {}", step.iteration, step.seconds, stop.name()));
            if step.overflows > 0 {
                say(&format!("{} iterations were left out: half precision overflowed", step.overflows));
            }
            break;
        }
    }
    pollster::block_on(tuner.finish_async())
}
