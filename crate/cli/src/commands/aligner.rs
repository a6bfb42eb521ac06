//! `ownvoice train-aligner` and `ownvoice verify-aligner`.

use clap::Args;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    path::PathBuf,
    time::{Duration, Instant},
};

use super::{
    console::Console,
    device::DeviceArguments,
    output::{self, OutputKind},
};
use crate::{
    align::{from_files::AlignerConfig, training::RecogniserConfig},
    corpus::{Labels, Recording, label, layouts},
};
use ownvoice::{
    Result,
    align::{
        Alignment, ForcedAligner, PhonemeErrors,
        adapt::{AdaptConfig, AdaptationClip, adapt},
        edits,
        recogniser::{PAUSE, class},
    },
    audio::mel::{Mel, MelConfig, MelExtractor},
    files,
    text::{Phonemizer, symbols::Symbol, to_symbols},
};

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice train-aligner --data features --out models/base/aligner.safetensors
  ownvoice train-aligner --data features --steps 3000 --seed 2")]
pub struct TrainArguments {
    /// Features with durations that `ownvoice prepare` wrote
    #[arg(long)]
    data: PathBuf,
    /// File for the weights
    #[arg(long, default_value = "models/base/aligner.safetensors")]
    out: PathBuf,
    #[command(flatten)]
    device: DeviceArguments,
    /// Number of training steps
    #[arg(long, default_value_t = RecogniserConfig::default().steps)]
    steps: usize,
    /// Number of windows or pictures in a batch
    #[arg(long, default_value_t = RecogniserConfig::default().batch)]
    batch: usize,
    /// Seed of the random numbers; the same seed, input and device give the same result
    #[arg(long, default_value_t = RecogniserConfig::default().seed)]
    seed: u64,
}

pub fn train_aligner(arguments: &TrainArguments, console: &Console) -> Result<()> {
    output::check(&arguments.out, OutputKind::Weights, console)?;
    let &TrainArguments { steps, batch, seed, device, .. } = arguments;
    let config = AlignerConfig {
        data: arguments.data.clone(),
        out: arguments.out.clone(),
        recogniser: RecogniserConfig { steps, batch, seed, ..RecogniserConfig::default() },
        device: device.open()?,
    };
    crate::align::from_files::train_aligner(&config, console)?;
    console.result(&json!({"path": config.out}), config.out.display());
    Ok(())
}

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice verify-aligner --corpus work/corpus/held-out
  ownvoice verify-aligner --corpus work/corpus/held-out --adapt 60 --json")]
pub struct VerifyArguments {
    /// Corpus folder with `phones/`, of voices that the aligner was not trained on
    #[arg(long)]
    corpus: PathBuf,
    /// Weights of the aligner
    #[arg(long, default_value = "models/base/aligner.safetensors")]
    aligner: PathBuf,
    #[command(flatten)]
    device: DeviceArguments,
    /// Adapt the aligner to each speaker first, as cloning does, on this many seconds of recordings
    #[arg(long, value_name = "SECONDS")]
    adapt: Option<f32>,
}

/// A recording with its true phone times.
struct Item {
    mel: Mel,
    truth: Labels,
    symbols: Vec<Symbol>,
    word_ends: Vec<bool>,
}

/// The boundary errors of one speaker, and the time of the alignment.
#[derive(Default)]
struct Boundaries {
    errors_ms: Vec<f32>,
    elapsed: Duration,
    seconds: f32,
}

impl Boundaries {
    const COLUMNS: &str = "speaker | recordings | boundary error ms: median, mean, 90 % | s per minute";

    /// Awaits an alignment and compares it with the true phone times.
    async fn take(
        &mut self,
        item: &Item,
        frame_seconds: f32,
        alignment: impl Future<Output = Result<Alignment>>,
    ) -> Result<Alignment> {
        let begun = Instant::now();
        let alignment = alignment.await?;
        self.elapsed += begun.elapsed();
        self.seconds += item.mel.frames() as f32 * frame_seconds;
        self.errors_ms.extend(boundary_errors_ms(&alignment, &item.truth, frame_seconds));
        Ok(alignment)
    }

