//! Makes a multi-speaker corpus from the installed speech engines.
//!
//! ```text
//! DIR/corpus.json                       what is in it, when all of it is there
//! DIR/<speaker>/metadata.csv            id|text
//! DIR/<speaker>/wavs/<id>.wav           16 kHz, mono
//! DIR/<speaker>/speaker.json            when all of it is there
//! DIR/<speaker>/phones/<id>.csv         phone,end_seconds: the engine's own phones; absent where an engine prints none
//! DIR/held-out/<speaker>/..             the same, for speakers that nothing is ever trained on
//! DIR/foreign/<speaker>/..              voices of other languages, for what learns from sound alone
//! ```
//!
//! One long file: the lists of voices stand beside what is made with them.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::{fmt::Write, fs, io, path::Path};

use super::engines::{SAMPLE_RATE_HZ, SpeechEngine, Utterance};
use super::perturbation::Perturbation;
use super::phones::to_csv;
use super::sentences::Sentences;
use crate::audio::wav;
use crate::files::{self, read_audio};
use crate::text::lexicon::Lexicon;
use crate::{Error, Result};

/// Speakers to test with: no training may see them.
pub const HELD_OUT: [&str; 2] = ["flite-awb", "festival-kdlpc16k"];
/// Folder of the voices of other languages.
pub const FOREIGN: &str = "foreign";
/// How much they speak, all together, of what the others do.
const FOREIGN_SHARE: f32 = 0.15;
/// A third one, as unlike any engine as pitch and formants can make it: five semitones and 15 % higher. Its texts are those of the voice that it is made from.
pub const PERTURBED: &str = "flite-awb-higher";
const PERTURBED_FROM: (&str, Perturbation) = ("flite-awb", Perturbation { formants: 1.15, pitch: 1.335 });
/// Utterances outside this range are left out.
const SECONDS: std::ops::RangeInclusive<f32> = 1.2..=8.0;
/// Utterances of one call of an engine.
const BATCH: usize = 40;

#[derive(Debug, Clone, PartialEq)]
pub struct Speaker {
    pub name: String,
    pub engine: SpeechEngine,
    /// Another speaker out of the engine's.
    pub perturbation: Perturbation,
    /// Share of the corpus, relative to the other speakers.
    pub weight: f32,
}

impl Speaker {
    fn new(name: &str, engine: SpeechEngine, weight: f32) -> Self {
        Self { name: name.to_string(), engine, perturbation: Perturbation::NONE, weight }
    }

    fn perturbed(&self, perturbation: Perturbation) -> Self {
        let name = format!("{}@{}x{}", self.name, perturbation.formants, perturbation.pitch);
        Self { name, engine: self.engine.clone(), perturbation, weight: self.weight * PERTURBED_SHARE }
    }
}

/// Formants and pitch of the speakers that each recorded voice is made into: played faster or slower, then each moved by itself.
pub(super) const PERTURBATIONS: [(f32, f32); 8] = [
    (0.86, 0.86),
    (0.93, 0.93),
    (1.08, 1.08),
    (1.16, 1.16),
    (0.9, 1.1),
    (1.1, 0.88),
    (1.0, 0.8),
    (1.0, 1.25),
];
/// Share of the corpus that each gets, of its voice's own.
const PERTURBED_SHARE: f32 = 0.2;

/// All speakers for training: recorded voices get the most of the hours, formant synthesis the least.
pub fn training_speakers() -> Vec<Speaker> {
    let voices = [
        Speaker::new("flite-slt", SpeechEngine::Flite { voice: "slt" }, 24.0),
        Speaker::new("flite-rms", SpeechEngine::Flite { voice: "rms" }, 24.0),
        Speaker::new("flite-kal16", SpeechEngine::Flite { voice: "kal16" }, 12.0),
        Speaker::new(
            "festival-us-slt-hts",
            SpeechEngine::Festival { procedure: "voice_cmu_us_slt_arctic_hts" },
            10.0,
        ),
        Speaker::new("festival-kallpc16k", SpeechEngine::Festival { procedure: "voice_kal_diphone" }, 8.0),
    ];
    let mut speakers = Vec::new();
    for voice in voices {
        speakers
            .extend(PERTURBATIONS.map(|(formants, pitch)| voice.perturbed(Perturbation { formants, pitch })));
        speakers.push(voice);
    }
    let variants = [
        ("f2", 50),
        ("f5", 40),
        ("m3", 45),
        ("m7", 50),
        ("adam", 50),
        ("linda", 50),
        ("max", 50),
        ("anika", 50),
    ];
    for (variant, pitch) in variants {
        speakers.push(Speaker::new(
            &format!("espeak-en-us-{variant}"),
            SpeechEngine::Espeak { variant, pitch, words_per_minute: 155 },
            2.0,
        ));
    }
    speakers
}

