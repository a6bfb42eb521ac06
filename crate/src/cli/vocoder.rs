//! `ownvoice train-vocoder` and `ownvoice vocode`.

use clap::Args;
use indicatif::ProgressBar;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::{fs, path::PathBuf};

use super::{
    base,
    curve::plot,
    device::DeviceName,
    say::{VocoderName, choose},
};
use crate::{
    Error, Result,
    audio::{
        self,
        mel::{MelConfig, MelExtractor},
        resample::resample,
        wav,
    },
    corpus::{Recording, label, layouts},
    evaluate::{
        Difference, difference,
        speaker::{SpeakerStats, distance},
    },
    files,
    model::vocoder::{SourceFilter, VocoderConfig},
    synth::{SpeakOptions, speak::frames},
    train::{
        run::{Recipe, RunConfig, curve_path},
        vocoder::{Take, train},
    },
    vocoder::NeuralVocoder,
    voice::{Base, Voice},
    weights::{apply, deserialize},
};

#[derive(Args)]
pub struct TrainVocoderArguments {
    /// Corpus folder
    #[arg(long)]
    pub corpus: PathBuf,
    /// File for the weights
    #[arg(long)]
    pub out: PathBuf,
    /// Learn from what this base makes of the corpus' words as well: that is what the vocoder will be fed
    #[arg(long)]
    pub base: Option<PathBuf>,
    /// Start from these weights
    #[arg(long)]
    pub from: Option<PathBuf>,
    /// Folder for checkpoint and curve
    #[arg(long)]
    pub run: PathBuf,
    #[arg(long, value_enum, default_value = "cpu")]
    pub device: DeviceName,
    #[arg(long, default_value_t = Recipe::vocoder().steps)]
    pub steps: usize,
    /// Learning rate to begin with
    #[arg(long, default_value_t = Recipe::vocoder().rate_start)]
    pub rate: f64,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Go on from the checkpoint in the folder for runs
    #[arg(long)]
    pub resume: bool,
}

pub fn train_vocoder(arguments: &TrainVocoderArguments) -> Result<()> {
    files::check_writable(&arguments.out)?;
    let device = arguments.device.open()?;
    let extractor = MelExtractor::new(MelConfig::speech_16k());
    let recordings: Vec<Recording> = layouts::load(&arguments.corpus)?.collect();
    let bar = ProgressBar::new(recordings.len() as u64).with_message("reading");
    let read = |(index, recording): (usize, &Recording)| {
        bar.inc(1);
        take(recording, arguments.seed + index as u64, &extractor)
    };
    let mut takes = recordings.par_iter().enumerate().map(read).collect::<Result<Vec<Take>>>()?;
    bar.finish_and_clear();
    if let Some(folder) = &arguments.base {
        let base = base::load(folder, &device)?;
        let bar = ProgressBar::new(recordings.len() as u64).with_message("spoken by the base");
        for recording in bar.wrap_iter(recordings.iter()) {
            takes.extend(spoken(&base, recording, &extractor)?);
        }
    }
    println!("{} takes of {} recordings", takes.len(), recordings.len());
    let config = VocoderConfig::small();
    let recipe = Recipe {
        steps: arguments.steps,
        seed: arguments.seed,
        rate_start: arguments.rate,
        ..Recipe::vocoder()
    };
    let run_config = RunConfig {
        recipe,
        directory: arguments.run.clone(),
        resume: arguments.resume,
        device: device.autodiff(),
    };
    run_config.device.seed(run_config.recipe.seed);
    let mut blank = SourceFilter::new(&config, &run_config.device);
    if let Some(path) = &arguments.from {
        let (weights, _) =
            deserialize(&fs::read(path).map_err(Error::io(path))?).map_err(Error::checkpoint_corrupt)?;
        blank = apply(blank, &weights).map_err(Error::checkpoint_corrupt)?;
    }
    let (model, held_out_loss) = train(&takes, extractor.config(), &config, blank, &run_config)?;
    let bytes = pollster::block_on(NeuralVocoder::serialize(&model, &config))?;
    base::write_part(&arguments.out, &bytes)?;
    println!(
        "{}: {:.1} MB, held-out loss {held_out_loss:.4}",
        arguments.out.display(),
        bytes.len() as f32 / 1e6
    );
    plot(&curve_path(&arguments.run), &arguments.out.with_extension("svg"))
}

