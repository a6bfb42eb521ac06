//! What a base is worth: clones of the held-out voices, into its manifest.

use std::path::{Path, PathBuf};

use burn::prelude::Device;
use serde_json::{Value, json};

use super::{
    report::Evaluation,
    sentences::NEW_SENTENCES,
    wavs::{origin, write_clips, write_new_sentences, write_wavs},
};
use crate::{
    corpus::{
        HELD_OUT, PERTURBED,
        make_people::PersonSummary,
        make_perturbed,
        people::{PEOPLE, Role},
    },
    fine_tune::{fine_tune, read_clips},
    learn::hyperparameters::Hyperparameters,
    speaker_encoder::{from_files::verify, verifier::SpeakerVerifier},
};
use ownvoice::{
    Error, Result,
    clone::{
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

/// Which base is measured, and on whom.
#[derive(Debug, Clone)]
pub struct MeasureConfig {
    /// Folder of the base.
    pub base: PathBuf,
    /// Corpus folder of engines, with the held-out voices.
    pub corpus: Option<PathBuf>,
    /// Corpus folder of people.
    pub people: Option<PathBuf>,
    /// Folder for what is compared, as WAV files by speaker, for external evaluators.
    pub wavs: Option<PathBuf>,
    pub seed: u64,
    pub device: Device,
}

/// Speech that a clone is measured with, as of a visitor.
const CLONE_SECONDS: f32 = 60.0;
/// Of some eight words each: with fewer, error rates are noisy.
const SENTENCES: usize = 40;

/// Names the speaker encoder that lies in the base's folder, measures it on the held-out engine voices, and clones these and the held-out people.
pub fn measure(config: &MeasureConfig, report: &dyn Report) -> Result<Value> {
    let MeasureConfig { base: folder, corpus, people, wavs, seed, device } = config;
    wavs.as_deref().map_or(Ok(()), files::check_folder)?;
    let mut manifest = read_manifest(folder)?;
    let path = folder.join(SPEAKER_ENCODER);
    manifest.files.speaker_encoder = Some(FileEntry::new(SPEAKER_ENCODER, &files::read(&path)?));
    let verifier = speaker_verifier(folder, &manifest)?.expect("it was just named");
    if let Some(corpus) = corpus {
        if !corpus.join("held-out").join(PERTURBED).exists() {
            make_perturbed(corpus)?;
        }
        manifest.held_out = held_out_voices().map(str::to_string).collect();
        manifest.recipe["speaker_encoder"] = json!(Hyperparameters::speaker_encoder());
        let found = verify(&verifier, &corpus.join("held-out"))?;
        manifest.quality["speaker_encoder"] = rounded(json!({
            "equal_error_rate": found.equal_error_rate,
            "speakers": found.speakers,
            "pairs": found.trials,
            "cosine.same_speaker": found.same_speaker,
            "cosine.other_speakers": found.other_speakers,
        }));
        report.note(&format!("speaker encoder: {:#}", manifest.quality["speaker_encoder"]));
    }
    write_manifest(folder, &manifest)?;

    let base = Base::open(folder, device)?;
    let clones = |speakers: &[&str], corpus: &Path| -> Result<Value> {
        let clone = |speaker: &&str| {
            let wavs = wavs.as_ref().map(|wavs| wavs.join(speaker));
            let figures = measure_clone(
                &base,
                &verifier,
                &corpus.join("held-out").join(speaker),
                wavs.as_deref(),
                *seed,
                report,
            )?;
            report.note(&format!("{speaker}: {figures:#}"));
            Ok((speaker.to_string(), figures))
        };
        Ok(Value::Object(speakers.iter().map(clone).collect::<Result<_>>()?))
    };
    if let Some(people) = people {
        let speakers: Vec<&str> =
            PEOPLE.iter().filter(|person| person.is_held_out()).map(|person| person.name).collect();
        manifest.recipe["people"] = credits(people, &manifest.speakers)?;
        manifest.quality["people"] = clones(&speakers, people)?;
        write_manifest(folder, &manifest)?;
    }
    if let Some(corpus) = corpus {
        manifest.quality["clones"] = clones(&held_out_voices().collect::<Vec<_>>(), corpus)?;
        write_manifest(folder, &manifest)?;
    }
    Ok(manifest.quality)
}

/// Package, licence and credit of the people that the base was trained on or is measured on.
fn credits(people: &Path, speakers: &[String]) -> Result<Value> {
    let path = people.join("people.json");
    let all: Vec<PersonSummary> = serde_json::from_slice(&files::read(&path)?)
        .map_err(|error| Error::corpus_invalid(format!("{}: {error}", path.display())))?;
    let named = |person: &PersonSummary| person.role != Role::Train || speakers.contains(&person.name);
    Ok(json!(all.into_iter().filter(named).collect::<Vec<_>>()))
}

/// Clones a speaker from the first minute of the recordings and measures the clone by the last of them.
///
/// * `wavs`: folder for what is compared
fn measure_clone(
    base: &Base,
    verifier: &SpeakerVerifier,
    recordings: &Path,
    wavs: Option<&Path>,
    seed: u64,
    report: &dyn Report,
) -> Result<Value> {
    let mut clips = accepted(base, read_clips(recordings, None)?, report)?;
    let mut seconds = 0.0;
    let begins_within = |clip: &Clip| {
        seconds += clip.audio.seconds();
        seconds - clip.audio.seconds() < CLONE_SECONDS
    };
    let minute = clips.iter().map(begins_within).filter(|within| *within).count();
    // Of a short corpus a quarter is enough: the clone needs the rest.
    let sentences = SENTENCES.min((clips.len() - minute).max(clips.len() / 4));
    let evaluation = pollster::block_on(Evaluation::new(base, Some(verifier), &clips, sentences))?;
    clips.truncate(minute.min(evaluation.others.len())); // What is spoken again is never trained on.
    let voice = fine_tune(base, &clips, CloneOptions { seed, ..CloneOptions::default() }, report)?;
    let unadapted = Voice::unadapted(base);
    pollster::block_on(async {
        let (of_clone, of_base) = (evaluation.measure(&voice).await?, evaluation.measure(&unadapted).await?);
        if let Some(wavs) = wavs {
            write_wavs(wavs, base, &voice, &evaluation, &of_clone, &of_base)?;
            let copied = evaluation.measure_with_own_prosody(&voice).await?;
            write_clips(&wavs.join("own-prosody"), base, &copied.clips, Some(&origin(&voice)?))?;
            for (name, voice) in [("clone", &voice), ("base", &unadapted)] {
                let new = evaluation.measure_texts(voice, &NEW_SENTENCES).await?;
                write_new_sentences(wavs, name, base, &new.clips, &origin(voice)?)?;
            }
        }
        Ok(rounded(Value::Object(evaluation.figures(&of_clone, &of_base).await?)))
    })
}

/// The clips whose text is recognised in them: a page's visitor would record the others again.
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

/// Nothing is ever trained on these.
pub fn held_out_voices() -> impl Iterator<Item = &'static str> {
    HELD_OUT.into_iter().chain([PERTURBED])
}

/// The speaker encoder that the manifest names; `None` where it names none.
pub fn speaker_verifier(directory: &Path, manifest: &Manifest) -> Result<Option<SpeakerVerifier>> {
    let Some(entry) = &manifest.files.speaker_encoder else { return Ok(None) };
    SpeakerVerifier::load(&files::read(&directory.join(&entry.path))?).map(Some)
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
    use ownvoice::audio::wav;
    use std::fs;

    /// What `--wavs` leaves for external evaluators: speech that nobody said says so, recordings do not.
    #[test]
    fn speech_that_nobody_said_is_marked() {
        let models = ownvoice_testing::tiny_folder();
        let base = Base::open(models.path().join("base"), &Device::flex()).unwrap();
        let encoder = fs::read("../../models/base/speaker_encoder.safetensors").unwrap();
        let (recordings, wavs) = (models.path().join("recordings"), models.path().join("wavs"));
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
        measure_clone(&base, &verifier, &recordings, Some(&wavs), 1, &()).unwrap();
        for (folder, marked) in [
            ("target", false),
            ("same-speaker", false),
            ("base", true),
            ("clone", true),
            ("own-prosody", true),
            ("new/base", true),
            ("new/clone", true),
        ] {
            let files: Vec<_> =
                fs::read_dir(wavs.join(folder)).unwrap().map(|file| file.unwrap().path()).collect();
            assert!(!files.is_empty(), "{folder}");
            for file in files {
                let said = String::from_utf8_lossy(&fs::read(&file).unwrap())
                    .contains("Synthetic speech, made by ownvoice with voice ");
                assert_eq!(said, marked, "{}", file.display());
            }
        }
    }
}
