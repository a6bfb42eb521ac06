//! `ownvoice evaluate`: how near a voice comes to recordings of its speaker, between its anchors.

use clap::Args;
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{base, clone::read_clips, device::DeviceName};
use crate::{
    Error, Result,
    audio::wav::{self, Origin},
    evaluate::{
        encoder::SpeakerVerifier,
        faults::Fault,
        report::{Evaluation, Measured},
        sentences::{HARD_SENTENCES, NEW_SENTENCES},
    },
    files,
    voice::{Base, Manifest, Voice, sha256_hex},
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
    arguments.wavs.as_deref().map_or(Ok(()), files::check_folder)?;
    let device = arguments.device.open()?;
    let base = base::load(&arguments.base, &device)?;
    let verifier = speaker_verifier(&arguments.base, &base.manifest)?;
    let voice = base::voice(&base, arguments.voice.as_deref())?;
    let clips = read_clips(&arguments.reference, None)?;
    let evaluation =
        pollster::block_on(Evaluation::new(&base, verifier.as_ref(), &clips, arguments.sentences))?;
    let (clone, unadapted) = (measure(&evaluation, &voice)?, measure(&evaluation, &Voice::unadapted(&base))?);
    let mut figures = pollster::block_on(evaluation.figures(&clone, &unadapted))?;
    let mut faulty = Vec::new();
    if arguments.by_error {
        let spoken = pollster::block_on(evaluation.measure_texts(&voice, &HARD_SENTENCES))?;
        figures.extend(Fault::ALL.map(|fault| {
            (format!("hard_sentences.{}", fault.name().replace(' ', "_")), spoken.with_fault(fault).into())
        }));
        figures.insert("hard_sentences.phoneme_error_rate".into(), spoken.phoneme_error_rate().into());
        let of_sentence = |(text, faults): (&&str, Vec<Fault>)| {
            faults.into_iter().map(|fault| format!("{}: {text}", fault.name())).collect::<Vec<_>>()
        };
        faulty = HARD_SENTENCES.iter().zip(spoken.faults).flat_map(of_sentence).collect();
    }
    if let Some(folder) = &arguments.wavs {
        write_wavs(folder, &base, &voice, &evaluation, &clone, &unadapted)?;
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
    println!(
        "the clone stands at {:.0} % of the base's distance to the speaker",
        100.0 * of("distance.clone") / of("distance.base")
    );
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

/// What a file of speech in this voice says of itself, by the hash of the voice's file or of the base whose speaker it is.
pub fn origin(base: &Base, voice: &Voice) -> Result<Origin> {
    let hash = match voice.info().adapted {
        true => sha256_hex(&pollster::block_on(voice.save_async(base))?),
        false => base.hash().to_owned(),
    };
    Ok(Origin::synthetic(wav::voice_id(&hash)))
}

/// `target`, `same-speaker`, `base` and `clone`.
pub fn write_wavs(
    folder: &Path,
    base: &Base,
    voice: &Voice,
    evaluation: &Evaluation,
    clone: &Measured,
    unadapted: &Measured,
) -> Result<()> {
    write_anchors(folder, base, evaluation)?;
    write_clips(&folder.join("base"), base, &unadapted.clips, Some(&origin(base, &Voice::unadapted(base))?))?;
    write_clips(&folder.join("clone"), base, &clone.clips, Some(&origin(base, voice)?))
}

/// What a clone is compared with, `target` and `same-speaker`, and `texts.txt`, what target, base and clone say.
pub fn write_anchors(folder: &Path, base: &Base, evaluation: &Evaluation) -> Result<()> {
    let target: Vec<Vec<f32>> =
        evaluation.recordings().iter().map(|(_, recording)| recording.clone()).collect();
    write_clips(&folder.join("target"), base, &target, None)?;
    let path = folder.join("texts.txt");
    let texts: String = evaluation.recordings().iter().map(|(text, _)| format!("{text}\n")).collect();
    files::write(&path, texts)?;
    write_clips(
        &folder.join("same-speaker"),
        base,
        &evaluation.others[evaluation.others.len().saturating_sub(target.len())..],
        None,
    )
}

/// What a voice makes of [`NEW_SENTENCES`], under `new/NAME`, and their texts beside it.
pub fn write_new_sentences(
    folder: &Path,
    name: &str,
    base: &Base,
    clips: &[Vec<f32>],
    origin: &Origin,
) -> Result<()> {
    let folder = folder.join("new");
    write_clips(&folder.join(name), base, clips, Some(origin))?;
    files::write(&folder.join("texts.txt"), NEW_SENTENCES.join("\n"))
}

/// * `origin`: of speech that nobody said; `None` for recordings
pub fn write_clips(folder: &Path, base: &Base, clips: &[Vec<f32>], origin: Option<&Origin>) -> Result<()> {
    fs::create_dir_all(folder).map_err(Error::io(folder))?;
    for (index, clip) in clips.iter().enumerate() {
        let path = folder.join(format!("{index:03}.wav"));
        let rate = base.mel_config().sample_rate_hz;
        files::write(
            &path,
            origin
                .map_or_else(|| wav::write(clip, rate), |origin| wav::write_with_origin(clip, rate, origin)),
        )?;
    }
    Ok(())
}

/// Three decimals: what lies beyond depends on the processor.
pub fn rounded(figures: Value) -> Value {
    let round = |value: Value| {
        value
            .as_f64()
            .filter(|_| value.is_f64())
            .map_or(value.clone(), |number| ((number * 1000.0).round() / 1000.0).into())
    };
    match figures {
        Value::Object(entries) => entries.into_iter().map(|(name, value)| (name, round(value))).collect(),
        other => round(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::prelude::Device;

    #[test]
    fn speech_that_nobody_said_is_marked_and_recordings_are_not() {
        let base = base::load(Path::new("../models/base"), &Device::flex()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let says = |name: &str, origin: Option<&Origin>| {
            write_clips(&folder.path().join(name), &base, &[vec![0.5; 100]], origin).unwrap();
            let bytes = fs::read(folder.path().join(name).join("000.wav")).unwrap();
            assert_eq!(wav::read(&bytes).unwrap().samples.len(), 100);
            String::from_utf8_lossy(&bytes).contains("Synthetic speech, made by ownvoice with voice ")
        };
        let origin = origin(&base, &Voice::unadapted(&base)).unwrap();
        assert!(origin.comment.ends_with(&base.hash()[..16]));
        assert!(says("clone", Some(&origin)) && !says("target", None));
    }
}