#[derive(Args)]
pub struct VocodeArguments {
    /// A recording
    #[arg(long = "in")]
    input: PathBuf,
    /// The WAV file to write
    #[arg(long)]
    out: PathBuf,
    /// Folder of the base voice
    #[arg(long, default_value = "models/base")]
    base: PathBuf,
    /// [default: the base's own]
    #[arg(long, value_enum)]
    vocoder: Option<VocoderName>,
}

/// Makes a recording again from its spectrogram alone: what is lost is the vocoder's doing.
pub fn vocode(arguments: &VocodeArguments) -> Result<()> {
    files::check_writable(&arguments.out)?;
    let base = base::load(&arguments.base, &DeviceName::Cpu.open()?)?;
    let vocoder = choose(&base, arguments.vocoder)?;
    let config = base.mel_config();
    let clip = files::read_wav(&arguments.input)?;
    let samples = resample(&clip.samples, clip.sample_rate_hz, config.sample_rate_hz)?;
    let mel =
        MelExtractor::new(config.clone()).extract(&audio::level::normalize(&samples, audio::SPEECH_LEVEL_DB));
    let made = vocoder.vocode(&mel);
    let file = wav::write_with_origin(&made, config.sample_rate_hz, &wav::Origin::resynthesis());
    files::write(&arguments.out, file)?;
    println!(
        "{}: {:.2} s through {}",
        arguments.out.display(),
        made.len() as f32 / config.sample_rate_hz as f32,
        vocoder.name()
    );
    let Difference { mcd_db, logf0_rmse, voicing_error } =
        difference(&samples, &made, config.sample_rate_hz)?;
    let stats = |samples: &[f32]| SpeakerStats::from_audio(samples, config.sample_rate_hz);
    let distance = distance(&stats(&samples)?, &stats(&made)?);
    println!(
        "mcd_db {mcd_db:.2}, logf0_rmse {logf0_rmse:.3}, voicing_error {voicing_error:.3}, speaker distance {distance:.3}"
    );
    Ok(())
}

/// A recording with its own spectrogram. Every other one is played faster or slower: a vocoder has to cover any voice.
fn take(recording: &Recording, seed: u64, extractor: &MelExtractor) -> Result<Take> {
    const SPEEDS: std::ops::Range<f32> = 0.8..1.25;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let speed = if random.random_bool(0.5) { 1.0 } else { random.random_range(SPEEDS) };
    Ok(Take::new(recording.samples_at_speed(speed, extractor.config().sample_rate_hz)?, None, extractor))
}

/// A recording with the spectrogram that the base makes of its words in its timing. `None` where the base lacks the speaker or the recording lacks phone times.
fn spoken(base: &Base, recording: &Recording, extractor: &MelExtractor) -> Result<Option<Take>> {
    let mel = extractor.config();
    let Some(speaker) = base.manifest.speakers.iter().position(|name| *name == recording.speaker) else {
        return Ok(None);
    };
    let samples = recording.samples(mel.sample_rate_hz)?;
    let seconds = samples.len() as f32 / mel.sample_rate_hz as f32;
    let Ok(labels) = label(&base.phonemizer, &recording.text, recording.phones.as_deref(), seconds) else {
        return Ok(None);
    };
    let Some(durations) = labels.durations(mel.frames(samples.len()), mel.frame_seconds()) else {
        return Ok(None);
    };
    let made = pollster::block_on(frames(
        base,
        &Voice::of_base_speaker(base, speaker),
        &labels.symbols,
        &durations,
        &SpeakOptions::default(),
    ))?;
    Ok(Some(Take::new(samples, Some(made), extractor)))
}
