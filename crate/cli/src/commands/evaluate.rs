//! `ownvoice evaluate`: the similarity of a voice to recordings of its speaker, compared with its anchors.

use std::path::PathBuf;

use clap::Args;

use super::{
    console::Console,
    device::DeviceArguments,
    output::{self, OutputKind},
};
use crate::{
    evaluate::{
        faults::Fault, measure::speaker_verifier, measured::Measured, report::Evaluation,
        sentences::HARD_SENTENCES, wavs::write_wavs,
    },
    fine_tune::{Recorded, named, read_all_clips},
};
use ownvoice::{
    Result,
    report::Report,
    voice::{Base, Voice, folder},
};

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice evaluate --voice me.ownvoice --reference recordings
  ownvoice evaluate --reference recordings --by-error --json > base.json")]
pub struct EvaluateArguments {
    /// Voice file [default: the base itself]
    #[arg(long)]
    voice: Option<PathBuf>,
    /// Folder of the base voice
    #[arg(long, default_value = "models/base")]
    base: PathBuf,
    /// Other recordings of the speaker: `metadata.csv` of `id|text` and `wavs/id.wav`
    #[arg(long, visible_alias = "clips")]
    reference: PathBuf,
    /// Number of sentences to speak
    ///
    /// They are taken from the end of the folder, because clones are trained on its start.
    #[arg(long, default_value_t = 10)]
    sentences: usize,
    /// Speak hard sentences too, and count faults by kind
    #[arg(long)]
    by_error: bool,
    /// Folder for the compared speech as WAV files: target, same-speaker, base, clone
    #[arg(long)]
    wavs: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArguments,
}

pub fn evaluate(arguments: &EvaluateArguments, console: &Console) -> Result<()> {
    arguments.wavs.as_deref().map_or(Ok(()), |folder| output::check(folder, OutputKind::Files, console))?;
    let base = Base::open(&arguments.base, &arguments.device.open()?)?;
    let verifier = speaker_verifier(&arguments.base, &base.manifest)?;
    let voice = folder::voice(&base, arguments.voice.as_deref())?;
    let (clips, Recorded { files, .. }) = read_all_clips(&arguments.reference, console)?;
    let evaluation =
        pollster::block_on(Evaluation::new(&base, verifier.as_ref(), &clips, arguments.sentences))
            .map_err(|error| named(error, &files))?;
    let (clone, unadapted) = (measure(&evaluation, &voice)?, measure(&evaluation, &Voice::unadapted(&base))?);
    let mut figures = pollster::block_on(evaluation.figures(&clone, &unadapted))?;
    let mut faulty = Vec::new();
    if arguments.by_error {
        let spoken = pollster::block_on(evaluation.measure_texts(&voice, &HARD_SENTENCES))?;
        figures.extend(Fault::ALL.map(|fault| {
            (format!("hard_sentences.{}", fault.name().replace(' ', "_")), spoken.with_fault(fault).into())
        }));
        figures.insert("hard_sentences.phoneme_error_rate".into(), spoken.phoneme_error_rate().into());
        let lines = |(text, faults): (&&str, Vec<Fault>)| {
            faults.into_iter().map(|fault| format!("{}: {text}", fault.name())).collect::<Vec<_>>()
        };
        faulty = HARD_SENTENCES.iter().zip(spoken.faults).flat_map(lines).collect();
    }
    if let Some(folder) = &arguments.wavs {
        write_wavs(folder, &base, &voice, &evaluation, &clone, &unadapted)?;
    }
    faulty.iter().for_each(|line| console.note(line));
    let figure = |name: &str| figures[name].as_f64().unwrap_or(f64::NAN);
    let mut text: String = figures.keys().map(|name| format!("{name:<32} {:>9.3}\n", figure(name))).collect();
    text += &format!(
        "the clone's distance to the speaker is {:.0} % of the base's",
        100.0 * figure("distance.clone") / figure("distance.base")
    );
    console.result(&figures, text);
    Ok(())
}

fn measure(evaluation: &Evaluation, voice: &Voice) -> Result<Measured> {
    pollster::block_on(evaluation.measure(voice))
}
