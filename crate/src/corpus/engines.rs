//! The installed speech engines, run as processes: text in, sound and (where the engine prints them) phones with their end times out.

use std::path::Path;
use std::process::Command;

use super::{perturbation::Perturbation, phones::EnginePhone, program::run};
use crate::audio::{Audio, resample};
use crate::{Error, Result, files::read_audio};

/// What a corpus holds, in samples a second.
pub const SAMPLE_RATE_HZ: u32 = 16_000;
/// Silence left before and after the speech.
const MARGIN_SECONDS: f32 = 0.1;
/// Root mean square of every utterance, in full scale; a fixed level, as clips of a visitor get.
const LEVEL: f32 = 0.08;

/// What festival is made to print before an utterance's phones: no phone of any language is called so.
const HEADER: &str = "utterance";

#[derive(Debug, Clone, PartialEq)]
pub enum SpeechEngine {
    /// A voice built into flite.
    Flite { voice: &'static str },
    /// A Scheme procedure that selects a festival voice.
    Festival { procedure: &'static str },
    /// American English with a variant of the voice, pitch 0 to 99, speed in words a minute. Prints no phone times.
    Espeak { variant: &'static str, pitch: u32, words_per_minute: u32 },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Utterance {
    pub text: String,
    /// At [`SAMPLE_RATE_HZ`].
    pub samples: Vec<f32>,
    pub phones: Option<Vec<EnginePhone>>,
}

impl SpeechEngine {
    pub fn program(&self) -> &'static str {
        match self {
            Self::Flite { .. } => "flite",
            Self::Festival { .. } => "festival",
            Self::Espeak { .. } => "espeak-ng",
        }
    }

    /// Whether a speaker of this name is an engine's voice, and no person: corpora name engines' voices after their engine.
    pub fn is_voice(speaker: &str) -> bool {
        ["flite-", "festival-", "espeak-"].iter().any(|engine| speaker.starts_with(engine))
    }

    /// Speaks all texts; what an engine cannot speak is left out.
    pub fn speak(
        &self,
        texts: &[String],
        perturbation: Perturbation,
        scratch: &Path,
    ) -> Result<Vec<Utterance>> {
        std::fs::create_dir_all(scratch).map_err(Error::io(scratch))?;
        let spoken = match self {
            Self::Flite { voice } => {
                texts.iter().map(|text| flite(voice, text, scratch)).collect::<Result<Vec<_>>>()?
            }
            Self::Festival { procedure } => festival(procedure, texts, scratch)?,
            Self::Espeak { variant, pitch, words_per_minute } => texts
                .iter()
                .map(|text| espeak(variant, *pitch, *words_per_minute, text, scratch))
                .collect::<Result<Vec<_>>>()?,
        };
        let mut utterances = Vec::new();
        for (text, spoken) in texts.iter().zip(spoken) {
            if let Some((audio, phones)) = spoken {
                utterances.extend(finish(text, audio, phones, perturbation)?);
            }
        }
        Ok(utterances)
    }
}

type Spoken = Option<(Audio, Option<Vec<EnginePhone>>)>;

fn flite(voice: &str, text: &str, scratch: &Path) -> Result<Spoken> {
    let file = scratch.join("flite.wav");
    let output = run(Command::new("flite").args(["-voice", voice, "-psdur", "-t", text, "-o"]).arg(&file))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let phones = printed
        .split_whitespace()
        .filter_map(|word| word.rsplit_once(':'))
        .filter_map(|(phone, end)| Some(EnginePhone::new(phone, end.parse().ok()?)));
    Ok(Some((read(&file)?, Some(phones.collect()))))
}

/// One process for all texts: each writes its wave to a file and its phones to standard output.
fn festival(procedure: &str, texts: &[String], scratch: &Path) -> Result<Vec<Spoken>> {
    let wave = |index: usize| scratch.join(format!("festival-{index}.wav"));
    let mut script = format!("({procedure})\n");
    for (index, text) in texts.iter().enumerate() {
        let _ = std::fs::remove_file(wave(index));
        let text: String = text.chars().filter(|c| !matches!(c, '"' | '\\')).collect();
        // A voice that fails at one text, as those of other languages do at some words, goes on with the next.
        script += &format!(
            "(unwind-protect (begin (set! u (utt.synth (eval (list 'Utterance 'Text \"{text}\"))))\n(format t \"{HEADER} {index}\\n\")\n\
             (mapcar (lambda (s) (format t \"%s %f\\n\" (item.name s) (item.feat s \"end\"))) (utt.relation.items u 'Segment))\n\
             (utt.save.wave u \"{}\" 'riff)))\n",
            wave(index).display()
        );
    }
    let file = scratch.join("festival.scm");
    std::fs::write(&file, script).map_err(Error::io(&file))?;
    let output = run(Command::new("festival").arg("-b").arg(&file))?;
    let phones = printed_phones(&String::from_utf8_lossy(&output.stdout), texts.len());
    let spoken =
        phones.into_iter().enumerate().map(|(index, phones)| Some((read(&wave(index)).ok()?, Some(phones))));
    Ok(spoken.collect())
}

/// The phones of each utterance: what stands under its header.
fn printed_phones(printed: &str, utterances: usize) -> Vec<Vec<EnginePhone>> {
    let mut phones = vec![Vec::new(); utterances];
    let mut current = 0;
    for line in printed.lines() {
        match line.split_once(' ') {
            Some((HEADER, index)) => current = index.trim().parse().unwrap_or(0),
            Some((phone, end)) => {
                phones[current].extend(end.trim().parse().ok().map(|end| EnginePhone::new(phone, end)));
            }
            None => {}
        }
    }
    phones
}

fn espeak(variant: &str, pitch: u32, words_per_minute: u32, text: &str, scratch: &Path) -> Result<Spoken> {
    let file = scratch.join("espeak.wav");
    let (voice, pitch, rate) = (format!("en-us+{variant}"), pitch.to_string(), words_per_minute.to_string());
    run(Command::new("espeak-ng")
        .args(["-v", &voice, "-p", &pitch, "-s", &rate, "-w"])
        .arg(&file)
        .arg("--")
        .arg(text))?;
    Ok(Some((read(&file)?, None)))
}

fn read(file: &Path) -> Result<Audio> {
    read_audio(file)
}

/// To the corpus rate and level, perturbed, without the silence at both ends. `None` where there is no speech.
fn finish(
    text: &str,
    audio: Audio,
    phones: Option<Vec<EnginePhone>>,
    perturbation: Perturbation,
) -> Result<Option<Utterance>> {
    let spoken = resample::resample(&audio.samples, audio.sample_rate_hz, SAMPLE_RATE_HZ)?;
    let mut samples = perturbation.apply(&spoken, SAMPLE_RATE_HZ)?;
    let mut phones = phones
        .map(|phones| phones.iter().map(|phone| phone.faster(perturbation.formants)).collect::<Vec<_>>());

    let speech = match &phones {
        Some(phones) => phones_range(phones),
        None => loud_range(&samples),
    };
    let Some((start, end)) = speech else { return Ok(None) };
    let seconds = samples.len() as f32 / SAMPLE_RATE_HZ as f32;
    let (start, end) = ((start - MARGIN_SECONDS).max(0.0), (end + MARGIN_SECONDS).min(seconds));
    let sample = |seconds: f32| ((seconds * SAMPLE_RATE_HZ as f32).round() as usize).min(samples.len());
    samples = samples[sample(start)..sample(end)].to_vec();
    if samples.is_empty() {
        return Ok(None);
    }
    let seconds = samples.len() as f32 / SAMPLE_RATE_HZ as f32;
    for phone in phones.iter_mut().flatten() {
        phone.end_seconds = (phone.end_seconds - start).clamp(0.0, seconds);
    }

    let power = samples.iter().map(|sample| sample * sample).sum::<f32>() / samples.len() as f32;
    let peak = samples.iter().fold(0.0f32, |peak, sample| peak.max(sample.abs()));
    let gain = (LEVEL / power.sqrt().max(1e-6)).min(0.95 / peak.max(1e-6));
    samples.iter_mut().for_each(|sample| *sample *= gain);
    Ok(Some(Utterance { text: text.to_string(), samples, phones }))
}

/// Start of the first and end of the last phone that is no pause, in seconds.
fn phones_range(phones: &[EnginePhone]) -> Option<(f32, f32)> {
    let speaks = |phone: &EnginePhone| !phone.is_pause();
    let first = phones.iter().position(speaks)?;
    let last = phones.iter().rposition(speaks)?;
    Some((first.checked_sub(1).map_or(0.0, |before| phones[before].end_seconds), phones[last].end_seconds))
}

/// Where the samples rise above a hundredth of their peak, in seconds.
fn loud_range(samples: &[f32]) -> Option<(f32, f32)> {
    let peak = samples.iter().fold(0.0f32, |peak, sample| peak.max(sample.abs()));
    let loud = |sample: &f32| sample.abs() > 0.01 * peak && peak > 1e-4;
    let (first, last) = (samples.iter().position(loud)?, samples.iter().rposition(loud)?);
    Some((first as f32 / SAMPLE_RATE_HZ as f32, (last + 1) as f32 / SAMPLE_RATE_HZ as f32))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Finnish has a phone that is called "@".
    #[test]
    fn phones_go_to_the_utterance_that_they_were_printed_for() {
        let printed = "utterance 0\n# 0.2\n@ 0.3\nUniSyn: using default diphone #-# for m-#\nutterance 2\ne: 0.1\n@ 0.25\n";
        let phone = |name: &str, end: f32| EnginePhone::new(name, end);
        assert_eq!(
            printed_phones(printed, 3),
            [vec![phone("#", 0.2), phone("@", 0.3)], vec![], vec![phone("e:", 0.1), phone("@", 0.25)]]
        );
    }
}
