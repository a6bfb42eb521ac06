//! A corpus spoken by Kokoro-82M: its English voices, and seeded mixes of them, read natural and generated sentences.
//!
//! ```text
//! DIR/corpus.json                       the speakers and their seconds; written when the corpus is complete
//! DIR/<speaker>/metadata.csv            id|text
//! DIR/<speaker>/wavs/<id>.wav           24 kHz, mono
//! DIR/<speaker>/phones/<id>.csv         phone,end_seconds: the durations that the model predicted
//! DIR/held-out/<speaker>/..             the same for the voices that are only ever measured on
//! ```
//!
//! Utterances are made in rounds over all speakers, so that a part of the corpus is as balanced as the whole. A run that was interrupted goes on where it
//! stopped.

use std::{
    collections::{HashMap, HashSet},
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use rand::{Rng, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;

use super::{
    engines::cut_and_level,
    kokoro::{Kokoro, Phonemes, SAMPLE_RATE_HZ, Style},
    make::{SpeakerSummary, Summary, begin},
    phones::{EnginePhone, to_csv},
    sentences::Sentences,
    wordnet,
};
use ownvoice::{
    Error, Result,
    audio::wav,
    files,
    report::{Progress, Report},
    text::Phonemizer,
};

/// Voices to measure on. Neither they nor mixes of them are in the training speakers.
pub const HELD_OUT_VOICES: [&str; 4] = ["am_michael", "bf_emma", "af_bella", "bm_george"];

/// The other English voices and the weight at which mixes draw them, which follows the quality that the authors of Kokoro state. The second letter is f for
/// a woman and m for a man. `af_nicole` whispers.
#[rustfmt::skip]
const VOICES: [(&str, u32); 24] = [
    ("af_heart", 5), ("af_alloy", 3), ("af_aoede", 3), ("af_jessica", 2), ("af_kore", 3), ("af_nicole", 1), ("af_nova", 3), ("af_river", 2), ("af_sarah", 3), ("af_sky", 2),
    ("am_adam", 1), ("am_echo", 2), ("am_eric", 2), ("am_fenrir", 3), ("am_liam", 2), ("am_onyx", 2), ("am_puck", 3), ("am_santa", 1),
    ("bf_alice", 2), ("bf_isabella", 3), ("bf_lily", 2), ("bm_daniel", 2), ("bm_fable", 3), ("bm_lewis", 2),
];
/// The number of speakers that are mixes.
const MIXES: usize = 216;
/// Utterances of each unmixed voice in a round, in which a mix has one.
const UNMIXED_SHARE: usize = 2;
/// The share of sentences from WordNet. The generated ones cover rare pairs of phones, letters and numbers.
const NATURAL_SHARE: f64 = 0.67;
/// Sentences that each held-out voice reads beside the prompts.
const HELD_OUT_SENTENCES: usize = 40;
/// Prompts that a visitor of the page reads, and that the held-out voices read.
const PROMPTS: usize = 12;
/// Utterances outside this range are left out.
const SECONDS: std::ops::RangeInclusive<f32> = 1.0..=10.0;

/// A voice, or a mix of voices.
#[derive(Debug, Clone, PartialEq)]
pub struct TeacherSpeaker {
    pub name: String,
    /// The voices with their weights, which sum to one.
    pub voices: Vec<(&'static str, f32)>,
    /// The tempo, relative to the model's own.
    pub speed: f32,
}

impl TeacherSpeaker {
    fn voice(voice: &'static str, speed: f32) -> Self {
        Self { name: format!("kokoro-{voice}"), voices: vec![(voice, 1.0)], speed }
    }
}

/// Returns the speakers of a seed: all voices that are not held out, then mixes of two or three of them. Two fifths of the mixes are of women, two fifths of
/// men, and the others of both.
pub fn speakers(seed: u64) -> Vec<TeacherSpeaker> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let speed = |random: &mut ChaCha8Rng| random.random_range(0.92..=1.08);
    let mut speakers: Vec<_> =
        VOICES.iter().map(|(voice, _)| TeacherSpeaker::voice(voice, speed(&mut random))).collect();
    let mut seen = HashSet::new();
    while speakers.len() < VOICES.len() + MIXES {
        let index = speakers.len() - VOICES.len();
        let sex = match index % 5 {
            0 | 2 => "f",
            1 | 3 => "m",
            _ => "fm",
        };
        let mut pool: Vec<_> = VOICES.iter().filter(|(voice, _)| sex.contains(&voice[1..2])).collect();
        let mut voices = Vec::new();
        for _ in 0..random.random_range(2..=3) {
            let mut rest = random.random_range(0..pool.iter().map(|(_, weight)| weight).sum());
            let drawn = pool.iter().position(|(_, weight)| {
                let is_drawn = rest < *weight;
                rest = rest.saturating_sub(*weight);
                is_drawn
            });
            voices.push(pool.remove(drawn.expect("a number below the sum of the weights")).0);
        }
        voices.sort_unstable();
        let weights: Vec<f32> = voices.iter().map(|_| random.random_range(0.35..=1.0)).collect();
        let sum: f32 = weights.iter().sum();
        if seen.insert(voices.clone()) {
            speakers.push(TeacherSpeaker {
                name: format!("kokoro-mix-{index:03}"),
                voices: voices.into_iter().zip(weights.iter().map(|weight| weight / sum)).collect(),
                speed: speed(&mut random),
            });
        }
    }
    speakers
}

/// An utterance that is to be made.
#[derive(Debug, Clone, PartialEq)]
struct PlannedUtterance {
    /// An index into the speakers.
    speaker: usize,
    id: String,
    text: String,
    speed: f32,
}

/// An endless iterator over the utterances of a seed.
struct Plan<'a> {
    speakers: &'a [TeacherSpeaker],
    random: ChaCha8Rng,
    natural: std::vec::IntoIter<String>,
    generated: Sentences<'a>,
    /// The speakers that are left of the present round.
    round: Vec<usize>,
    index: usize,
}

impl Iterator for Plan<'_> {
    type Item = PlannedUtterance;

    fn next(&mut self) -> Option<PlannedUtterance> {
        if self.round.is_empty() {
            let times = |speaker: &TeacherSpeaker| if speaker.voices.len() == 1 { UNMIXED_SHARE } else { 1 };
            self.round = self
                .speakers
                .iter()
                .enumerate()
                .flat_map(|(index, speaker)| vec![index; times(speaker)])
                .collect();
            self.round.shuffle(&mut self.random);
        }
        let speaker = self.round.pop()?;
        let is_natural = self.random.random_bool(NATURAL_SHARE);
        let text = if is_natural { self.natural.next() } else { None }.or_else(|| self.generated.next())?;
        let speed = self.speakers[speaker].speed * self.random.random_range(0.93..=1.07);
        let id = format!("{}-{:06}", self.speakers[speaker].name, self.index);
        self.index += 1;
        Some(PlannedUtterance { speaker, id, text, speed: speed.clamp(0.85, 1.15) })
    }
}

