//! The command line. Each verb converts its arguments into a configuration, calls the library, and prints the result.

mod aligner;
mod clone;
mod console;
mod curve;
mod data;
mod data_loader;
pub mod device;
mod evaluate;
mod import;
mod lips;
mod measure;
mod output;
mod pages;
mod precision;
mod pretraining;
mod profile;
mod profile_lips;
mod profile_tables;
mod ranks;
mod recipe;
mod say;
mod serve;
mod speaker_encoder;
mod spectrogram;
mod training;
mod tune_net;
mod vocoder;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, error::ErrorKind};

use burn_fused::ranks::Ranks;
use console::{Console, print_error, print_json_error};
use ownvoice::Result;

/// Clone your voice from one minute of speech, on your own machine
#[derive(Parser)]
#[command(name = "ownvoice", version, disable_help_subcommand = true)]
struct Arguments {
    /// Print results as JSON, one object per line, and an error as {"error": {"code", "message"}}
    #[arg(long, global = true, display_order = 1000)]
    json: bool,
    /// Print no notes and no progress, and results only with --json
    #[arg(long, short, global = true, display_order = 1001)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Clone a voice from about a minute of recordings
    Clone(clone::CloneArguments),
    /// Speak a text
    Say(say::SayArguments),
    /// Serve voices to programs of this machine: OpenAI's speech route, and the Wyoming protocol of Home Assistant
    Serve(serve::ServeArguments),
    /// Measure how similar a voice is to its speaker
    Evaluate(evaluate::EvaluateArguments),
    /// Draw the spectrograms of recordings, one below the other
    Spectrogram(spectrogram::SpectrogramArguments),
    /// Resynthesise a recording from its spectrogram, to measure the loss by the vocoder
    Vocode(vocoder::VocodeArguments),
    /// Make a base by the recipe: corpus, features, aligner, base, vocoder, speaker encoder, measurement; resumable
    Recipe(recipe::RecipeArguments),
    /// Make a multi-speaker corpus from the installed speech engines (flite, festival, espeak-ng)
    Corpus(data::CorpusArguments),
    /// Prepare features for training from a corpus in the layout of LJSpeech, LibriTTS, VCTK or `ownvoice corpus`
    Prepare(data::PrepareArguments),
    /// Train the phone recogniser of the forced aligner
    TrainAligner(aligner::TrainArguments),
    /// Train a base voice; resumable
    Pretrain(pretraining::PretrainArguments),
    /// Train the neural vocoder; resumable
    TrainVocoder(vocoder::TrainVocoderArguments),
    /// Train the encoder that distinguishes speakers; resumable
    TrainSpeakerEncoder(speaker_encoder::TrainArguments),
    /// Import NVIDIA's public Tacotron 2, a PyTorch checkpoint, or a lip-to-speech base
    Import(import::ImportArguments),
    /// Synthesise speech from silent videos of a face, and train the models for it; needs the program ffmpeg
    Lips(lips::LipsVerb),
    /// Tune a small net for pictures, from random weights or from PyTorch's
    TuneNet(tune_net::TuneNetArguments),
    /// Measure a base by cloning the held-out voices, and write the results into its manifest
    Measure(measure::MeasureArguments),
    /// Measure the aligner on voices with known phone times
    VerifyAligner(aligner::VerifyArguments),
    /// Measure the speaker encoder on speakers that it was not trained on
    VerifySpeakers(speaker_encoder::VerifyArguments),
    /// Profile a training step, module by module
    Profile(profile::ProfileArguments),
    /// Find faults of precision: overflows, operations that differ from their reference, differences between runs
    Precision(precision::PrecisionVerb),
    /// Print a completion script for a shell
    Completions(pages::CompletionsArguments),
    /// Print the manual page, or write one per verb
    Man(pages::ManArguments),
}

impl Command {
    /// Returns whether several ranks share the work of this verb.
    fn is_shared(&self) -> bool {
        match self {
            Self::Pretrain(_) | Self::TrainVocoder(_) | Self::Profile(_) => true,
            Self::Lips(verb) => matches!(verb.command, lips::LipsCommand::Train(_)),
            _ => false,
        }
    }
}

