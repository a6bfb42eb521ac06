//! `ownvoice compare`: ways of cloning side by side on voices that nothing was trained on. Its tables are in docs/experiments.

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::path::PathBuf;

use super::{
    console::Console,
    device::DeviceArguments,
    output::{self, Made},
    say::{VocoderName, choose},
};
use crate::{
    Result,
    audio::wav::{Origin, voice_id},
    evaluate::{
        faults::Fault,
        report::{Evaluation, Identity, Measured, Says, Similarity},
        sentences::{HARD_SENTENCES, NEW_SENTENCES},
    },
    files,
    pipeline::{
        CLONE_SECONDS, SENTENCES, learn, read_clips, speaker_verifier,
        wavs::{origin, write_anchors, write_clips, write_new_sentences},
    },
    train::{CloneOptions, FineTuner, StopRule},
    voice::{AttentiveVoice, Base, Voice, sha256_hex},
};

/// What differs from row to row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Vary {
    Rate,
    DecoderRate,
    Rehearsal,
    Iterations,
    Seconds,
    Window,
    Stop,
    Vocoder,
}

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice compare --clips work/corpus/held-out/flite-awb --vary stop
  ownvoice compare --clips alice bob --vary seconds --wavs wavs --json")]
pub struct CompareArguments {
    /// Folder of the base voice
    #[arg(long, default_value = "models/base")]
    base: PathBuf,
    /// Folders of recordings, one a speaker: `metadata.csv` of `id|text` and `wavs/id.wav`
    #[arg(long, required = true, num_args = 1..)]
    clips: Vec<PathBuf>,
    /// What differs from row to row
    #[arg(long, value_enum)]
    vary: Vary,
    /// The same seed, input and device give the same result
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A model of the attention path, to stand beside the base
    #[arg(long)]
    attention: Option<PathBuf>,
    /// Sentences to say
    ///
    /// Of the recorded ones.
    #[arg(long, default_value_t = SENTENCES)]
    sentences: usize,
    /// Say hard sentences as well, and count faults by kind
    #[arg(long)]
    by_error: bool,
    /// Folder for what is said, as WAV files by speaker and row, for external evaluators
    #[arg(long)]
    wavs: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArguments,
}

/// One way of cloning.
struct Way {
    name: String,
    options: CloneOptions,
    seconds: f32,
    vocoder: Option<VocoderName>,
}

fn ways(vary: Vary, seed: u64) -> Vec<Way> {
    let usual = CloneOptions { seed, ..CloneOptions::default() };
    let way =
        |name: String, options: CloneOptions| Way { name, options, seconds: CLONE_SECONDS, vocoder: None };
    let fixed = CloneOptions { stop_rule: StopRule::Fixed, ..usual.clone() };
    match vary {
        Vary::Rate => [1e-3, 2e-3, 4e-3, 8e-3]
            .map(|rate| way(format!("rate {rate:.0e}"), CloneOptions { rate, ..fixed.clone() }))
            .into(),
        Vary::DecoderRate => [0.0, 0.02, 0.05, 0.1, 1.0]
            .map(|decoder_rate_multiplier| {
                let options = CloneOptions { decoder_rate_multiplier, ..fixed.clone() };
                way(format!("decoder at {decoder_rate_multiplier} of the rate"), options)
            })
            .into(),
        Vary::Rehearsal => [0.2, 0.5, 1.0, 2.0]
            .map(|rehearsal| {
                way(format!("rehearsal {rehearsal}"), CloneOptions { rehearsal, ..fixed.clone() })
            })
            .into(),
        Vary::Iterations => [0, 25, 50, 75, 100, 200]
            .map(|iterations| {
                way(format!("{iterations} iterations"), CloneOptions { iterations, ..fixed.clone() })
            })
            .into(),
        Vary::Seconds => [15.0, 30.0, 60.0, 120.0]
            .map(|seconds| Way { seconds, ..way(format!("{seconds} s"), usual.clone()) })
            .into(),
        Vary::Window => [(16, 64), (8, 128), (4, 256)]
            .map(|(batch, window)| {
                way(format!("{batch} x {window} frames"), CloneOptions { batch, window, ..fixed.clone() })
            })
            .into(),
        Vary::Stop => [15.0, 30.0, CLONE_SECONDS]
            .into_iter()
            .flat_map(|seconds| {
                [
                    ("all iterations", StopRule::Fixed),
                    ("by loss", StopRule::Loss),
                    ("by voice", StopRule::Voice),
                ]
                .map(|rule| (seconds, rule))
            })
            .map(|(seconds, (name, stop_rule))| Way {
                seconds,
                ..way(format!("{seconds} s, {name}"), CloneOptions { stop_rule, ..usual.clone() })
            })
            .collect(),
        Vary::Vocoder => [("Griffin-Lim", VocoderName::GriffinLim), ("neural", VocoderName::Neural)]
            .map(|(name, vocoder)| Way { vocoder: Some(vocoder), ..way(name.into(), usual.clone()) })
            .into(),
    }
}

const COLUMNS: &str = "| | iterations | similarity | speaker encoder | MCD dB | log F0 | phoneme errors |";

