//! `ownvoice train-vocoder` and `ownvoice vocode`.

use std::path::PathBuf;

use burn::prelude::Device;
use clap::Args;
use serde_json::json;

use super::{
    console::Console,
    data_loader::DataLoaderArguments,
    device::{DeviceArguments, PlanArguments},
    output::{self, OutputKind},
    ranks::RanksArguments,
    say::{VocoderName, choose},
    training::print,
};
use crate::{
    evaluate::{Difference, difference},
    learn::hyperparameters::{Hyperparameters, RunConfig},
    vocoder::from_files::{SMOOTHING, TrainVocoderConfig},
};
use burn_fused::{ComputePlan, ranks::Ranks};
use ownvoice::{
    Result,
    audio::{
        self, Audio,
        mel::MelExtractor,
        resample::resample,
        speaker::{SpeakerStats, distance},
        wav,
    },
    files,
    voice::Base,
};

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice train-vocoder --corpus work/corpus --out vocoder.safetensors
  ownvoice train-vocoder --corpus work/corpus --base models/base --out models/base/vocoder.safetensors --resume")]
pub struct TrainVocoderArguments {
    /// Corpus folder
    #[arg(long)]
    corpus: PathBuf,
    /// File for the weights
    #[arg(long)]
    out: PathBuf,
    /// Base whose spectrograms of the same words are learned from too, because the vocoder will receive such spectrograms
    #[arg(long)]
    base: Option<PathBuf>,
    /// Initial weights; those of a vocoder with a lower sample rate are widened
    #[arg(long)]
    from: Option<PathBuf>,
    /// Largest standard deviation of the random smoothing of the spectrograms, in frames and channels; 0 for none
    #[arg(long, default_value_t = SMOOTHING)]
    smoothing: f32,
    /// Folder for checkpoint and loss curve [default: OUT with the ending .run]
    #[arg(long)]
    run: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArguments,
    #[command(flatten)]
    plan: PlanArguments,
    /// Number of training steps
    #[arg(long, default_value_t = Hyperparameters::vocoder().steps)]
    steps: usize,
    /// Initial learning rate
    #[arg(long, default_value_t = Hyperparameters::vocoder().rate_start)]
    rate: f64,
    /// Seed of the random numbers; the same seed, input and device give the same result
    #[arg(long, default_value_t = Hyperparameters::vocoder().seed)]
    seed: u64,
    /// Resume from the checkpoint in the run folder
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    loader: DataLoaderArguments,
    #[command(flatten)]
    ranks: RanksArguments,
}

pub fn train_vocoder(arguments: &TrainVocoderArguments, ranks: &Ranks, console: &Console) -> Result<()> {
    output::check(&arguments.out, OutputKind::Weights, console)?;
    let trained = arguments.ranks.train(arguments.device, ranks, console, |ranks, device, report| {
        crate::vocoder::from_files::train_vocoder(&config(arguments, ranks, device)?, report)
    })?;
    print(&trained, console);
    Ok(())
}

fn config(arguments: &TrainVocoderArguments, ranks: &Ranks, device: &Device) -> Result<TrainVocoderConfig> {
    let TrainVocoderArguments {
        corpus,
        out,
        base,
        from,
        smoothing,
        run,
        steps,
        rate,
        seed,
        resume,
        loader,
        ..
    } = arguments;
    let compute = arguments.plan.over(ComputePlan::for_vocoder)?;
    let hyperparameters = Hyperparameters {
        steps: *steps,
        seed: *seed,
        rate_start: *rate,
        compute,
        ..Hyperparameters::vocoder()
    };
    let directory = run.clone().unwrap_or_else(|| out.with_extension("run"));
    Ok(TrainVocoderConfig {
        corpus: corpus.clone(),
        out: out.clone(),
        base: base.clone(),
        from: from.clone(),
        smoothing: *smoothing,
        training: RunConfig {
            resume: *resume,
            loader: loader.get(),
            ranks: ranks.clone(),
            ..RunConfig::new(hyperparameters, directory, device)
        },
    })
}

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice vocode recording.wav --out again.wav
  ownvoice vocode recording.wav --out rough.wav --vocoder griffin-lim --json")]
pub struct VocodeArguments {
    /// Recording
    recording: PathBuf,
    /// The WAV file to write
    #[arg(long)]
    out: PathBuf,
    /// Folder of the base voice
    #[arg(long, default_value = "models/base")]
    base: PathBuf,
    /// Vocoder [default: that of the base]
    #[arg(long, value_enum)]
    vocoder: Option<VocoderName>,
}

/// Resynthesises a recording from its spectrogram and measures the difference, which is due to the vocoder.
pub fn vocode(arguments: &VocodeArguments, console: &Console) -> Result<()> {
    output::check(&arguments.out, OutputKind::Wav, console)?;
    let base = Base::open(&arguments.base, &Device::flex())?;
    let vocoder = choose(&base, arguments.vocoder)?;
    let config = base.mel_config();
    let clip = files::read_audio(&arguments.recording)?;
    let samples = resample(&clip.samples, clip.sample_rate_hz, config.sample_rate_hz)?;
    let mel =
        MelExtractor::new(config.clone()).extract(&audio::level::normalize(&samples, audio::SPEECH_LEVEL_DB));
    let resynthesised = vocoder.vocode(&mel);
    let rate_hz = vocoder.sample_rate_hz();
    let file = wav::write_with_origin(&resynthesised, rate_hz, &wav::Origin::resynthesis());
    output::write(&arguments.out, &file)?;
    let recorded = Audio { samples, sample_rate_hz: config.sample_rate_hz };
    let resynthesised = Audio { samples: resynthesised, sample_rate_hz: rate_hz };
    let seconds = resynthesised.seconds();
    let Difference { mcd_db, logf0_rmse, voicing_error } = difference(&recorded, &resynthesised)?;
    let stats = |audio: &Audio| SpeakerStats::from_audio(&audio.samples, audio.sample_rate_hz);
    let distance = distance(&stats(&recorded)?, &stats(&resynthesised)?);
    let json = json!({
        "path": arguments.out,
        "seconds": seconds,
        "sample_rate_hz": rate_hz,
        "vocoder": vocoder.name(),
        "mcd_db": mcd_db,
        "logf0_rmse": logf0_rmse,
        "voicing_error": voicing_error,
        "speaker_distance": distance,
    });
    let text = format!(
        "{}: {seconds:.2} s through {}\nmcd_db {mcd_db:.2}, logf0_rmse {logf0_rmse:.3}, voicing_error {voicing_error:.3}, speaker distance {distance:.3}",
        arguments.out.display(),
        vocoder.name()
    );
    console.result(&json, text);
    Ok(())
}