    /// Returns a row under [`Self::COLUMNS`], and as JSON.
    fn row(&mut self, speaker: &str, recordings: usize) -> (String, Value) {
        let mean = self.errors_ms.iter().sum::<f32>() / self.errors_ms.len().max(1) as f32;
        let [median, most] = [0.5, 0.9].map(|share| quantile(&mut self.errors_ms, share));
        let seconds = self.elapsed.as_secs_f32() * 60.0 / self.seconds;
        let text = format!("{speaker} | {recordings} | {median:.1}, {mean:.1}, {most:.1} | {seconds:.2}");
        let json = json!({
            "speaker": speaker,
            "recordings": recordings,
            "boundary_error_ms.median": median,
            "boundary_error_ms.mean": mean,
            "boundary_error_ms.90": most,
            "s_per_minute": seconds,
        });
        (text, json)
    }
}

/// The recogniser's scores of one speaker's recordings.
#[derive(Default)]
struct Scores {
    /// Of each recording with its own text, and with that of another of about the same length.
    right: Vec<f32>,
    wrong: Vec<f32>,
    errors: PhonemeErrors,
}

impl Scores {
    const COLUMNS: &str =
        "phoneme error rate | score: own text min, 5 %, median; other text median, 95 %, max";

    /// Returns a row under [`Self::COLUMNS`], and as JSON.
    fn row(&mut self) -> (String, Value) {
        let rate = self.errors.rate();
        let [least, low, right] = [0.0, 0.05, 0.5].map(|share| quantile(&mut self.right, share));
        let [wrong, high, most] = [0.5, 0.95, 1.0].map(|share| quantile(&mut self.wrong, share));
        let text = format!("{rate:.3} | {least:.2}, {low:.2}, {right:.2}; {wrong:.2}, {high:.2}, {most:.2}");
        let json = json!({
            "phoneme_error_rate": rate,
            "score.own_text.min": least,
            "score.own_text.5": low,
            "score.own_text.median": right,
            "score.other_text.median": wrong,
            "score.other_text.95": high,
            "score.other_text.max": most,
        });
        (text, json)
    }
}

/// Prints for each speaker the errors of phone boundaries, for the phones that text and speech engine have in common.
pub fn verify_aligner(arguments: &VerifyArguments, console: &Console) -> Result<()> {
    let aligner = ForcedAligner::load(&files::read(&arguments.aligner)?, &arguments.device.open()?)?;
    let config = MelConfig::speech_16k();
    let (extractor, phonemizer) = (MelExtractor::new(config.clone()), Phonemizer::embedded());
    let mut speakers: BTreeMap<String, Vec<Item>> = BTreeMap::new();
    for recording in layouts::load(&arguments.corpus, console)?.filter(|recording| recording.phones.is_some())
    {
        if let Some(item) = item(&recording, &extractor, &config, &phonemizer)? {
            speakers.entry(recording.speaker).or_default().push(item);
        }
    }
    console.heading(format_args!("{} | {}", Boundaries::COLUMNS, Scores::COLUMNS));
    for (speaker, items) in &speakers {
        let aligner = match arguments.adapt {
            Some(seconds) => adapted(&aligner, items, (seconds / config.frame_seconds()) as usize)?,
            None => aligner.clone(),
        };
        let (mut boundaries, mut scores) =
            pollster::block_on(measure(&aligner, items, config.frame_seconds()))?;
        let (row, mut json) = boundaries.row(speaker, items.len());
        let (scores, more) = scores.row();
        json.as_object_mut().expect("an object").extend(more.as_object().cloned().expect("an object"));
        console.result(&json, format_args!("{row} | {scores}"));
    }
    Ok(())
}

/// Adapts an aligner to a speaker.
///
/// * `frames`: the number of frames to adapt on, from the first recordings
fn adapted(aligner: &ForcedAligner, items: &[Item], frames: usize) -> Result<ForcedAligner> {
    let mut taken = 0;
    let first = items.iter().take_while(|item| {
        let before = taken;
        taken += item.mel.frames();
        before < frames
    });
    let recordings: Vec<AdaptationClip> = first
        .map(|item| AdaptationClip { mel: &item.mel, symbols: &item.symbols, word_ends: &item.word_ends })
        .collect();
    pollster::block_on(adapt(aligner, &recordings, &AdaptConfig::default()))
}