/// Voices of other languages, for what learns from sound alone. They read our sentences as if those were theirs.
pub fn foreign_speakers() -> Vec<Speaker> {
    let voices = [
        ("italian-lp", "voice_lp_diphone"),
        ("italian-pc", "voice_pc_diphone"),
        ("czech-dita", "voice_czech_dita"),
        ("czech-krb", "voice_czech_krb"),
        ("czech-machac", "voice_czech_machac"),
        ("czech-ph", "voice_czech_ph"),
        ("finnish-lj", "voice_suo_fi_lj_diphone"),
        ("finnish-mv", "voice_hy_fi_mv_diphone"),
        ("catalan-ona", "voice_upc_ca_ona_hts"),
    ];
    voices
        .map(|(name, procedure)| {
            Speaker::new(&format!("festival-{name}"), SpeechEngine::Festival { procedure }, 1.0)
        })
        .into()
}

pub fn held_out_speakers() -> Vec<Speaker> {
    let engines =
        [SpeechEngine::Flite { voice: "awb" }, SpeechEngine::Festival { procedure: "voice_ked_diphone" }];
    HELD_OUT.iter().zip(engines).map(|(name, engine)| Speaker::new(name, engine, 1.0)).collect()
}

#[derive(Debug, Clone, PartialEq)]
pub struct MakeOptions {
    pub hours: f32,
    pub seed: u64,
    /// Of each held-out voice, at most as much as of all others together.
    pub held_out_seconds: f32,
    /// [`training_speakers`], unless fewer are wanted.
    pub speakers: Vec<Speaker>,
    /// [`foreign_speakers`], likewise.
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

/// `corpus.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub sample_rate_hz: u32,
    pub seed: u64,
    pub speakers: Vec<SpeakerSummary>,
    /// Speakers under `held-out/`, never to be trained on.
    pub held_out: Vec<SpeakerSummary>,
    /// Speakers under `foreign/`, whose words are nobody's.
    pub foreign: Vec<SpeakerSummary>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SpeakerSummary {
    pub name: String,
    pub utterances: usize,
    pub seconds: f32,
    pub phone_times: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress<'a> {
    pub speaker: &'a str,
    pub seconds_done: f32,
    pub seconds_wanted: f32,
}

/// Speaks seeded sentences with every speaker until `hours` are reached, as many speakers at a time as there are cores. Held-out speakers say
/// sentences that no other speaker speaks.
pub fn make(
    out: &Path,
    options: &MakeOptions,
    lexicon: &Lexicon,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Summary> {
    if !(options.hours > 0.0 && options.hours <= 1000.0) || options.speakers.is_empty() {
        return Err(Error::option_invalid(
            "a corpus needs at least one speaker and between 0 and 1000 hours",
        ));
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

/// Before a folder is filled: that it can be, and that nothing marks it as complete. `index` is written when it is.
pub(super) fn begin(folder: &Path, index: &Path) -> Result<()> {
    files::check_folder(folder)?;
    match fs::remove_file(index) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(index)(error)),
        _ => Ok(()),
    }
}

/// A complete speaker, marked by `speaker.json` in its folder: a corpus that was cut short goes on behind it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Whole {
    seed: u64,
    wanted_seconds: f32,
    summary: SpeakerSummary,
}

/// [`make_speaker`], but for a speaker that the same corpus has already.
fn speaker_once(
    folder: &Path,
    speaker: &Speaker,
    (seed, wanted_seconds): (u64, f32),
    sentences: &mut Sentences,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<SpeakerSummary> {
    let path = folder.join(&speaker.name).join("speaker.json");
    let kept = fs::read(&path).ok().and_then(|json| serde_json::from_slice::<Whole>(&json).ok());
    if let Some(Whole { summary, .. }) =
        kept.filter(|kept| (kept.seed, kept.wanted_seconds) == (seed, wanted_seconds))
    {
        return Ok(summary);
    }
    begin(&folder.join(&speaker.name), &path)?;
    let summary = make_speaker(folder, speaker, wanted_seconds, sentences, progress)?;
    let whole = Whole { seed, wanted_seconds, summary };
    files::write(&path, serde_json::to_string(&whole).expect("plain data"))?;
    Ok(whole.summary)
}

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
        // An engine that returns no speech would otherwise be called forever.
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

/// Makes [`PERTURBED`] from the recordings of the held-out voice behind it, in the same folder.
pub fn make_perturbed(out: &Path) -> Result<()> {
    let (original, perturbation) = PERTURBED_FROM;
    perturb(&out.join("held-out").join(original), &out.join("held-out").join(PERTURBED), perturbation, 1)
}

/// Another speaker out of the recordings of one: every `stride`-th of them. The new folder's name is the speaker's.
pub(super) fn perturb(from: &Path, to: &Path, perturbation: Perturbation, stride: usize) -> Result<()> {
    let name = to.file_name().expect("a folder of its own").to_string_lossy();
    let (wavs, phones) = (to.join("wavs"), to.join("phones"));
    begin(to, &to.join("metadata.csv"))?;
    for folder in [&wavs, &phones] {
        fs::create_dir_all(folder).map_err(Error::io(folder))?;
    }
    let mut metadata = String::new();
    for (index, recording) in super::layouts::load(from)?.step_by(stride).enumerate() {
        let id = format!("{name}-{index:05}");
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
    use crate::text::Phonemizer;

    #[test]
    fn held_out_speakers_are_not_trained_on() {
        let training = training_speakers();
        assert!(training.len() >= 20);
        let clean = |speaker: &Speaker| HELD_OUT.iter().all(|held_out| !speaker.name.starts_with(held_out));
        assert!(training.iter().all(clean));
        let engines: Vec<_> = held_out_speakers().into_iter().map(|speaker| speaker.engine).collect();
        assert!(training.iter().all(|speaker| !engines.contains(&speaker.engine)));
    }

    #[test]
    fn options_are_checked() {
        let phonemizer = Phonemizer::embedded();
        for (hours, speakers) in
            [(0.0, training_speakers()), (f32::NAN, training_speakers()), (1.0, Vec::new())]
        {
            let options = MakeOptions { hours, speakers, ..Default::default() };
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
    fn a_corpus_that_was_cut_short_goes_on() {
        let out = tempfile::tempdir().unwrap();
        let speaker = Speaker::new("someone", SpeechEngine::Festival { procedure: "no_such_voice" }, 1.0);
        let path = out.path().join("someone/speaker.json");
        let summary =
            SpeakerSummary { name: "someone".into(), utterances: 2, seconds: 5.0, phone_times: false };
        let whole = Whole { seed: 1, wanted_seconds: 4.0, summary };
        fs::create_dir(out.path().join("someone")).unwrap();
        fs::write(&path, serde_json::to_string(&whole).unwrap()).unwrap();
        let phonemizer = Phonemizer::embedded();
        let make = |seed: u64| {
            let sentences = &mut Sentences::new(phonemizer.lexicon(), seed);
            speaker_once(out.path(), &speaker, (seed, 4.0), sentences, &|_| {})
        };
        assert_eq!(make(1).unwrap(), whole.summary, "it was whole");
        make(2).unwrap_err();
        assert!(!path.exists(), "of another corpus it is made anew, and whole no longer");
    }

    #[test]
    fn a_folder_that_cannot_be_filled_is_found_first() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, []).unwrap();
        let phonemizer = Phonemizer::embedded();
        let error = make(&file.join("corpus"), &MakeOptions::default(), phonemizer.lexicon(), &|_| {});
        assert_eq!(error.unwrap_err().code(), "io");
        let index = folder.path().join("corpus.json");
        fs::write(&index, "{}").unwrap();
        begin(folder.path(), &index).unwrap();
        assert!(!index.exists(), "nothing says that it is full");
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
            for recording in super::super::layouts::load(&folder).unwrap() {
                let audio = wav::read(&fs::read(&recording.path).unwrap()).unwrap();
                assert_eq!(audio.sample_rate_hz, SAMPLE_RATE_HZ);
                let labels = super::super::label(
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
        assert!(super::super::layouts::load(&out.join(FOREIGN)).unwrap().count() >= summary.foreign.len());
        fs::remove_dir_all(&out).unwrap();
    }
}
