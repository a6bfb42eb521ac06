//! Makes a multi-speaker corpus from the installed speech engines.
//!
//! ```text
//! DIR/corpus.json                       the summary, written when the corpus is complete
//! DIR/<speaker>/metadata.csv            id|text
//! DIR/<speaker>/wavs/<id>.wav           16 kHz, mono
//! DIR/<speaker>/speaker.json            written when the speaker is complete
//! DIR/<speaker>/phones/<id>.csv         phone,end_seconds: the engine's own phones; absent if it prints none
//! DIR/held-out/<speaker>/..             the same for speakers that nothing is trained on
//! DIR/foreign/<speaker>/..              voices of other languages, for models that learn from sound alone
//! ```

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::{fmt::Write, fs, io, path::Path};

use super::{
    engines::{SAMPLE_RATE_HZ, Utterance},
    perturbation::Perturbation,
    phones::to_csv,
    sentences::Sentences,
    voices::{Speaker, foreign_speakers, held_out_speakers, training_speakers},
};
use ownvoice::{
    Error, Result,
    audio::wav,
    files::{self, read_audio},
    text::lexicon::Lexicon,
};

/// The folder of the voices of other languages.
pub const FOREIGN: &str = "foreign";
/// The hours of all of these voices together, relative to those of the training speakers.
const FOREIGN_SHARE: f32 = 0.15;
/// A held-out speaker that differs from every engine's voice: its pitch is five semitones and its formants are 15 % higher. Its texts are those of the voice
/// that it is made from.
const PERTURBED: &str = "flite-awb-higher";
const PERTURBED_FROM: (&str, Perturbation) = ("flite-awb", Perturbation { formants: 1.15, pitch: 1.335 });
/// Utterances whose duration is outside this range are left out.
const SECONDS: std::ops::RangeInclusive<f32> = 1.2..=8.0;
/// The number of utterances per call of an engine.
const BATCH: usize = 40;

/// The options of [`make`].
#[derive(Debug, Clone, PartialEq)]
pub struct MakeOptions {
    pub hours: f32,
    pub seed: u64,
    /// The seconds of each held-out voice, at most those of all training speakers together.
    pub held_out_seconds: f32,
    /// By default [`training_speakers`]; without any, only the held-out speakers are made.
    pub speakers: Vec<Speaker>,
    /// By default [`foreign_speakers`].
    pub foreign: Vec<Speaker>,
}

impl Default for MakeOptions {
    fn default() -> Self {
        Self {
            hours: 6.0,
            seed: 1,
            held_out_seconds: 240.0,
            speakers: training_speakers(),
            foreign: foreign_speakers(),
        }
    }
}

/// The contents of `corpus.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub sample_rate_hz: u32,
    pub seed: u64,
    pub speakers: Vec<SpeakerSummary>,
    /// Speakers under `held-out/`, which nothing is trained on.
    pub held_out: Vec<SpeakerSummary>,
    /// Speakers under `foreign/`, whose texts do not match their phones.
    pub foreign: Vec<SpeakerSummary>,
}

/// One speaker of a corpus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SpeakerSummary {
    pub name: String,
    pub utterances: usize,
    pub seconds: f32,
    /// Whether the engine printed its phones.
    pub phone_times: bool,
}

/// The progress of one speaker.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress<'a> {
    pub speaker: &'a str,
    pub seconds_done: f32,
    pub seconds_wanted: f32,
}

/// Speaks seeded sentences with every speaker until `hours` are reached, as many speakers at a time as there are cores. Held-out speakers have
/// sentences of their own.
pub fn make(
    out: &Path,
    options: &MakeOptions,
    lexicon: &Lexicon,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Summary> {
    if !(options.hours > 0.0 && options.hours <= 1000.0) {
        return Err(Error::option_invalid("a corpus needs between 0 and 1000 hours"));
    }
    if options.held_out_seconds.is_nan() || options.held_out_seconds <= 0.0 {
        return Err(Error::option_invalid("held-out voices need more than 0 seconds"));
    }
    let summary_path = out.join("corpus.json");
    begin(out, &summary_path)?;
    let wanted = options.hours * 3600.0;
    let mut sentences = Sentences::new(lexicon, options.seed);
    let held_out_seconds = options.held_out_seconds.min(wanted);
    let held_out = held_out_speakers()
        .iter()
        .map(|speaker| {
            make_speaker(&out.join("held-out"), speaker, held_out_seconds, &mut sentences, progress)
        })
        .collect::<Result<_>>()?;
    make_perturbed(out)?;
    let weights: f32 = options.speakers.iter().map(|speaker| speaker.weight).sum();
    let trained = options
        .speakers
        .iter()
        .map(|speaker| (out.to_path_buf(), speaker, wanted * speaker.weight / weights));
    let foreign_seconds = wanted * FOREIGN_SHARE / options.foreign.len().max(1) as f32;
    let foreign = options.foreign.iter().map(|speaker| (out.join(FOREIGN), speaker, foreign_seconds));
    let tasks: Vec<_> = trained.chain(foreign).enumerate().collect();
    let mut speakers: Vec<SpeakerSummary> = tasks
        .par_iter()
        .map(|(index, (folder, speaker, seconds))| {
            let sentences = &mut sentences.branch(*index);
            speaker_once(folder, speaker, (options.seed, *seconds), sentences, progress)
        })
        .collect::<Result<_>>()?;
    let foreign = speakers.split_off(options.speakers.len());
    let summary = Summary { sample_rate_hz: SAMPLE_RATE_HZ, seed: options.seed, speakers, held_out, foreign };
    files::write(&summary_path, serde_json::to_string_pretty(&summary).expect("plain data"))?;
    Ok(summary)
}

/// Prepares a folder to be filled: checks that it can be written, and removes `index`, which marks it as complete.
pub(super) fn begin(folder: &Path, index: &Path) -> Result<()> {
    files::check_folder(folder)?;
    match fs::remove_file(index) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(index)(error)),
        _ => Ok(()),
    }
}