/// The size and the seed of a corpus, and the voices that it is made with.
#[derive(Debug, Clone, PartialEq)]
pub struct TeacherOptions {
    /// The folder `voices` of the npm package kokoro-js.
    pub voices: PathBuf,
    pub hours: f32,
    pub seed: u64,
}

#[derive(Deserialize)]
struct Prompt {
    id: String,
    text: String,
}

/// Makes a corpus of a given number of hours, the held-out voices first.
///
/// # Errors
/// `corpus-invalid` if the model, the voices or WordNet are not installed; the message names the packages.
pub fn make_teacher(
    out: &Path,
    options: &TeacherOptions,
    phonemizer: &Phonemizer,
    report: &dyn Report,
) -> Result<Summary> {
    if !(options.hours > 0.0 && options.hours <= 1000.0) {
        return Err(Error::option_invalid("a corpus needs between 0 and 1000 hours"));
    }
    let summary_path = out.join("corpus.json");
    begin(out, &summary_path)?;
    let mut natural = wordnet::sentences(Path::new(wordnet::FOLDER), phonemizer.lexicon())?;
    let mut random = ChaCha8Rng::seed_from_u64(options.seed);
    random.set_stream(1);
    natural.shuffle(&mut random);
    let mut held_out_texts =
        natural.split_off(natural.len() - HELD_OUT_VOICES.len() * HELD_OUT_SENTENCES).into_iter();

    let prompts: Vec<Prompt> = serde_json::from_str(include_str!("../../data/prompts.json"))
        .expect("the prompts in the repository are whole");
    let held_out = HELD_OUT_VOICES.map(|voice| TeacherSpeaker::voice(voice, 1.0));
    let mut recorder = Recorder::new(out.join("held-out"), options, &held_out, phonemizer)?;
    for (speaker, TeacherSpeaker { name, .. }) in held_out.iter().enumerate() {
        let prompts = prompts.iter().take(PROMPTS).map(|Prompt { id, text }| (id.clone(), text.clone()));
        let others = held_out_texts.by_ref().take(HELD_OUT_SENTENCES).enumerate();
        let others = others.map(|(index, text)| (format!("s{:02}", index + 1), text));
        let texts: Vec<_> = prompts.chain(others).collect();
        for (id, text) in texts {
            recorder.record(&PlannedUtterance { speaker, id: format!("{name}-{id}"), text, speed: 1.0 })?;
        }
    }
    let held_out = recorder.summaries;

    let speakers = speakers(options.seed);
    let mut recorder = Recorder::new(out.to_path_buf(), options, &speakers, phonemizer)?;
    let mut plan = Plan {
        speakers: &speakers,
        random,
        natural: natural.into_iter(),
        generated: Sentences::new(phonemizer.lexicon(), options.seed),
        round: Vec::new(),
        index: 0,
    };
    let mut seconds = 0.0;
    while seconds < options.hours * 3600.0 {
        let Some(utterance) = plan.next() else { break };
        seconds += recorder.record(&utterance)?;
        report.progress(&Progress {
            done: seconds as usize,
            of: Some((options.hours * 3600.0) as usize),
            message: &speakers[utterance.speaker].name,
        });
    }
    let summary = Summary {
        sample_rate_hz: SAMPLE_RATE_HZ,
        seed: options.seed,
        speakers: recorder.summaries,
        held_out,
        foreign: Vec::new(),
    };
    files::write(&summary_path, serde_json::to_string_pretty(&summary).expect("plain data"))?;
    Ok(summary)
}

