//! `ownvoice lips`: speech from silent videos of a face.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;

use super::{
    console::Console,
    device::DeviceArguments,
    output::{self, Made},
    training::TrainingArguments,
};
use crate::{
    evaluate::intelligibility::Intelligibility,
    learn::hyperparameters::Hyperparameters,
    lips::{
        corpus::{LipCorpusConfig, LipTexts, LipVoices, make_lip_corpus},
        evaluate::{LipEvaluateConfig, evaluate_lips},
        prepare::{LipPrepareConfig, prepare},
        say_video::speak_video,
        train::{LipPreset, LipTrainConfig, train_lips},
        tune::{LipTuneConfig, tune_lips},
    },
};
use burn_fused::ranks::Ranks;
use ownvoice::{
    Result,
    audio::wav,
    files,
    lips::{LipBase, LipTuneOptions},
};

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice lips corpus --out drawn --speakers 8 --sentences 40
  ownvoice lips prepare drawn --out features
  ownvoice lips train --data features --out models/lips
  ownvoice lips tune --data me --base models/lips --out models/my-lips
  ownvoice lips say silent.mp4 --base models/lips --out speech.wav")]
pub struct LipsVerb {
    #[command(subcommand)]
    pub command: LipsCommand,
}

#[derive(Subcommand)]
pub enum LipsCommand {
    /// Turn videos into features to train on: faces of 96 x 96 pixels at 25 a second, and the mels of their sound
    Prepare(PrepareArguments),
    /// Make a corpus of drawn faces that speak with the voices of a base
    Corpus(CorpusArguments),
    /// Train a model of lips on features
    Train(TrainArguments),
    /// Fine-tune a base of lips to one face and voice, on about a minute of their videos
    Tune(TuneArguments),
    /// Speak what a silent video shows
    Say(SayArguments),
    /// Speak videos that have sound, and compare the speech with it
    Evaluate(EvaluateArguments),
}

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice lips prepare Lip2Wav/Dataset --out features
  ownvoice lips prepare drawn --out features --json")]
pub struct PrepareArguments {
    /// Folder of videos: a folder a speaker, with videos in it or in its intervals/*/ (the layout of the Lip2Wav sets)
    videos: PathBuf,
    /// Folder for the features
    #[arg(long)]
    out: PathBuf,
}

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice lips corpus --out drawn
  ownvoice lips corpus --out drawn --speakers 2 --sentences 5 --seed 7")]
pub struct CorpusArguments {
    /// Folder to make it in
    #[arg(long)]
    out: PathBuf,
    /// Folder of the base voice
    #[arg(long, default_value = "models/base")]
    base: PathBuf,
    /// Speakers, each with a voice of the base
    #[arg(long, default_value_t = 8, conflicts_with = "voices")]
    speakers: usize,
    /// A speaker for each of these voices of the base, separated by commas [default: voices from all over its table]
    #[arg(long, value_delimiter = ',')]
    voices: Vec<String>,
    /// Sentences to say
    ///
    /// By each speaker.
    #[arg(long, default_value_t = 40)]
    sentences: usize,
    /// Faces of each speaker, one after the other [default: as many as sentences]
    #[arg(long)]
    faces: Option<usize>,
    /// What is said
    #[arg(long, value_enum, default_value = "commands")]
    texts: TextsName,
    /// The same seed, input and device give the same result
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// What drawn faces say.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum TextsName {
    /// Sentences of few words in a fixed order
    Commands,
    /// Those of them that no training corpus has
    HeldOutCommands,
    /// Sentences of the lexicon's words
    Sentences,
}

/// Sizes of the model.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum PresetName {
    /// The paper's
    Lips,
    /// For two CPU cores
    LipsSmall,
    /// For tests
    Tiny,
}

impl PresetName {
    pub fn get(self) -> LipPreset {
        match self {
            Self::Lips => LipPreset::Lips,
            Self::LipsSmall => LipPreset::LipsSmall,
            Self::Tiny => LipPreset::Tiny,
        }
    }
}

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice lips train --data features --out models/lips
  ownvoice lips train --data features --out models/lips --preset lips --device cuda --precision mixed --resume")]