pub fn compare(arguments: &CompareArguments, console: &Console) -> Result<()> {
    arguments.wavs.as_deref().map_or(Ok(()), |folder| output::check(folder, Made::Files, console))?;
    let base = Base::open(&arguments.base, &arguments.device.open()?)?;
    let verifier = speaker_verifier(&arguments.base, &base.manifest)?;
    let attentive = arguments.attention.as_ref().map(|path| -> Result<_> {
        let bytes = files::read(path)?;
        Ok((AttentiveVoice::load(&bytes, &base.device)?, sha256_hex(&bytes)))
    });
    let attentive = attentive.transpose()?;
    for folder in &arguments.clips {
        let speaker = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut evaluation = pollster::block_on(Evaluation::new(
            &base,
            verifier.as_ref(),
            &read_clips(folder, None)?,
            arguments.sentences,
        ))?;
        let wavs = arguments.wavs.as_ref().map(|folder| folder.join(&speaker));
        if let Some(wavs) = &wavs {
            write_anchors(wavs, &base, &evaluation)?;
        }
        let kinds: Vec<&str> = if arguments.by_error {
            Fault::ALL.iter().map(|fault| fault.name()).collect()
        } else {
            Vec::new()
        };
        console.heading(format_args!(
            "\n{speaker}\n\n{COLUMNS}{}\n|---|---|---|---|---|---|---|{}",
            kinds.iter().map(|kind| format!(" {kind} |")).collect::<String>(),
            "---|".repeat(kinds.len())
        ));
        let report = |evaluation: &Evaluation,
                      name: &str,
                      voice: Says,
                      origin: Origin,
                      iterations: usize|
         -> Result<()> {
            let measured = pollster::block_on(evaluation.measure(voice))?;
            let (mut text, mut json) =
                row(&speaker, name, iterations, &measured.identity, &measured, evaluation);
            if arguments.by_error {
                let hard = pollster::block_on(evaluation.measure_texts(voice, &HARD_SENTENCES))?;
                text += &Fault::ALL.map(|fault| format!(" {} |", hard.with_fault(fault))).concat();
                for fault in Fault::ALL {
                    json[format!("hard_sentences.{}", fault.name().replace(' ', "_"))] =
                        hard.with_fault(fault).into();
                }
            }
            console.result(&json, text);
            let Some(wavs) = &wavs else { return Ok(()) };
            let name = name.replace(' ', "-");
            write_clips(&wavs.join(&name), &base, &measured.clips, Some(&origin))?;
            let new = pollster::block_on(evaluation.measure_texts(voice, &NEW_SENTENCES))?;
            write_new_sentences(wavs, &name, &base, &new.clips, &origin)
        };
        let recordings = pollster::block_on(evaluation.measure_recordings())?;
        let (text, json) =
            row(&speaker, "same speaker", 0, &evaluation.same_speaker, &recordings, &evaluation);
        console.result(&json, text);
        let copies = pollster::block_on(evaluation.measure_copies())?;
        let (text, json) = row(&speaker, "recordings, vocoded", 0, &copies.identity, &copies, &evaluation);
        console.result(&json, text);
        let unadapted = Voice::unadapted(&base);
        report(&evaluation, "base", Says::Voice(&unadapted), origin(&base, &unadapted)?, 0)?;
        if let Some((voice, hash)) = &attentive {
            report(
                &evaluation,
                "base by attention",
                Says::Attentive(voice),
                Origin::synthetic(voice_id(hash)),
                0,
            )?;
        }
        for Way { name, options, seconds, vocoder } in ways(arguments.vary, arguments.seed) {
            let mut clips = read_clips(folder, Some(seconds))?;
            clips.truncate(evaluation.others.len()); // What is spoken again is never trained on.
            let voice = match options.iterations {
                // What is known of a speaker in closed form, before anything is learned.
                0 => FineTuner::start(&base, &clips, CloneOptions { iterations: 1, ..options })?.finish()?,
                _ => learn(&base, &clips, options, &())?,
            };
            evaluation.vocoder = choose(&base, vocoder)?;
            report(&evaluation, &name, Says::Voice(&voice), origin(&base, &voice)?, voice.info().iterations)?;
        }
    }
    Ok(())
}

/// A row of the table, and as JSON.
fn row(
    speaker: &str,
    name: &str,
    iterations: usize,
    identity: &Identity,
    measured: &Measured,
    evaluation: &Evaluation,
) -> (String, Value) {
    let Similarity { statistics, encoder } = identity.similarity(&evaluation.target);
    let cosine = encoder.map_or("-".into(), |cosine| format!("{cosine:.3}"));
    let Measured { mcd_db, logf0_rmse, .. } = measured;
    let phoneme_error_rate = measured.phoneme_error_rate();
    let text = format!(
        "| {name} | {iterations} | {statistics:.3} | {cosine} | {mcd_db:.2} | {logf0_rmse:.3} | {phoneme_error_rate:.3} |"
    );
    let json = json!({
        "speaker": speaker,
        "name": name,
        "iterations": iterations,
        "similarity": statistics,
        "speaker_encoder": encoder,
        "mcd_db": mcd_db,
        "logf0_rmse": logf0_rmse,
        "phoneme_error_rate": phoneme_error_rate,
    });
    (text, json)
}