/// The contents of `speaker.json`, which marks a complete speaker, so that an interrupted corpus resumes with the next one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct CompleteSpeaker {
    seed: u64,
    wanted_seconds: f32,
    summary: SpeakerSummary,
}

/// Makes a speaker unless a corpus with the same seed and seconds already has it.
fn speaker_once(
    folder: &Path,
    speaker: &Speaker,
    (seed, wanted_seconds): (u64, f32),
    sentences: &mut Sentences,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<SpeakerSummary> {
    let path = folder.join(&speaker.name).join("speaker.json");
    let kept = fs::read(&path).ok().and_then(|json| serde_json::from_slice::<CompleteSpeaker>(&json).ok());
    if let Some(CompleteSpeaker { summary, .. }) =
        kept.filter(|kept| (kept.seed, kept.wanted_seconds) == (seed, wanted_seconds))
    {
        return Ok(summary);
    }
    begin(&folder.join(&speaker.name), &path)?;
    let summary = make_speaker(folder, speaker, wanted_seconds, sentences, progress)?;
    let whole = CompleteSpeaker { seed, wanted_seconds, summary };
    files::write(&path, serde_json::to_string(&whole).expect("plain data"))?;
    Ok(whole.summary)
}

/// Makes a speaker of `wanted` seconds.
fn make_speaker(
    folder: &Path,
    speaker: &Speaker,
    wanted: f32,
    sentences: &mut Sentences,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<SpeakerSummary> {
    let folder = folder.join(&speaker.name);
    let (wavs, phones, scratch) = (folder.join("wavs"), folder.join("phones"), folder.join("scratch"));
    begin(&folder, &folder.join("metadata.csv"))?;
    for folder in [&wavs, &phones] {
        fs::create_dir_all(folder).map_err(Error::io(folder))?;
    }
    let mut summary =
        SpeakerSummary { name: speaker.name.clone(), utterances: 0, seconds: 0.0, phone_times: false };
    let mut metadata = String::new();
    let mut batches_without_speech = 0;
    while summary.seconds < wanted {
        let missing = ((wanted - summary.seconds) / 3.5).ceil() as usize;
        let texts: Vec<String> = sentences.by_ref().take(missing.clamp(1, BATCH)).collect();
        let before = summary.utterances;
        for Utterance { text, samples, phones: engine_phones } in
            speaker.engine.speak(&texts, speaker.perturbation, &scratch)?
        {
            let seconds = samples.len() as f32 / SAMPLE_RATE_HZ as f32;
            if !SECONDS.contains(&seconds) || summary.seconds >= wanted {
                continue;
            }
            let id = format!("{}-{:05}", speaker.name, summary.utterances);
            files::write(&wavs.join(format!("{id}.wav")), wav::write(&samples, SAMPLE_RATE_HZ))?;
            if let Some(engine_phones) = engine_phones {
                files::write(&phones.join(format!("{id}.csv")), to_csv(&engine_phones))?;
                summary.phone_times = true;
            }
            let _ = writeln!(metadata, "{id}|{text}");
            summary.utterances += 1;
            summary.seconds += seconds;
        }
        // Otherwise an engine that returns no speech would be called forever.
        batches_without_speech = if summary.utterances == before { batches_without_speech + 1 } else { 0 };
        if batches_without_speech == 5 {
            return Err(Error::corpus_invalid(format!(
                "{} returns no speech for {}",
                speaker.engine.program(),
                speaker.name
            )));
        }
        progress(Progress { speaker: &speaker.name, seconds_done: summary.seconds, seconds_wanted: wanted });
    }
    let _ = fs::remove_dir_all(&scratch);
    if !summary.phone_times {
        let _ = fs::remove_dir(&phones);
    }
    files::write(&folder.join("metadata.csv"), metadata)?;
    Ok(summary)
}

/// Makes [`PERTURBED`] from the recordings of its original voice, in the same folder.
fn make_perturbed(out: &Path) -> Result<()> {
    let (original, perturbation) = PERTURBED_FROM;
    let [from, to] = [original, PERTURBED].map(|name| out.join("held-out").join(name));
    let (wavs, phones) = (to.join("wavs"), to.join("phones"));
    begin(&to, &to.join("metadata.csv"))?;
    for folder in [&wavs, &phones] {
        fs::create_dir_all(folder).map_err(Error::io(folder))?;
    }
    let mut metadata = String::new();
    for (index, recording) in super::layouts::load(&from, &())?.enumerate() {
        let id = format!("{PERTURBED}-{index:05}");
        let audio = read_audio(&recording.path)?;
        files::write(
            &wavs.join(format!("{id}.wav")),
            wav::write(&perturbation.apply(&audio.samples, audio.sample_rate_hz)?, audio.sample_rate_hz),
        )?;
        if let Some(times) = &recording.phones {
            let changed: Vec<_> = times.iter().map(|phone| phone.faster(perturbation.formants)).collect();
            files::write(&phones.join(format!("{id}.csv")), to_csv(&changed))?;
        }
        let _ = writeln!(metadata, "{id}|{}", recording.text);
    }
    files::write(&to.join("metadata.csv"), metadata)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::engines::SpeechEngine;
    use ownvoice::text::Phonemizer;

    #[test]
    fn options_are_checked() {
        let phonemizer = Phonemizer::embedded();
        for hours in [0.0, f32::NAN] {
            let options = MakeOptions { hours, ..Default::default() };
            assert_eq!(
                make(Path::new("/nowhere"), &options, phonemizer.lexicon(), &|_| {}).unwrap_err().code(),
                "option-invalid"
            );
        }
        for held_out_seconds in [0.0, -1.0, f32::NAN] {
            let options = MakeOptions { held_out_seconds, ..Default::default() };
            assert_eq!(
                make(Path::new("/nowhere"), &options, phonemizer.lexicon(), &|_| {}).unwrap_err().code(),
                "option-invalid"
            );
        }
    }

    #[test]
    fn an_interrupted_corpus_resumes() {
        let out = tempfile::tempdir().unwrap();
        let speaker = Speaker::new("someone", SpeechEngine::Festival { procedure: "no_such_voice" }, 1.0);
        let path = out.path().join("someone/speaker.json");
        let summary =
            SpeakerSummary { name: "someone".into(), utterances: 2, seconds: 5.0, phone_times: false };
        let whole = CompleteSpeaker { seed: 1, wanted_seconds: 4.0, summary };
        fs::create_dir(out.path().join("someone")).unwrap();
        fs::write(&path, serde_json::to_string(&whole).unwrap()).unwrap();
        let phonemizer = Phonemizer::embedded();
        let make = |seed: u64| {
            let sentences = &mut Sentences::new(phonemizer.lexicon(), seed);
            speaker_once(out.path(), &speaker, (seed, 4.0), sentences, &|_| {})
        };
        assert_eq!(make(1).unwrap(), whole.summary, "it was complete");
        make(2).unwrap_err();
        assert!(!path.exists(), "with another seed the speaker is made anew");
    }

    #[test]
    fn an_unwritable_folder_is_an_error_before_anything_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, []).unwrap();
        let phonemizer = Phonemizer::embedded();
        let error = make(&file.join("corpus"), &MakeOptions::default(), phonemizer.lexicon(), &|_| {});
        assert_eq!(error.unwrap_err().code(), "io");
        let index = folder.path().join("corpus.json");
        fs::write(&index, "{}").unwrap();
        begin(folder.path(), &index).unwrap();
        assert!(!index.exists(), "the mark of a complete corpus is removed");
    }

    #[test]
    #[ignore = "needs flite, espeak-ng, and festival with all its voices"]
    fn a_small_corpus_can_be_loaded_and_labelled() {
        let out = std::env::temp_dir().join(format!("ownvoice-make-{}", std::process::id()));
        let phonemizer = Phonemizer::embedded();
        let summary =
            make(&out, &MakeOptions { hours: 0.01, ..Default::default() }, phonemizer.lexicon(), &|_| {})
                .unwrap();
        assert_eq!((summary.speakers.len(), summary.held_out.len(), summary.foreign.len()), (53, 2, 9));
        assert!(out.join("held-out").join(PERTURBED).join("metadata.csv").exists());
        for folder in [out.clone(), out.join("held-out")] {
            for recording in crate::corpus::layouts::load(&folder, &()).unwrap() {
                let audio = wav::read(&fs::read(&recording.path).unwrap()).unwrap();
                assert_eq!(audio.sample_rate_hz, SAMPLE_RATE_HZ);
                let labels = crate::corpus::label(
                    &phonemizer,
                    &recording.text,
                    recording.phones.as_deref(),
                    audio.seconds(),
                )
                .unwrap();
                let frames = 1 + audio.samples.len() / 200;
                if let Some(durations) = labels.durations(frames, 0.0125) {
                    assert_eq!(durations.iter().sum::<u32>(), frames as u32, "{}", recording.id);
                }
            }
        }
        assert!(
            crate::corpus::layouts::load(&out.join(FOREIGN), &()).unwrap().count() >= summary.foreign.len()
        );
        fs::remove_dir_all(&out).unwrap();
    }
}