/// Makes utterances of speakers, each speaker in a folder of its own.
struct Recorder<'a> {
    folder: PathBuf,
    speakers: &'a [TeacherSpeaker],
    styles: HashMap<&'static str, Style>,
    phonemizer: &'a Phonemizer,
    kokoro: Kokoro,
    summaries: Vec<SpeakerSummary>,
    /// The ids in the metadata of each speaker.
    written: Vec<HashSet<String>>,
}

impl<'a> Recorder<'a> {
    fn new(
        folder: PathBuf,
        options: &TeacherOptions,
        speakers: &'a [TeacherSpeaker],
        phonemizer: &'a Phonemizer,
    ) -> Result<Self> {
        let mut styles = HashMap::new();
        for (voice, _) in speakers.iter().flat_map(|speaker| &speaker.voices) {
            if !styles.contains_key(voice) {
                let path = options.voices.join(format!("{voice}.bin"));
                let style = Style::load(&path).map_err(|error| {
                    Error::corpus_invalid(format!(
                        "{error}: the voices are in the npm package kokoro-js 1.2.1, in its folder voices"
                    ))
                })?;
                styles.insert(*voice, style);
            }
        }
        let mut written = Vec::new();
        for speaker in speakers {
            let folder = folder.join(&speaker.name);
            for folder in [folder.join("wavs"), folder.join("phones")] {
                fs::create_dir_all(&folder).map_err(Error::io(&folder))?;
            }
            let metadata = fs::read_to_string(folder.join("metadata.csv")).unwrap_or_default();
            let ids = metadata
                .lines()
                .filter(|line| line.ends_with(['.', '?', '!']))
                .filter_map(|line| line.split_once('|'));
            written.push(ids.map(|(id, _)| id.to_string()).collect());
        }
        let summary = |speaker: &TeacherSpeaker| SpeakerSummary {
            name: speaker.name.clone(),
            utterances: 0,
            seconds: 0.0,
            phone_times: true,
        };
        let summaries = speakers.iter().map(summary).collect();
        Ok(Self { folder, speakers, styles, phonemizer, kokoro: Kokoro::start()?, summaries, written })
    }

    /// Makes an utterance, unless an earlier run made it. Returns its seconds, or 0 if it is too short or too long and left out.
    fn record(&mut self, utterance: &PlannedUtterance) -> Result<f32> {
        let speaker = &self.speakers[utterance.speaker];
        let folder = self.folder.join(&speaker.name);
        let wav_path = folder.join("wavs").join(format!("{}.wav", utterance.id));
        let seconds = if let Ok(kept) = fs::metadata(&wav_path) {
            kept.len().saturating_sub(44) as f32 / (2 * SAMPLE_RATE_HZ) as f32
        } else {
            let phonemes = Phonemes::new(&self.phonemizer.words(&utterance.text)?)?;
            let styles = speaker.voices.iter().map(|(voice, weight)| (&self.styles[voice], *weight));
            let (samples, mut phones) = self.kokoro.speak(&phonemes, &Style::mix(styles), utterance.speed)?;
            let speech = speech(&samples, &phones);
            let samples = cut_and_level(&samples, &mut phones, speech, SAMPLE_RATE_HZ);
            let seconds = samples.len() as f32 / SAMPLE_RATE_HZ as f32;
            if !SECONDS.contains(&seconds) {
                return Ok(0.0);
            }
            files::write(&folder.join("phones").join(format!("{}.csv", utterance.id)), to_csv(&phones))?;
            files::write(&wav_path, wav::write(&samples, SAMPLE_RATE_HZ))?;
            seconds
        };
        if self.written[utterance.speaker].insert(utterance.id.clone()) {
            let path = folder.join("metadata.csv");
            let file = fs::OpenOptions::new().append(true).create(true).open(&path);
            file.and_then(|mut file| {
                file.write_all(format!("{}|{}\n", utterance.id, utterance.text).as_bytes())
            })
            .map_err(Error::io(&path))?;
        }
        let summary = &mut self.summaries[utterance.speaker];
        (summary.utterances, summary.seconds) = (summary.utterances + 1, summary.seconds + seconds);
        Ok(seconds)
    }
}

