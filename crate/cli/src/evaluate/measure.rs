//! Measures a base: clones of the held-out speakers, by our own evaluators and by external ones, into its manifest.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use burn::prelude::Device;
use serde_json::{Value, json};

use super::{
    report::Evaluation,
    sentences::NEW_SENTENCES,
    wavs::{origin, write_clips, write_new_sentences, write_wavs},
};
use crate::{
    corpus::{make_people::PersonSummary, people::PEOPLE, program::run},
    fine_tune::{fine_tune, read_all_clips},
    learn::hyperparameters::Hyperparameters,
    speaker_encoder::{from_files::verify, verifier::SpeakerVerifier},
};
use ownvoice::{
    Error, Result,
    clone::{
        FineTuner,
        clip::{Clip, check_clip, spoken_throughout},
        options::CloneOptions,
    },
    files,
    report::Report,
    voice::{
        Base, FileEntry, Manifest, Voice,
        folder::{SPEAKER_ENCODER, read_manifest, write_manifest},
    },
};

/// The configuration of a measurement.
#[derive(Debug, Clone)]
pub struct MeasureConfig {
    /// The folder of the base.
    pub base: PathBuf,
    /// Corpus folders: of the teacher, of speech engines, of people. The speakers in `held-out/` of each are cloned.
    pub corpora: Vec<PathBuf>,
    /// The speakers to clone; all of them if there are none.
    pub speakers: Vec<String>,
    /// The number of sentences that are compared.
    pub sentences: usize,
    /// The folder for what is compared, as WAV files by speaker.
    pub wavs: Option<PathBuf>,
    /// The folder of the external evaluators, `tests/evaluators`, which need `wavs`.
    pub evaluators: Option<PathBuf>,
    pub seed: u64,
    pub device: Device,
}

/// The duration of the speech that a clone is made from, which is what a visitor of the page records.
const CLONE_SECONDS: f32 = 60.0;
/// The default number of sentences. Each has some eight words: with fewer, error rates are noisy.
pub const SENTENCES: usize = 40;

/// Names the speaker encoder in the base's folder, verifies it on the held-out speakers, clones each of them, and writes the figures into the manifest.
pub fn measure(config: &MeasureConfig, report: &dyn Report) -> Result<Value> {
    let MeasureConfig { base: folder, corpora, wavs, evaluators, device, .. } = config;
    wavs.as_deref().map_or(Ok(()), files::check_folder)?;
    let speakers = held_out(config)?;
    let mut manifest = read_manifest(folder)?;
    manifest.files.speaker_encoder =
        Some(FileEntry::new(SPEAKER_ENCODER, &files::read(&folder.join(SPEAKER_ENCODER))?));
    manifest.recipe["speaker_encoder"] = json!(Hyperparameters::speaker_encoder());
    let verifier = speaker_verifier(folder, &manifest)?.expect("it was just named");
    if config.speakers.is_empty() {
        let held_out: Vec<PathBuf> = corpora.iter().map(|corpus| corpus.join("held-out")).collect();
        let found = verify(&verifier, &held_out, report)?;
        manifest.quality["speaker_encoder"] = rounded(json!({
            "equal_error_rate": found.equal_error_rate,
            "speakers": found.speakers,
            "pairs": found.trials,
            "cosine.same_speaker": found.same_speaker,
            "cosine.other_speakers": found.other_speakers,
        }));
        report.note(&format!("speaker encoder: {:#}", manifest.quality["speaker_encoder"]));
    }
    if let Some(people) = corpora.iter().find(|corpus| corpus.join("people.json").exists()) {
        manifest.recipe["people"] = credits(people)?;
    }
    write_manifest(folder, &manifest)?;

    let base = Base::open(folder, device)?;
    // The figures of other speakers are kept if only some are measured.
    let kept = manifest.quality["clones"].as_object().filter(|_| !config.speakers.is_empty());
    let mut clones = kept.cloned().unwrap_or_default();
    for recordings in &speakers {
        let name = name(recordings);
        let figures = measure_clone(&base, &verifier, recordings, config, report)?;
        report.note(&format!("{name}: {figures:#}"));
        clones.insert(name, figures);
    }
    manifest.held_out = clones.keys().cloned().collect();
    manifest.quality["clones"] = Value::Object(clones);
    write_manifest(folder, &manifest)?;
    if let (Some(evaluators), Some(wavs)) = (evaluators, wavs) {
        report.note("external evaluators");
        manifest.quality["external"] = rounded(external_figures(evaluators, wavs)?);
        write_manifest(folder, &manifest)?;
    }
    Ok(manifest.quality)
}

