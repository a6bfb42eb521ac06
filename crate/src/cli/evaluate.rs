//! `ownvoice evaluate`: how near a voice comes to recordings of its speaker, between its anchors.

use clap::Args;
use serde_json::Value;
use std::{fs, path::{Path, PathBuf}};

use super::{base, clone::read_clips, device::DeviceName};
use crate::{
    Error, Result,
    audio::wav,
    evaluate::{
        encoder::SpeakerVerifier,
        faults::Fault,
        report::{Evaluation, Measured},
        sentences::{HARD_SENTENCES, NEW_SENTENCES},
    },
    voice::{Base, Manifest, Voice},
};

#[derive(Args)]
pub struct EvaluateArguments {
    /// A voice file; without it the base itself is evaluated
    #[arg(long)]
    voice: Option<PathBuf>,
    /// Folder of the base voice
    #[arg(long, default_value = "models/base")]
    base: PathBuf,
    /// Other recordings of the speaker: `metadata.csv` of `id|text` and `wavs/id.wav`
    #[arg(long)]
    reference: PathBuf,
    /// Sentences to say, from the end of the folder: clones learn from its start
    #[arg(long, default_value_t = 10)]
    sentences: usize,
    /// Say hard sentences as well and count what goes wrong, by kind
    #[arg(long)]
    by_error: bool,
    /// Folder for what is compared, as WAV files: target, same-speaker, base, clone
    #[arg(long)]
    wavs: Option<PathBuf>,
    #[arg(long)]
    json: bool,
    #[arg(long, value_enum, default_value = "cpu")]
    device: DeviceName,
}

pub fn evaluate(arguments: &EvaluateArguments) -> Result<()> {
    let device = arguments.device.open()?;
    let base = base::load(&arguments.base, &device)?;
    let verifier = speaker_verifier(&arguments.base, &base.manifest)?;
    let voice = base::voice(&base, arguments.voice.as_deref())?;
    let clips = read_clips(&arguments.reference, None)?;
    let evaluation = pollster::block_on(Evaluation::new(&base, verifier.as_ref(), &clips, arguments.sentences))?;
    let (clone, unadapted) = (measure(&evaluation, &voice)?, measure(&evaluation, &Voice::unadapted(&base))?);
    let mut figures = pollster::block_on(evaluation.figures(&clone, &unadapted))?;
    let mut faulty = Vec::new();
    if arguments.by_error {
        let spoken = pollster::block_on(evaluation.measure_texts(&voice, &HARD_SENTENCES))?;
        figures.extend(Fault::ALL.map(|fault| (format!("hard_sentences.{}", fault.name().replace(' ', "_")), spoken.with_fault(fault).into())));
        figures.insert("hard_sentences.phoneme_error_rate".into(), spoken.phoneme_error_rate().into());
        let of_sentence = |(text, faults): (&&str, Vec<Fault>)| faults.into_iter().map(|fault| format!("{}: {text}", fault.name())).collect::<Vec<_>>();
        faulty = HARD_SENTENCES.iter().zip(spoken.faults).flat_map(of_sentence).collect();
    }
    if let Some(folder) = &arguments.wavs {
        write_wavs(folder, &base, &evaluation, &clone, &unadapted)?;
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&figures).expect("plain numbers"));
        return Ok(());
    }
    let of = |name: &str| figures[name].as_f64().unwrap_or(f64::NAN);
    for name in figures.keys() {
        println!("{name:<32} {:>9.3}", of(name));
    }
    faulty.iter().for_each(|line| println!("{line}"));
    println!("the clone stands at {:.0} % of the base's distance to the speaker", 100.0 * of("distance.clone") / of("distance.base"));
    Ok(())
}

fn measure(evaluation: &Evaluation, voice: &Voice) -> Result<Measured> {
    pollster::block_on(evaluation.measure(voice))
}

/// The speaker encoder that the manifest names; `None` where it names none.
pub fn speaker_verifier(directory: &Path, manifest: &Manifest) -> Result<Option<SpeakerVerifier>> {
    let Some(entry) = &manifest.files.speaker_encoder else { return Ok(None) };
    let path = directory.join(&entry.path);
    SpeakerVerifier::load(&fs::read(&path).map_err(Error::io(path))?).map(Some)
}

/// `target`, `same-speaker`, `base` and `clone`.
pub fn write_wavs(folder: &Path, base: &Base, evaluation: &Evaluation, clone: &Measured, unadapted: &Measured) -> Result<()> {
    write_anchors(folder, base, evaluation)?;
    write_clips(&folder.join("base"), base, &unadapted.clips)?;
    write_clips(&folder.join("clone"), base, &clone.clips)
}

/// What a clone is compared with, `target` and `same-speaker`, and `texts.txt`, what target, base and clone say.
pub fn write_anchors(folder: &Path, base: &Base, evaluation: &Evaluation) -> Result<()> {
    let target: Vec<Vec<f32>> = evaluation.recordings().iter().map(|(_, recording)| recording.clone()).collect();
    write_clips(&folder.join("target"), base, &target)?;
    let path = folder.join("texts.txt");
    let texts: String = evaluation.recordings().iter().map(|(text, _)| format!("{text}\n")).collect();
    fs::write(&path, texts).map_err(Error::io(path))?;
    write_clips(&folder.join("same-speaker"), base, &evaluation.others[evaluation.others.len().saturating_sub(target.len())..])
}

/// What a voice makes of [`NEW_SENTENCES`], under `new/NAME`, and their texts beside it.
pub fn write_new_sentences(folder: &Path, name: &str, base: &Base, clips: &[Vec<f32>]) -> Result<()> {
    let folder = folder.join("new");
    write_clips(&folder.join(name), base, clips)?;
    let path = folder.join("texts.txt");
    fs::write(&path, NEW_SENTENCES.join("\n")).map_err(Error::io(path))
}

pub fn write_clips(folder: &Path, base: &Base, clips: &[Vec<f32>]) -> Result<()> {
    fs::create_dir_all(folder).map_err(Error::io(folder))?;
    for (index, clip) in clips.iter().enumerate() {
        let path = folder.join(format!("{index:03}.wav"));
        fs::write(&path, wav::write(clip, base.mel_config().sample_rate_hz)).map_err(Error::io(path))?;
    }
    Ok(())
}

/// Three decimals: what lies beyond depends on the processor.
pub fn rounded(figures: Value) -> Value {
    let round = |value: Value| value.as_f64().filter(|_| value.is_f64()).map_or(value.clone(), |number| ((number * 1000.0).round() / 1000.0).into());
    match figures {
        Value::Object(entries) => entries.into_iter().map(|(name, value)| (name, round(value))).collect(),
        other => round(other),
    }
}
