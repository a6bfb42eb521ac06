//! The command line. Every command is a thin layer over the library.

mod aligner;
mod base;
mod bench;
mod clone;
mod compare;
mod curve;
mod data;
mod device;
mod evaluate;
mod import;
mod measure;
mod noise;
mod op_by_op;
mod pretraining;
mod profile;
mod recipe;
mod say;
mod speaker_encoder;
mod spectrogram;
mod vocoder;

use clap::{Parser, Subcommand};

use crate::Result;

#[derive(Parser)]
#[command(
    name = "ownvoice",
    version,
    about = "Speech in your own voice, learned from one minute of it on your own machine"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make a multi-speaker corpus from the installed speech engines (flite, festival, espeak-ng)
    Corpus(data::CorpusArguments),
    /// Turn a corpus (LJSpeech, LibriTTS or VCTK layout, or our own) into features to train on
    Prepare(data::PrepareArguments),
    /// Train a base voice; resumable
    Pretrain(pretraining::PretrainArguments),
    /// Make the shipped base voice from nothing: corpus, features, aligner, base, vocoder, and what they measure; resumable
    Recipe(recipe::RecipeArguments),
    /// Train the recogniser that finds when each phone of a recording is spoken
    TrainAligner(aligner::TrainArguments),
    /// Train the neural vocoder; resumable
    TrainVocoder(vocoder::TrainVocoderArguments),
    /// Train the encoder that tells speakers apart; resumable
    TrainSpeakerEncoder(speaker_encoder::TrainArguments),
    /// Measure the speaker encoder on speakers that it never heard
    VerifySpeakers(speaker_encoder::VerifyArguments),
    /// Make a recording again from its spectrogram alone, to hear what a vocoder costs
    Vocode(vocoder::VocodeArguments),
    /// Measure the aligner on voices whose phone times are known
    Align(aligner::AlignArguments),
    /// Read NVIDIA's public Tacotron 2, a PyTorch checkpoint
    Import(import::ImportArguments),
    /// Learn a voice from about a minute of recordings
    Clone(clone::CloneArguments),
    /// Speak a text
    Say(say::SayArguments),
    /// Show recordings as spectrograms, one under the other
    Spectrogram(spectrogram::SpectrogramArguments),
    /// Measure how near a voice is to its speaker
    Evaluate(evaluate::EvaluateArguments),
    /// Measure a base by cloning the held-out voices, and write what is found into its manifest
    Measure(measure::MeasureArguments),
    /// Compare ways of cloning on held-out voices: what adapts, learning rates, iterations, seconds of speech, when to stop
    Compare(compare::CompareArguments),
    /// Time training and synthesis on this machine
    Bench(bench::BenchArguments),
    /// Show where a training step's time goes, module by module
    Profile(profile::ProfileArguments),
}

/// Runs the command line and returns its error, if any.
pub fn run() -> Result<()> {
    // This thread works in the pool as well: otherwise it would sleep through each of a step's products, and waking costs as much as a small one takes.
    rayon::ThreadPoolBuilder::new().use_current_thread().build_global().expect("nothing has used the pool");
    match Arguments::parse().command {
        Command::Corpus(arguments) => data::corpus(&arguments),
        Command::Prepare(arguments) => data::prepare(&arguments),
        Command::Pretrain(arguments) => pretraining::pretrain(&arguments),
        Command::Recipe(arguments) => recipe::recipe(&arguments),
        Command::TrainAligner(arguments) => aligner::train_aligner(&arguments),
        Command::TrainVocoder(arguments) => vocoder::train_vocoder(&arguments),
        Command::TrainSpeakerEncoder(arguments) => speaker_encoder::train_speaker_encoder(&arguments),
        Command::VerifySpeakers(arguments) => speaker_encoder::verify_speakers(&arguments),
        Command::Vocode(arguments) => vocoder::vocode(&arguments),
        Command::Align(arguments) => aligner::align(&arguments),
        Command::Import(arguments) => import::import(&arguments),
        Command::Clone(arguments) => clone::clone(&arguments),
        Command::Say(arguments) => say::say(&arguments),
        Command::Spectrogram(arguments) => spectrogram::spectrogram(&arguments),
        Command::Evaluate(arguments) => evaluate::evaluate(&arguments),
        Command::Measure(arguments) => measure::measure(&arguments),
        Command::Compare(arguments) => compare::compare(&arguments),
        Command::Bench(arguments) => bench::bench(&arguments),
        Command::Profile(arguments) => profile::profile(&arguments),
    }
}