/// The groups of verbs in `--help`.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Use a voice", &["clone", "say", "serve", "evaluate", "spectrogram", "vocode"]),
    (
        "Make a base",
        &[
            "recipe",
            "corpus",
            "prepare",
            "train-aligner",
            "pretrain",
            "train-vocoder",
            "train-speaker-encoder",
            "import",
            "lips",
        ],
    ),
    ("Tune a net", &["tune-net"]),
    ("Measure", &["measure", "verify-aligner", "verify-speakers", "profile", "precision"]),
    ("Set up a shell", &["completions", "man"]),
];

/// Returns the command with its verbs in groups, which clap does not support.
fn command() -> clap::Command {
    let command = Arguments::command();
    let mut verbs = String::new();
    for (title, names) in GROUPS {
        verbs += &format!("{title}:\n");
        for name in names {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            verbs += &format!("  {name:<22} {}\n", about.cloned().unwrap_or_default());
        }
        verbs += "\n";
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{verbs}Options:\n{{options}}{{after-help}}"
    ))
    .after_help("`ownvoice VERB --help` shows the options of a verb and examples.")
}

/// Runs the command line.
pub fn run() -> ExitCode {
    let arguments = match command().try_get_matches().and_then(|found| Arguments::from_arg_matches(&found)) {
        Ok(arguments) => arguments,
        Err(error) => return refuse(&error),
    };
    // This thread is part of the pool. Otherwise it would sleep during each matmul of a step, and waking it takes as long as a small matmul.
    rayon::ThreadPoolBuilder::new().use_current_thread().build_global().expect("nothing has used the pool");
    let ranks = match ranks::join(arguments.command.is_shared()) {
        Ok(ranks) => ranks,
        Err(error) => {
            print_error(&error, arguments.json);
            return ExitCode::FAILURE;
        }
    };
    // Only the first rank prints.
    let console = Console::new(arguments.json && ranks.is_first(), arguments.quiet || !ranks.is_first());
    match run_command(&arguments.command, &ranks, &console) {
        Ok(()) => {
            ranks::leave(&ranks);
            ExitCode::SUCCESS
        }
        Err(error) => {
            drop(console);
            print_error(&error, arguments.json);
            ExitCode::FAILURE
        }
    }
}

/// Prints help or version, or the error of arguments that cannot be parsed, as JSON if `--json` is given.
fn refuse(error: &clap::Error) -> ExitCode {
    let is_error = !matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if is_error && std::env::args().any(|argument| argument == "--json") {
        let message = error.to_string();
        let reason = message.split("\n\nUsage: ").next().unwrap_or_default();
        print_json_error("usage", reason.trim().trim_start_matches("error: "));
    } else {
        let _ = error.print(); // A failure cannot be reported, because standard error is closed.
    }
    ExitCode::from(error.exit_code() as u8)
}