/// Reads a recording. Returns `None` if the phones of the speech engine do not match the text.
fn item(
    recording: &Recording,
    extractor: &MelExtractor,
    config: &MelConfig,
    phonemizer: &Phonemizer,
) -> Result<Option<Item>> {
    let samples = recording.samples(config.sample_rate_hz)?;
    let seconds = samples.len() as f32 / config.sample_rate_hz as f32;
    let Ok(truth) = label(phonemizer, &recording.text, recording.phones.as_deref(), seconds) else {
        return Ok(None);
    };
    let (symbols, word_ends) = to_symbols(&phonemizer.words(&recording.text)?);
    Ok(Some(Item { mel: extractor.extract(&samples), truth, symbols, word_ends }))
}

async fn measure(
    aligner: &ForcedAligner,
    items: &[Item],
    frame_seconds: f32,
) -> Result<(Boundaries, Scores)> {
    let (mut boundaries, mut scores) = (Boundaries::default(), Scores::default());
    for (index, item) in items.iter().enumerate() {
        let aligned = aligner.align_unchecked(&item.mel, &item.symbols, &item.word_ends);
        scores.right.push(boundaries.take(item, frame_seconds, aligned).await?.score);
        scores.errors += aligner.phoneme_errors(&item.mel, &item.symbols).await?;
        let others = items.iter().enumerate().filter(|(other, _)| *other != index);
        if let Some((_, other)) =
            others.min_by_key(|(_, other)| other.symbols.len().abs_diff(item.symbols.len()))
        {
            scores
                .wrong
                .push(aligner.align_unchecked(&item.mel, &other.symbols, &other.word_ends).await?.score);
        }
    }
    Ok((boundaries, scores))
}

/// Returns the errors of the start and the end of each phone that both sequences have.
fn boundary_errors_ms(alignment: &Alignment, truth: &Labels, frame_seconds: f32) -> Vec<f32> {
    let mut now = 0;
    let ends = alignment.durations.iter().map(|&frames| {
        now += frames;
        now as f32 * frame_seconds
    });
    let ours = spans(&alignment.symbols, ends);
    let theirs = spans(&truth.symbols, truth.end_seconds.iter().flatten().copied());
    let classes = |spans: &[Span]| spans.iter().map(|span| span.class).collect::<Vec<_>>();
    edits(&classes(&ours), &classes(&theirs))
        .kept
        .into_iter()
        .flat_map(|(a, b)| {
            [ours[a].start_seconds - theirs[b].start_seconds, ours[a].end_seconds - theirs[b].end_seconds]
        })
        .map(|error| error.abs() * 1000.0)
        .collect()
}

/// A phone with its start and end.
struct Span {
    class: usize,
    start_seconds: f32,
    end_seconds: f32,
}

/// Returns the phones of an alignment without pauses.
fn spans(symbols: &[Symbol], ends: impl Iterator<Item = f32>) -> Vec<Span> {
    let mut start = 0.0;
    let spans = symbols.iter().zip(ends).map(|(&symbol, end_seconds)| {
        let start_seconds = std::mem::replace(&mut start, end_seconds);
        Span { class: class(symbol), start_seconds, end_seconds }
    });
    spans.filter(|span| span.class != PAUSE).collect()
}

fn quantile(values: &mut [f32], share: f32) -> f32 {
    values.sort_by(f32::total_cmp);
    values.get((share * values.len().saturating_sub(1) as f32).round() as usize).copied().unwrap_or(f32::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ownvoice::text::symbols::parse;

    #[test]
    fn common_phones_are_compared() {
        // The engine has AE and the text AH, so that this phone is not compared.
        let alignment =
            Alignment { symbols: parse("_ K AH0 T _").unwrap(), durations: vec![2, 3, 4, 5, 6], score: 0.0 };
        let truth = Labels {
            symbols: parse("_ K AE1 T _").unwrap(),
            end_seconds: Some(vec![0.2, 0.5, 0.9, 1.3, 2.0]),
        };
        let errors: Vec<i32> = boundary_errors_ms(&alignment, &truth, 0.1)
            .into_iter()
            .map(|error| error.round() as i32)
            .collect();
        assert_eq!(errors, [0, 0, 0, 100]);
    }

    #[test]
    fn quantiles() {
        let mut values = [3.0, 1.0, 2.0];
        assert_eq!([0.0, 0.5, 1.0].map(|share| quantile(&mut values, share)), [1.0, 2.0, 3.0]);
    }
}
