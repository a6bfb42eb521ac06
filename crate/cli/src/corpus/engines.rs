//! Runs installed speech engines, which turn text into sound and, if they print them, phones with their end times.

use std::path::Path;
use std::process::Command;

use super::{perturbation::Perturbation, phones::EnginePhone, program::run};
use ownvoice::{
    Error, Result,
    audio::{Audio, resample},
    files::read_audio,
};

/// The sample rate of a corpus.
pub const SAMPLE_RATE_HZ: u32 = 16_000;
/// The silence kept before and after speech.
const MARGIN_SECONDS: f32 = 0.1;
/// The root mean square of every utterance relative to full scale; a visitor's clips also get a fixed level.
const LEVEL: f32 = 0.08;

/// The line that festival is made to print before the phones of an utterance; no phone has this name.
const HEADER: &str = "utterance";

/// A speech engine with its voice.
#[derive(Debug, Clone, PartialEq)]
pub enum SpeechEngine {
    /// A voice built into flite.
    Flite { voice: &'static str },
    /// A Scheme procedure that selects a festival voice.
    Festival { procedure: &'static str },
    /// espeak-ng's American English with a variant of the voice and a pitch of 0 to 99. It prints no phone times.
    Espeak { variant: &'static str, pitch: u32, words_per_minute: u32 },
}

/// A spoken text.
#[derive(Debug, Clone, PartialEq)]
pub struct Utterance {
    pub text: String,
    /// The samples at [`SAMPLE_RATE_HZ`].
    pub samples: Vec<f32>,
    pub phones: Option<Vec<EnginePhone>>,
}

impl SpeechEngine {
    /// The name of the engine's program.
    pub fn program(&self) -> &'static str {
        match self {
            Self::Flite { .. } => "flite",
            Self::Festival { .. } => "festival",
            Self::Espeak { .. } => "espeak-ng",
        }
    }

    /// Speaks all texts. Those that the engine cannot speak are left out.
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

/// The sound and the phones of a text that could be spoken.
type Synthesized = Option<(Audio, Option<Vec<EnginePhone>>)>;

/// Speaks one text with flite.
fn flite(voice: &str, text: &str, scratch: &Path) -> Result<Synthesized> {
    let file = scratch.join("flite.wav");
    let output = run(Command::new("flite").args(["-voice", voice, "-psdur", "-t", text, "-o"]).arg(&file))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let phones = printed
        .split_whitespace()
        .filter_map(|word| word.rsplit_once(':'))
        .filter_map(|(phone, end)| Some(EnginePhone::new(phone, end.parse().ok()?)));
    Ok(Some((read_audio(&file)?, Some(phones.collect()))))
}

/// Speaks all texts with one process of festival, which writes each recording to a file and its phones to standard output.
fn festival(procedure: &str, texts: &[String], scratch: &Path) -> Result<Vec<Synthesized>> {
    let wave = |index: usize| scratch.join(format!("festival-{index}.wav"));
    let mut script = format!("({procedure})\n");
    for (index, text) in texts.iter().enumerate() {
        let _ = std::fs::remove_file(wave(index));
        let text: String = text.chars().filter(|c| !matches!(c, '"' | '\\')).collect();
        // Voices of other languages fail at some English words; the next text is still spoken.
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
    let spoken = phones
        .into_iter()
        .enumerate()
        .map(|(index, phones)| Some((read_audio(&wave(index)).ok()?, Some(phones))));
    Ok(spoken.collect())
}

/// Parses the phones that were printed after the header of each utterance.
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

/// Speaks one text with espeak-ng.
fn espeak(
    variant: &str,
    pitch: u32,
    words_per_minute: u32,
    text: &str,
    scratch: &Path,
) -> Result<Synthesized> {
    let file = scratch.join("espeak.wav");
    let (voice, pitch, rate) = (format!("en-us+{variant}"), pitch.to_string(), words_per_minute.to_string());
    run(Command::new("espeak-ng")
        .args(["-v", &voice, "-p", &pitch, "-s", &rate, "-w"])
        .arg(&file)
        .arg("--")
        .arg(text))?;
    Ok(Some((read_audio(&file)?, None)))
}

/// Perturbs speech, converts it to the rate and level of the corpus, and trims the silence at both ends. Returns `None` if there is no speech.
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
    let Some(speech) = speech else { return Ok(None) };
    samples = cut_and_level(&samples, phones.as_deref_mut().unwrap_or_default(), speech, SAMPLE_RATE_HZ);
    Ok((!samples.is_empty()).then(|| Utterance { text: text.to_string(), samples, phones }))
}

/// Returns the samples from [`MARGIN_SECONDS`] before the speech to as long after it, scaled to [`LEVEL`]. The times of the phones are changed with them.
///
/// * `speech`: the start and the end of the speech, in seconds
pub(super) fn cut_and_level(
    samples: &[f32],
    phones: &mut [EnginePhone],
    speech: (f32, f32),
    sample_rate_hz: u32,
) -> Vec<f32> {
    let rate = sample_rate_hz as f32;
    let sample = |seconds: f32| ((seconds * rate).round() as usize).min(samples.len());
    let start = (speech.0 - MARGIN_SECONDS).max(0.0);
    let samples = &samples[sample(start)..sample(speech.1 + MARGIN_SECONDS)];
    let seconds = samples.len() as f32 / rate;
    for phone in phones {
        phone.end_seconds = (phone.end_seconds - start).clamp(0.0, seconds);
    }
    let power = samples.iter().map(|sample| sample * sample).sum::<f32>() / samples.len().max(1) as f32;
    let peak = samples.iter().fold(0.0f32, |peak, sample| peak.max(sample.abs()));
    let gain = (LEVEL / power.sqrt().max(1e-6)).min(0.95 / peak.max(1e-6));
    samples.iter().map(|sample| gain * sample).collect()
}

/// Returns the start of the first and the end of the last phone other than pauses, in seconds.
fn phones_range(phones: &[EnginePhone]) -> Option<(f32, f32)> {
    let speaks = |phone: &EnginePhone| !phone.is_pause();
    let first = phones.iter().position(speaks)?;
    let last = phones.iter().rposition(speaks)?;
    Some((first.checked_sub(1).map_or(0.0, |before| phones[before].end_seconds), phones[last].end_seconds))
}

/// Returns the range between the first and last sample above a hundredth of the peak, in seconds.
fn loud_range(samples: &[f32]) -> Option<(f32, f32)> {
    let peak = samples.iter().fold(0.0f32, |peak, sample| peak.max(sample.abs()));
    let loud = |sample: &f32| sample.abs() > 0.01 * peak && peak > 1e-4;
    let (first, last) = (samples.iter().position(loud)?, samples.iter().rposition(loud)?);
    Some((first as f32 / SAMPLE_RATE_HZ as f32, (last + 1) as f32 / SAMPLE_RATE_HZ as f32))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Finnish has a phone named "@", which must not be confused with the header.
    #[test]
    fn printed_phones_belong_to_the_header_above_them() {
        let printed = "utterance 0\n# 0.2\n@ 0.3\nUniSyn: using default diphone #-# for m-#\nutterance 2\ne: 0.1\n@ 0.25\n";
        let phone = |name: &str, end: f32| EnginePhone::new(name, end);
        assert_eq!(
            printed_phones(printed, 3),
            [vec![phone("#", 0.2), phone("@", 0.3)], vec![], vec![phone("e:", 0.1), phone("@", 0.25)]]
        );
    }
}
