//! `ownvoice evaluate`: how near a voice comes to recordings of its speaker, between its anchors.

use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;

use super::{base, clone::read_clips, device::DeviceName};
use crate::{
    Error, Result,
    audio::{Audio, mel::MelExtractor, prepare_clip},
    evaluate::{
        anchors::recorded,
        difference,
        speaker::{SpeakerStats, distance, similarity},
    },
    synth::{SpeakOptions, speak_async},
    train::Clip,
    voice::{Base, Voice},
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
    #[arg(long)]
    json: bool,
    #[arg(long, value_enum, default_value = "cpu")]
    device: DeviceName,
}

/// Speech that was measured: its statistics and the differences from the recordings of the same texts.
#[derive(Default)]
struct Measured {
    stats: SpeakerStats,
    mcd_db: f32,
    logf0_rmse: f32,
    phoneme_errors: usize,
    phonemes: usize,
}

pub fn evaluate(arguments: &EvaluateArguments) -> Result<()> {
    let device = arguments.device.open()?;
    let base = base::load(&arguments.base, &device)?;
    let voice = arguments.voice.as_deref().map(|path| base::voice(&base, Some(path))).transpose()?;
    let figures = figures(&base, voice.as_ref(), &read_clips(&arguments.reference, None)?, arguments.sentences)?;
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&figures).expect("plain numbers"));
        return Ok(());
    }
    for (name, value) in figures.as_object().expect("an object") {
        println!("{name:<32} {:>9.3}", value.as_f64().unwrap_or(f64::NAN));
    }
    let of = |name: &str| figures[name].as_f64().unwrap_or(f64::NAN);
    println!("the clone stands at {:.0} % of the base's distance to the speaker", 100.0 * of("distance.clone") / of("distance.base"));
    Ok(())
}

/// All figures by name, of a voice or of the base alone, against `clips` of the speaker. The last `sentences` of them are said.
pub fn figures(base: &Base, voice: Option<&Voice>, clips: &[Clip], sentences: usize) -> Result<Value> {
    if clips.len() < 4 {
        return Err(Error::CorpusInvalid("an evaluation needs at least four recordings".into()));
    }
    let count = sentences.clamp(2, clips.len() / 2);
    let (others, said) = clips.split_at(clips.len() - count);
    let prepared = |clip: &Clip| prepare_clip(&Audio { samples: clip.samples.clone(), sample_rate_hz: clip.sample_rate_hz }, base.mel_config());
    let target = recorded(base, said)?;
    let same_speaker = recorded(base, others)?;
    let recordings = said.iter().map(|clip| Ok((clip.text.clone(), prepared(clip)?))).collect::<Result<Vec<_>>>()?;

    let unadapted = measure(base, &Voice::unadapted(base), &recordings)?;
    let clone = voice.map(|voice| measure(base, voice, &recordings)).transpose()?;
    let clone = clone.as_ref().unwrap_or(&unadapted);
    let mut other_speakers = Vec::new();
    for index in 0..base.manifest.speakers.len() {
        if !base.manifest.speakers[index].contains('@') {
            other_speakers.push(similarity(&measure(base, &Voice::of_base_speaker(base, index), &recordings[..2])?.stats, &target));
        }
    }
    let others_mean = other_speakers.iter().sum::<f32>() / other_speakers.len().max(1) as f32;
    Ok(json!({
        "similarity.clone": similarity(&clone.stats, &target),
        "similarity.same_speaker": similarity(&same_speaker, &target),
        "similarity.other_speakers": others_mean,
        "similarity.base": similarity(&unadapted.stats, &target),
        "distance.clone": distance(&clone.stats, &target),
        "distance.base": distance(&unadapted.stats, &target),
        "distance.same_speaker": distance(&same_speaker, &target),
        "pitch_hz.target": target.mean_f0_hz(),
        "pitch_hz.clone": clone.stats.mean_f0_hz(),
        "pitch_hz.base": unadapted.stats.mean_f0_hz(),
        "mcd_db": clone.mcd_db,
        "mcd_db.base": unadapted.mcd_db,
        "logf0_rmse": clone.logf0_rmse,
        "phoneme_error_rate": clone.phoneme_errors as f32 / clone.phonemes.max(1) as f32,
        "phoneme_error_rate.base": unadapted.phoneme_errors as f32 / unadapted.phonemes.max(1) as f32,
        "phoneme_error_rate.recordings": recognise(base, &recordings)?,
    }))
}

/// Says the recordings' texts with a voice and compares.
fn measure(base: &Base, voice: &Voice, recordings: &[(String, Vec<f32>)]) -> Result<Measured> {
    let mut measured = Measured::default();
    for (text, recording) in recordings {
        let speech = pollster::block_on(speak_async(base, voice, text, &SpeakOptions::default(), &*base.vocoder, async |_, _| true))?;
        measured.stats.merge(&SpeakerStats::from_audio(&speech.samples, speech.sample_rate_hz)?);
        let difference = difference(recording, &speech.samples, speech.sample_rate_hz)?;
        measured.mcd_db += difference.mcd_db / recordings.len() as f32;
        measured.logf0_rmse += difference.logf0_rmse / recordings.len() as f32;
        let (errors, phonemes) = phoneme_errors(base, text, &speech.samples)?;
        measured.phoneme_errors += errors;
        measured.phonemes += phonemes;
    }
    Ok(measured)
}

/// Phoneme error rate of the recordings themselves: what the recogniser mishears in real speech.
fn recognise(base: &Base, recordings: &[(String, Vec<f32>)]) -> Result<f32> {
    let (mut errors, mut phonemes) = (0, 0);
    for (text, samples) in recordings {
        let (more_errors, more) = phoneme_errors(base, text, samples)?;
        errors += more_errors;
        phonemes += more;
    }
    Ok(errors as f32 / phonemes.max(1) as f32)
}

fn phoneme_errors(base: &Base, text: &str, samples: &[f32]) -> Result<(usize, usize)> {
    let mel = MelExtractor::new(base.mel_config().clone()).extract(samples);
    let symbols = base.phonemizer.symbols(text)?;
    let errors = pollster::block_on(base.aligner.phoneme_errors(&mel, &symbols))?;
    Ok((errors.errors, errors.length))
}