/// Returns the start and the end of the speech of an utterance, in seconds, by its phones and by its level.
fn speech(samples: &[f32], phones: &[EnginePhone]) -> (f32, f32) {
    let rate = SAMPLE_RATE_HZ as f32;
    let peak = samples.iter().fold(0.0f32, |peak, sample| peak.max(sample.abs())).max(1e-6);
    let is_loud = |sample: &f32| sample.abs() > 0.02 * peak;
    let spoken =
        phones.iter().rposition(|phone| !phone.is_pause()).map_or(0.0, |last| phones[last].end_seconds);
    let first = samples.iter().position(is_loud).unwrap_or(0) as f32 / rate;
    let last = samples.iter().rposition(is_loud).unwrap_or(samples.len()) as f32 / rate;
    (phones[0].end_seconds.min(first), spoken.max(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_out_voices_are_in_no_speaker_and_mixes_are_many_and_distinct() {
        for seed in 1..4 {
            let speakers = speakers(seed);
            assert_eq!(speakers, super::speakers(seed));
            let mixes: Vec<_> = speakers.iter().filter(|speaker| speaker.voices.len() > 1).collect();
            assert!(mixes.len() >= 200);
            assert_eq!(
                speakers.iter().map(|speaker| &speaker.name).collect::<HashSet<_>>().len(),
                speakers.len()
            );
            for TeacherSpeaker { voices, .. } in &speakers {
                assert!(voices.iter().all(|(voice, _)| !HELD_OUT_VOICES.contains(voice)), "{voices:?}");
                let sum: f32 = voices.iter().map(|(_, weight)| weight).sum();
                assert!(
                    (sum - 1.0).abs() < 1e-5 && voices.iter().all(|(_, weight)| *weight > 0.0),
                    "{voices:?}"
                );
            }
            let of_men =
                |speaker: &&&TeacherSpeaker| speaker.voices.iter().all(|(voice, _)| &voice[1..2] == "m");
            let of_women =
                |speaker: &&&TeacherSpeaker| speaker.voices.iter().all(|(voice, _)| &voice[1..2] == "f");
            let (men, women) = (mixes.iter().filter(of_men).count(), mixes.iter().filter(of_women).count());
            assert!(men.abs_diff(women) < 20 && men + women > 150, "{men} men, {women} women");
        }
        assert_ne!(speakers(1), speakers(2));
    }

    #[test]
    fn every_round_holds_all_speakers() {
        let speakers = speakers(1);
        let phonemizer = Phonemizer::embedded();
        let plan = || Plan {
            speakers: &speakers,
            random: ChaCha8Rng::seed_from_u64(1),
            natural: vec!["One is enough.".to_string()].into_iter(),
            generated: Sentences::new(phonemizer.lexicon(), 1),
            round: Vec::new(),
            index: 0,
        };
        let round = MIXES + UNMIXED_SHARE * VOICES.len();
        let taken: Vec<PlannedUtterance> = plan().take(2 * round).collect();
        assert_eq!(taken, plan().take(2 * round).collect::<Vec<_>>());
        for half in taken.chunks(round) {
            assert_eq!(
                half.iter().map(|utterance| utterance.speaker).collect::<HashSet<_>>().len(),
                speakers.len()
            );
        }
        assert!(taken.iter().all(|utterance| (0.85..=1.15).contains(&utterance.speed)));
        assert_eq!(taken.iter().map(|utterance| &utterance.text).collect::<HashSet<_>>().len(), taken.len());
    }

    #[test]
    fn silence_is_trimmed_and_phone_times_follow() {
        let silence = |seconds: f32| vec![0.0; (seconds * SAMPLE_RATE_HZ as f32) as usize];
        let samples = [silence(0.3), vec![0.5; 24_000], silence(0.5)].concat();
        let mut phones =
            [("pau", 0.3), ("aa", 1.3), ("pau", 1.8)].map(|(name, end)| EnginePhone::new(name, end));
        let speech = speech(&samples, &phones);
        let samples = cut_and_level(&samples, &mut phones, speech, SAMPLE_RATE_HZ);
        assert_eq!(samples.len(), 28_800);
        let ends: Vec<_> = phones.iter().map(|phone| (phone.end_seconds * 100.0).round()).collect();
        assert_eq!(ends, [10.0, 110.0, 120.0]);
    }
}