/// Returns the folders of the held-out speakers that are to be cloned.
///
/// # Errors
/// `option-invalid` if a named speaker is not held out in any of the corpora.
fn held_out(config: &MeasureConfig) -> Result<Vec<PathBuf>> {
    let MeasureConfig { corpora, speakers: wanted, .. } = config;
    let mut found = Vec::new();
    for corpus in corpora {
        let folder = corpus.join("held-out");
        let entries = fs::read_dir(&folder).map_err(Error::io(&folder))?;
        let mut speakers: Vec<PathBuf> =
            entries.map(|entry| Ok(entry.map_err(Error::io(&folder))?.path())).collect::<Result<_>>()?;
        speakers.retain(|speaker| speaker.join("metadata.csv").is_file());
        speakers.sort();
        found.extend(speakers);
    }
    if let Some(unknown) = wanted.iter().find(|wanted| !found.iter().any(|speaker| name(speaker) == **wanted))
    {
        let names: Vec<String> = found.iter().map(|speaker| name(speaker)).collect();
        return Err(Error::option_invalid(format!(
            "{unknown} is not held out in these corpora, but {}",
            names.join(", ")
        )));
    }
    found.retain(|speaker| wanted.is_empty() || wanted.contains(&name(speaker)));
    Ok(found)
}

