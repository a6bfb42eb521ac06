//! `ownvoice compare`: ways of cloning side by side on voices that nothing was trained on. Its tables are in DESIGN.md.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

use super::{
    base,
    clone::{learn, read_clips},
    device::DeviceName,
    evaluate::{speaker_judge, write_anchors, write_clips},
    measure::{CLONE_SECONDS, SENTENCES},
};
use crate::{
    Result,
    evaluate::{
        faults::Fault,
        report::{Evaluation, Identity, Measured},
        sentences::HARD_SENTENCES,
    },
    train::{Adapts, CloneOptions, StopRule},
    voice::Voice,
};

/// What differs from row to row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Vary {
    Adapts,
    Rate,
    Iterations,
    Seconds,
    Window,
    Stop,
}

#[derive(Args)]
pub struct CompareArguments {
    /// Folder of the base voice
    #[arg(long, default_value = "models/base")]
    base: PathBuf,
    /// Folders of recordings, one a speaker: `metadata.csv` of `id|text` and `wavs/id.wav`
    #[arg(long, required = true, num_args = 1..)]
    clips: Vec<PathBuf>,
    #[arg(long, value_enum)]
    vary: Vary,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Sentences that are said as recorded
    #[arg(long, default_value_t = SENTENCES)]
    sentences: usize,
    /// Say hard sentences too, and count faults by kind
    #[arg(long)]
    by_error: bool,
    /// Folder for what is said, as WAV files by speaker and row, for judges from outside
    #[arg(long)]
    wavs: Option<PathBuf>,
    #[arg(long, value_enum, default_value = "cpu")]
    device: DeviceName,
}

/// One way of cloning.
struct Way {
    name: String,
    options: CloneOptions,
    seconds: f32,
}

fn ways(vary: Vary, seed: u64) -> Vec<Way> {
    let usual = CloneOptions { seed, ..CloneOptions::default() };
    let way = |name: String, options: CloneOptions| Way { name, options, seconds: CLONE_SECONDS };
    let fixed = |iterations| CloneOptions { iterations, stop_rule: StopRule::Fixed, ..usual.clone() };
    match vary {
        Vary::Adapts => [
            ("speaker vector", Adapts::Speaker),
            ("and decoder", Adapts::Decoder),
            ("and postnet", Adapts::Postnet),
            ("and both by rank 8", Adapts::LowRank(8)),
            ("and both by rank 32", Adapts::LowRank(32)),
            ("and both", Adapts::Everything),
        ]
        .map(|(name, adapts)| way(name.into(), CloneOptions { adapts, ..fixed(200) }))
        .into(),
        Vary::Rate => [5e-4, 1e-3, 2e-3, 4e-3].map(|rate| way(format!("rate {rate:.0e}"), CloneOptions { rate, ..fixed(200) })).into(),
        Vary::Iterations => [50, 100, 200, 400].map(|iterations| way(format!("{iterations} iterations"), fixed(iterations))).into(),
        Vary::Seconds => [15.0, 30.0, 60.0, 120.0].map(|seconds| Way { name: format!("{seconds} s"), options: usual.clone(), seconds }).into(),
        Vary::Window => [(16, 64), (8, 128), (4, 256)]
            .map(|(batch, window)| way(format!("{batch} x {window} frames"), CloneOptions { batch, window, ..fixed(200) }))
            .into(),
        Vary::Stop => [("all iterations", StopRule::Fixed), ("by loss", StopRule::Loss), ("by voice", StopRule::Voice)]
            .map(|(name, stop_rule)| way(name.into(), CloneOptions { stop_rule, ..usual.clone() }))
            .into(),
    }
}

const COLUMNS: &str = "| | iterations | similarity | speaker encoder | MCD dB | log F0 | phoneme errors |";

pub fn compare(arguments: &CompareArguments) -> Result<()> {
    let base = base::load(&arguments.base, &arguments.device.open()?)?;
    let judge = speaker_judge(&arguments.base, &base.manifest)?;
    for folder in &arguments.clips {
        let speaker = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let evaluation = pollster::block_on(Evaluation::new(&base, judge.as_ref(), &read_clips(folder, None)?, arguments.sentences))?;
        let wavs = arguments.wavs.as_ref().map(|folder| folder.join(&speaker));
        if let Some(wavs) = &wavs {
            write_anchors(wavs, &base, &evaluation)?;
        }
        let kinds: Vec<&str> = if arguments.by_error { Fault::ALL.iter().map(|fault| fault.name()).collect() } else { Vec::new() };
        println!("\n{speaker}\n\n{COLUMNS}{}", kinds.iter().map(|kind| format!(" {kind} |")).collect::<String>());
        println!("|---|---|---|---|---|---|---|{}", "---|".repeat(kinds.len()));
        let report = |name: &str, voice: Option<&Voice>, iterations: usize| -> Result<()> {
            let measured = pollster::block_on(async {
                match voice {
                    Some(voice) => evaluation.measure(voice).await,
                    None => evaluation.measure_recordings().await,
                }
            })?;
            let identity = if voice.is_some() { &measured.identity } else { &evaluation.same_speaker };
            let mut row = row(name, iterations, identity, &measured, &evaluation);
            if let Some(voice) = voice.filter(|_| arguments.by_error) {
                let hard = pollster::block_on(evaluation.measure_texts(voice, &HARD_SENTENCES))?;
                row += &Fault::ALL.map(|fault| format!(" {} |", hard.with_fault(fault))).concat();
            }
            println!("{row}");
            match &wavs {
                Some(wavs) if voice.is_some() => write_clips(&wavs.join(name.replace(' ', "-")), &base, &measured.clips),
                _ => Ok(()),
            }
        };
        report("same speaker", None, 0)?;
        report("base", Some(&Voice::unadapted(&base)), 0)?;
        for Way { name, options, seconds } in ways(arguments.vary, arguments.seed) {
            let voice = learn(&base, &read_clips(folder, Some(seconds))?, options, &mut |_| ())?;
            report(&name, Some(&voice), voice.info().iterations)?;
        }
    }
    Ok(())
}

fn row(name: &str, iterations: usize, identity: &Identity, measured: &Measured, evaluation: &Evaluation) -> String {
    let (similarity, cosine) = identity.similarity(&evaluation.target);
    let cosine = cosine.map_or("-".into(), |cosine| format!("{cosine:.3}"));
    let Measured { mcd_db, logf0_rmse, .. } = measured;
    format!("| {name} | {iterations} | {similarity:.3} | {cosine} | {mcd_db:.2} | {logf0_rmse:.3} | {:.3} |", measured.phoneme_error_rate())
}