pub struct TrainArguments {
    /// Features that `ownvoice lips prepare` wrote
    #[arg(long)]
    data: PathBuf,
    /// Folder for the base of lips
    #[arg(long)]
    out: PathBuf,
    /// Folder of the base whose vocoder speaks
    #[arg(long, default_value = "models/base")]
    base: PathBuf,
    /// Sizes of the model
    #[arg(long, value_enum, default_value = "lips-small")]
    preset: PresetName,
    /// Steps of the training
    #[arg(long, default_value_t = Hyperparameters::lips().steps)]
    steps: usize,
    /// Windows of a batch
    #[arg(long, default_value_t = Hyperparameters::lips().batch)]
    batch: usize,
    /// Frames of a window
    ///
    /// 80 a second.
    #[arg(long, default_value_t = Hyperparameters::lips().window)]
    window: usize,
    /// Learning rate at the start
    ///
    /// It falls to a twentieth.
    #[arg(long, default_value_t = Hyperparameters::lips().rate_start)]
    rate: f64,
    /// The same seed, input and device give the same result
    #[arg(long, default_value_t = Hyperparameters::lips().seed)]
    seed: u64,
    #[command(flatten)]
    training: TrainingArguments,
}

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice lips tune --data me --base models/lips --out models/my-lips
  ownvoice lips tune --data features --of flite-awb --base models/lips --out tuned --iterations 100 --json")]
pub struct TuneArguments {
    /// Features that `ownvoice lips prepare` wrote
    #[arg(long)]
    data: PathBuf,
    /// Folder of the base of lips
    #[arg(long)]
    base: PathBuf,
    /// Folder for the base that speaks as one speaker
    #[arg(long)]
    out: PathBuf,
    /// Whose videos [default: the only speaker of the features]
    #[arg(long = "of")]
    speaker: Option<String>,
    /// Iterations of the training
    ///
    /// At most: it ends early where it no longer gains.
    #[arg(long, default_value_t = LipTuneOptions::default().iterations)]
    iterations: usize,
    /// Learning rate at the start
    #[arg(long, default_value_t = LipTuneOptions::default().rate)]
    rate: f64,
    /// The same seed, input and device give the same result
    #[arg(long, default_value_t = LipTuneOptions::default().seed)]
    seed: u64,
    #[command(flatten)]
    device: DeviceArguments,
}

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice lips say silent.mp4 --base models/lips --out speech.wav
  ownvoice lips say silent.mp4 --base models/lips --speaker drawn-003 --out speech.wav --json")]
pub struct SayArguments {
    /// The video; its sound, if it has any, is not listened to
    video: PathBuf,
    /// Folder of the base of lips
    #[arg(long)]
    base: PathBuf,
    /// Whose voice speaks [default: the first of the base]
    #[arg(long)]
    speaker: Option<String>,
    /// The WAV file to write
    #[arg(long)]
    out: PathBuf,
    #[command(flatten)]
    device: DeviceArguments,
}

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice lips evaluate drawn-held-out --base models/lips --wavs spoken
  ownvoice lips evaluate Lip2Wav/Dataset --base models/lips --wavs spoken --json")]
pub struct EvaluateArguments {
    /// Folder of videos, in the layout that `lips prepare` reads; none of them should have been trained on
    videos: PathBuf,
    /// Folder of the base of lips
    #[arg(long)]
    base: PathBuf,
    /// Folder for what is compared, as WAV files: speech of the videos, of still faces and of other videos
    #[arg(long)]
    wavs: PathBuf,
    #[command(flatten)]
    device: DeviceArguments,
}

pub fn lips(verb: &LipsVerb, ranks: &Ranks, console: &Console) -> Result<()> {
    match &verb.command {
        LipsCommand::Prepare(PrepareArguments { videos, out }) => {
            output::check(out, Made::LipFeatures, console)?;
            let config = LipPrepareConfig { videos: videos.clone(), out: out.clone() };
            let prepared = prepare(&config, console)?;
            let text = format!(
                "{} tracks of {} speakers in {} videos, {:.1} min; {} stretches left out",
                prepared.tracks,
                prepared.speakers,
                prepared.videos,
                prepared.seconds / 60.0,
                prepared.left_out.len()
            );
            console.result(&prepared, text);
        }
        LipsCommand::Corpus(CorpusArguments {
            out,
            base,
            speakers,
            voices,
            sentences,
            faces,
            texts,
            seed,
        }) => {
            output::check(out, Made::Corpus, console)?;
            let config = LipCorpusConfig {
                out: out.clone(),
                base: base.clone(),
                voices: if voices.is_empty() {
                    LipVoices::Spread(*speakers)
                } else {
                    LipVoices::Named(voices.clone())
                },
                sentences: *sentences,
                faces: faces.unwrap_or(*sentences),
                texts: match texts {
                    TextsName::Commands => LipTexts::Commands,
                    TextsName::HeldOutCommands => LipTexts::HeldOutCommands,
                    TextsName::Sentences => LipTexts::Sentences,
                },
                seed: *seed,
            };
            let summary = make_lip_corpus(&config, console)?;
            let text = format!(
                "{} speakers, {} videos each, {:.1} min in all: {}",
                summary.speakers.len(),
                sentences,
                summary.seconds / 60.0,
                out.display()
            );
            console.result(&summary, text);
        }
        LipsCommand::Train(arguments) => train(arguments, ranks, console)?,
        LipsCommand::Tune(arguments) => tune(arguments, console)?,
        LipsCommand::Say(arguments) => say(arguments, console)?,
        LipsCommand::Evaluate(arguments) => evaluate(arguments, console)?,
    }
    Ok(())
}