/// Returns the name of the speaker whose recordings are in a folder.
fn name(recordings: &Path) -> String {
    recordings.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Installs the external evaluators unless they are installed, and returns their figures of all speakers in a folder of WAV files.
fn external_figures(evaluators: &Path, wavs: &Path) -> Result<Value> {
    let python = run(Command::new("python3").arg(evaluators.join("install.py")))?.stdout;
    let path = wavs.join("figures.json");
    let mut table = Command::new(String::from_utf8_lossy(&python).trim());
    run(table.arg(evaluators.join("table.py")).arg(wavs).arg("--json").arg(&path))?;
    serde_json::from_slice(&files::read(&path)?)
        .map_err(|error| Error::corpus_invalid(format!("{}: {error}", path.display())))
}

/// Returns package, licence and credit of the people that the base is measured on.
fn credits(people: &Path) -> Result<Value> {
    let path = people.join("people.json");
    let credits: Vec<PersonSummary> = serde_json::from_slice(&files::read(&path)?)
        .map_err(|error| Error::corpus_invalid(format!("{}: {error}", path.display())))?;
    Ok(json!(credits))
}

/// Clones a speaker from the first minute of the recordings and measures the clone by the last of them.
fn measure_clone(
    base: &Base,
    verifier: &SpeakerVerifier,
    recordings: &Path,
    config: &MeasureConfig,
    report: &dyn Report,
) -> Result<Value> {
    let &MeasureConfig { sentences, ref wavs, seed, .. } = config;
    let mut clips = accepted(base, read_all_clips(recordings, report)?.0, report)?;
    let mut seconds = 0.0;
    let begins_within = |clip: &Clip| {
        seconds += clip.audio.seconds();
        seconds - clip.audio.seconds() < CLONE_SECONDS
    };
    let minute = clips.iter().map(begins_within).filter(|within| *within).count();
    // Of a short corpus a quarter is enough: the clone needs the rest.
    let compared = sentences.min((clips.len() - minute).max(clips.len() / 4));
    let evaluation = pollster::block_on(Evaluation::new(base, Some(verifier), &clips, compared))?;
    clips.truncate(minute.min(evaluation.others.len())); // No clip whose text is synthesised is trained on.
    let options = CloneOptions { seed, ..CloneOptions::default() };
    let tuner = FineTuner::start(base, &clips, options)?;
    let first = tuner.preview();
    let voice = fine_tune(tuner, &[], report)?.voice;
    let unadapted = Voice::unadapted(base);
    pollster::block_on(async {
        let (of_clone, of_base) = (evaluation.measure(&voice).await?, evaluation.measure(&unadapted).await?);
        if let Some(wavs) = wavs {
            let speaker = name(recordings);
            let wavs = &wavs.join(&speaker);
            write_wavs(wavs, base, &voice, &evaluation, &of_clone, &of_base)?;
            let copied = evaluation.measure_with_own_prosody(&voice).await?;
            write_clips(&wavs.join("own-prosody"), &copied.clips, Some(&origin(&voice)?))?;
            let begun = evaluation.measure(&first).await?;
            write_clips(&wavs.join("iteration-0"), &begun.clips, Some(&origin(&first)?))?;
            // People read single words and other languages.
            let is_person = PEOPLE.iter().any(|person| person.name == speaker);
            let voices = [("clone", &voice), ("base", &unadapted), ("iteration-0", &first)];
            for (name, voice) in voices.into_iter().filter(|_| is_person) {
                let new = evaluation
                    .measure_texts(voice, &NEW_SENTENCES[..NEW_SENTENCES.len().min(sentences)])
                    .await?;
                write_new_sentences(wavs, name, &new.clips, &origin(voice)?)?;
            }
        }
        Ok(rounded(Value::Object(evaluation.figures(&of_clone, &of_base).await?)))
    })
}

/// Returns the clips in which their text is spoken. A visitor of the page would record the others again.
fn accepted(base: &Base, clips: Vec<Clip>, report: &dyn Report) -> Result<Vec<Clip>> {
    let mut accepted = Vec::with_capacity(clips.len());
    for clip in clips {
        match pollster::block_on(check_clip(base, &clip)) {
            Ok(_) => accepted.push(clip),
            Err(error) if error.is_clip() => report.note(&format!("left out, {:?}: {error}", clip.text)),
            Err(error) => return Err(error),
        }
    }
    let spoken = pollster::block_on(spoken_throughout(base, &accepted))?;
    let mut spoken = spoken.into_iter();
    accepted.retain(|clip| {
        let spoken = spoken.next().expect("one for each");
        if !spoken {
            report.note(&format!("left out, {:?}: not all of it is spoken", clip.text));
        }
        spoken
    });
    Ok(accepted)
}

/// Returns the speaker encoder that the manifest names, or `None` if it names none.
pub fn speaker_verifier(directory: &Path, manifest: &Manifest) -> Result<Option<SpeakerVerifier>> {
    let Some(entry) = &manifest.files.speaker_encoder else { return Ok(None) };
    SpeakerVerifier::load(&files::read(&directory.join(&entry.path))?).map(Some)
}

/// Rounds figures to three decimals, because further ones depend on the processor.
pub fn rounded(figures: Value) -> Value {
    match figures {
        Value::Object(entries) => entries.into_iter().map(|(name, value)| (name, rounded(value))).collect(),
        Value::Number(number) if number.is_f64() => {
            json!((number.as_f64().expect("a float") * 1000.0).round() / 1000.0)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ownvoice::audio::wav;

    fn config(corpora: &[&Path], speakers: &[&str]) -> MeasureConfig {
        MeasureConfig {
            base: PathBuf::new(),
            corpora: corpora.iter().map(|corpus| corpus.to_path_buf()).collect(),
            speakers: speakers.iter().map(|speaker| speaker.to_string()).collect(),
            sentences: SENTENCES,
            wavs: None,
            evaluators: None,
            seed: 1,
            device: Device::flex(),
        }
    }

    #[test]
    fn the_held_out_speakers_of_all_corpora_are_found_and_can_be_chosen() {
        let root = tempfile::tempdir().unwrap();
        let [teacher, people] = ["teacher", "people"].map(|name| root.path().join(name));
        for speaker in [people.join("held-out/eve"), teacher.join("held-out/bob"), teacher.join("ann")] {
            fs::create_dir_all(&speaker).unwrap();
            fs::write(speaker.join("metadata.csv"), "").unwrap();
        }
        let found = |speakers: &[&str]| held_out(&config(&[&teacher, &people], speakers));
        let names =
            |speakers: &[&str]| found(speakers).unwrap().iter().map(|path| name(path)).collect::<Vec<_>>();
        assert_eq!(names(&[]), ["bob", "eve"]);
        assert_eq!(names(&["eve"]), ["eve"]);
        assert_eq!(
            found(&["ann"]).unwrap_err().code(),
            "option-invalid",
            "nobody is measured who was trained on"
        );
        assert_eq!(held_out(&config(&[root.path()], &[])).unwrap_err().code(), "io");
    }

    /// What `--wavs` leaves for external evaluators: speech that nobody said says so, recordings do not.
    #[test]
    fn speech_that_nobody_said_is_marked() {
        let models = ownvoice_testing::tiny_folder();
        let base = Base::open(models.path().join("base"), &Device::flex()).unwrap();
        let encoder = fs::read("../../models/base/speaker_encoder.safetensors").unwrap();
        let (recordings, wavs) = (models.path().join("english-man"), models.path().join("wavs"));
        fs::create_dir_all(recordings.join("wavs")).unwrap();
        let audio = wav::read(&fs::read("../../tests/fixtures/held-out.wav").unwrap()).unwrap();
        let spoken: Vec<Value> =
            serde_json::from_slice(&fs::read("../../tests/fixtures/held-out.json").unwrap()).unwrap();
        let mut metadata = String::new();
        for (index, sentence) in spoken.iter().take(5).enumerate() {
            let at = |key: &str| (sentence[key].as_f64().unwrap() * f64::from(audio.sample_rate_hz)) as usize;
            let sound = wav::write(&audio.samples[at("begin")..at("end")], audio.sample_rate_hz);
            fs::write(recordings.join(format!("wavs/c{index}.wav")), sound).unwrap();
            metadata += &format!("c{index}|{}\n", sentence["text"].as_str().unwrap());
        }
        fs::write(recordings.join("metadata.csv"), metadata).unwrap();

        let verifier = SpeakerVerifier::load(&encoder).unwrap();
        let config = MeasureConfig { wavs: Some(wavs.clone()), ..config(&[], &[]) };
        measure_clone(&base, &verifier, &recordings, &config, &()).unwrap();
        for (folder, marked) in [
            ("target", false),
            ("same-speaker", false),
            ("base", true),
            ("clone", true),
            ("own-prosody", true),
            ("iteration-0", true),
            ("new/base", true),
            ("new/clone", true),
            ("new/iteration-0", true),
        ] {
            let files: Vec<_> = fs::read_dir(wavs.join("english-man").join(folder))
                .unwrap()
                .map(|file| file.unwrap().path())
                .collect();
            assert!(!files.is_empty(), "{folder}");
            for file in files {
                let said = String::from_utf8_lossy(&fs::read(&file).unwrap())
                    .contains("Synthetic speech, made by ownvoice with voice ");
                assert_eq!(said, marked, "{}", file.display());
            }
        }
    }
}