fn run_command(command: &Command, ranks: &Ranks, console: &Console) -> Result<()> {
    match command {
        Command::Clone(arguments) => clone::clone(arguments, console),
        Command::Say(arguments) => say::say(arguments, console),
        Command::Serve(arguments) => serve::serve(arguments, console),
        Command::Evaluate(arguments) => evaluate::evaluate(arguments, console),
        Command::Spectrogram(arguments) => spectrogram::spectrogram(arguments, console),
        Command::Vocode(arguments) => vocoder::vocode(arguments, console),
        Command::Recipe(arguments) => recipe::recipe(arguments, console),
        Command::Corpus(arguments) => data::corpus(arguments, console),
        Command::Prepare(arguments) => data::prepare(arguments, console),
        Command::TrainAligner(arguments) => aligner::train_aligner(arguments, console),
        Command::Pretrain(arguments) => pretraining::pretrain(arguments, ranks, console),
        Command::TrainVocoder(arguments) => vocoder::train_vocoder(arguments, ranks, console),
        Command::TrainSpeakerEncoder(arguments) => speaker_encoder::train_speaker_encoder(arguments, console),
        Command::Import(arguments) => import::import(arguments, console),
        Command::Lips(verb) => lips::lips(verb, ranks, console),
        Command::TuneNet(arguments) => tune_net::tune_net(arguments, console),
        Command::Measure(arguments) => measure::measure(arguments, console),
        Command::VerifyAligner(arguments) => aligner::verify_aligner(arguments, console),
        Command::VerifySpeakers(arguments) => speaker_encoder::verify_speakers(arguments, console),
        Command::Profile(arguments) => profile::profile(arguments, ranks, console),
        Command::Precision(arguments) => precision::precision(arguments, console),
        Command::Completions(arguments) => pages::completions(arguments),
        Command::Man(arguments) => pages::man(arguments, console),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn the_definition_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn each_verb_is_in_one_group() {
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let command = command();
        let verbs: BTreeSet<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        assert_eq!(grouped.len(), verbs.len());
        assert_eq!(grouped.into_iter().collect::<BTreeSet<_>>(), verbs);
    }

    /// Returns all verbs, including those of `lips` and `precision`, each with its full name.
    fn verbs() -> Vec<(String, clap::Command)> {
        fn below(words: &str, command: &clap::Command) -> Vec<(String, clap::Command)> {
            let verbs = command.get_subcommands();
            let named = verbs.map(|verb| (format!("{words} {}", verb.get_name()), verb.clone()));
            named
                .flat_map(|(words, verb)| {
                    let own = below(&words, &verb);
                    std::iter::once((words, verb)).chain(own)
                })
                .collect()
        }
        below("ownvoice", &command())
    }

    #[test]
    fn each_verb_and_each_option_has_a_help_text() {
        let verbs = verbs();
        assert!(verbs.iter().any(|(words, _)| words == "ownvoice lips say"));
        for (words, verb) in verbs {
            assert!(verb.get_about().is_some(), "{words}");
            for argument in verb.get_arguments() {
                assert!(argument.get_help().is_some(), "{words}: {argument}");
            }
            let examples = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            let count = examples.lines().filter(|line| line.starts_with(&format!("  {words} "))).count();
            assert!(examples.starts_with("Examples:\n") && count >= 2, "{words}: {examples}");
        }
    }

    /// A flag has the same type in all verbs, and the same help text unless it is a path.
    #[test]
    fn a_flag_means_the_same_in_all_verbs() {
        let path = clap::value_parser!(std::path::PathBuf).type_id();
        let mut flags: BTreeMap<String, BTreeSet<(String, String)>> = BTreeMap::new();
        for (words, verb) in verbs() {
            for argument in verb.get_arguments() {
                let Some(flag) = argument.get_long() else { continue };
                let (kind, help) = (argument.get_value_parser().type_id(), argument.get_help());
                let help = help.filter(|_| kind != path).map(ToString::to_string).unwrap_or_default();
                flags.entry(flag.to_string()).or_default().insert((format!("{kind:?}"), help));
            }
            let kinds = verb.get_positionals().count();
            assert!(kinds <= 1, "{words}: at most one input has no flag");
        }
        // Each model has its own presets.
        let several: Vec<_> =
            flags.iter().filter(|(flag, things)| things.len() > 1 && flag.as_str() != "preset").collect();
        assert!(several.is_empty(), "{several:#?}");
    }

    #[test]
    fn all_examples_can_be_parsed() {
        for (_, verb) in verbs() {
            for line in verb.get_after_help().map(ToString::to_string).unwrap_or_default().lines().skip(1) {
                let line = line.trim().split(['>', '|']).next().unwrap();
                // A quoted text is one word.
                let words = line.split('"').enumerate().flat_map(|(index, piece)| match index % 2 {
                    0 => piece.split_whitespace().collect(),
                    _ => vec![piece],
                });
                let parsed = command().try_get_matches_from(words);
                assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
            }
        }
    }
}