fn train(arguments: &TrainArguments, ranks: &Ranks, console: &Console) -> Result<()> {
    output::check(&arguments.out, Made::LipBase, console)?;
    let TrainArguments { data, out, base, preset, steps, batch, window, rate, seed, training } = arguments;
    let preset = preset.get();
    let hyperparameters = Hyperparameters {
        steps: *steps,
        batch: *batch,
        window: *window,
        seed: *seed,
        rate_start: *rate,
        rate_end: rate / 20.0,
        ..Hyperparameters::lips()
    };
    training.train(&hyperparameters, out, ranks, console, |training, report| {
        let (data, out, base) = (data.clone(), out.clone(), base.clone());
        train_lips(&LipTrainConfig { data, out, base, preset, training }, report)
    })
}

fn tune(arguments: &TuneArguments, console: &Console) -> Result<()> {
    output::check(&arguments.out, Made::LipBase, console)?;
    let TuneArguments { data, base, out, speaker, iterations, rate, seed, device } = arguments;
    let options =
        LipTuneOptions { iterations: *iterations, rate: *rate, seed: *seed, ..LipTuneOptions::default() };
    let (data, base, out, speaker) = (data.clone(), base.clone(), out.clone(), speaker.clone());
    let config = LipTuneConfig { data, base, out, speaker, options };
    let tuned = tune_lips(&config, &device.open()?, console)?;
    let [before, after] = tuned.held_out_loss;
    let text = format!(
        "{}: {} from {:.0} s of video, held-out loss {before:.4} to {after:.4} in {} iterations",
        config.out.display(),
        tuned.speaker,
        tuned.seconds,
        tuned.iterations
    );
    console.result(&tuned, text);
    Ok(())
}

fn say(arguments: &SayArguments, console: &Console) -> Result<()> {
    output::check(&arguments.out, Made::Wav, console)?;
    let base = LipBase::open(&arguments.base, &arguments.device.open()?)?;
    let speaker = base.speaker(arguments.speaker.as_deref())?;
    let speech = speak_video(&base, &arguments.video, speaker, &*base.vocoder)?;
    for (error, _) in &speech.left_out {
        console.warn(format!("left silent: {error} ({})", error.code()));
    }
    let voice_id = wav::voice_id(&base.manifest.files.weights.sha256);
    files::write(&arguments.out, speech.to_wav(voice_id))?;
    let left_out: Vec<_> = speech
        .left_out
        .iter()
        .map(|(error, seconds)| json!({"code": error.code(), "seconds": seconds}))
        .collect();
    let json = json!({
        "path": arguments.out,
        "seconds": speech.seconds(),
        "sample_rate_hz": speech.sample_rate_hz,
        "speaker": base.manifest.speakers[speaker],
        "voice": voice_id,
        "vocoder": base.vocoder.name(),
        "tracks": speech.tracks,
        "left_out": left_out,
    });
    let text = format!(
        "{}: {:.2} s through {}, of {} stretches with a face",
        arguments.out.display(),
        speech.seconds(),
        base.vocoder.name(),
        speech.tracks
    );
    console.result(&json, text);
    Ok(())
}

fn evaluate(arguments: &EvaluateArguments, console: &Console) -> Result<()> {
    output::check(&arguments.wavs, Made::Files, console)?;
    let base = LipBase::open(&arguments.base, &arguments.device.open()?)?;
    let config = LipEvaluateConfig { videos: arguments.videos.clone(), out: arguments.wavs.clone() };
    let evaluation = evaluate_lips(&base, &config, console)?;
    let rows = evaluation.conditions.iter().map(|row| {
        let Intelligibility { stoi, estoi } = row.intelligibility;
        format!("  {:8} STOI {stoi:.3}, ESTOI {estoi:.3}\n", row.condition.name())
    });
    let text = format!(
        "{} videos, {:.1} min\n{}attention is monotonic in {:.1} % of them; a second of speech takes {:.2} s",
        evaluation.videos,
        evaluation.seconds / 60.0,
        rows.collect::<String>(),
        100.0 * evaluation.monotonic,
        evaluation.real_time_factor
    );
    console.result(&evaluation, text);
    Ok(())
}
