//! `ownvoice clone`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::{
    console::Console,
    device::{DeviceArguments, PlanArguments},
    output::{self, OutputKind},
};
use crate::{
    evaluate::measure::speaker_verifier,
    fine_tune::{ClipReader, fine_tune, named},
    speaker_encoder::{
        several::{Groups, MAX_SIMILARITY_OF_SPEAKERS, embedding, groups},
        verifier::SpeakerEmbedding,
    },
};
use ownvoice::{
    Error, Result,
    clone::{
        FineTuner,
        options::{AdvancedCloneOptions, CloneOptions},
    },
    model::pitch::Intonation,
    report::Report,
    voice::Base,
};

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice clone --clips recordings --out me.ownvoice
  ownvoice clone --clips minute.m4a --out me.ownvoice
  ownvoice clone --clips recordings --out me.ownvoice --iterations 100 --seconds 30 --json")]
pub struct CloneArguments {
    /// Folder of the base voice
    #[arg(long, default_value = "models/base")]
    base: PathBuf,
    /// Folder of recordings in any common format, with `metadata.csv` of `id|text` and `wavs/id.wav` or with texts beside them as `.txt`, or one recording with its text beside it
    #[arg(long)]
    clips: PathBuf,
    /// Voice file to write
    #[arg(long)]
    out: PathBuf,
    /// Number of training iterations
    ///
    /// This is the maximum: training ends early when the held-out clips no longer improve.
    #[arg(long, default_value_t = CloneOptions::default().iterations)]
    iterations: usize,
    #[command(flatten)]
    device: DeviceArguments,
    #[command(flatten)]
    plan: PlanArguments,
    /// Seed of the random numbers; the same seed, input and device give the same result
    #[arg(long, default_value_t = CloneOptions::default().seed)]
    seed: u64,
    /// Maximum seconds of speech to use
    #[arg(long)]
    seconds: Option<f32>,
    /// Initial learning rate
    ///
    /// This is the rate of the postnet; the rate of the decoder is a fifth of it.
    #[arg(long, default_value_t = AdvancedCloneOptions::default().rate)]
    rate: f64,
    /// Weight of sentences that the base synthesises, which are rehearsed against forgetting, relative to half a minute of clips; 0 for no rehearsal
    ///
    /// The weight is halved for twice as much speech, and multiplied by four for a voice twice as far from the base, up to 2.5 times.
    #[arg(long, default_value_t = CloneOptions::default().rehearsal)]
    rehearsal: f32,
    /// Accept clips of several speakers, whose voices are blended
    #[arg(long)]
    several_speakers: bool,
}

pub fn clone(arguments: &CloneArguments, console: &Console) -> Result<()> {
    output::check(&arguments.out, OutputKind::Voice, console)?;
    let base = Base::open(&arguments.base, &arguments.device.open()?)?;
    let verifier = match arguments.several_speakers {
        true => None,
        false => speaker_verifier(&arguments.base, &base.manifest)?,
    };
    let plan = arguments.plan.get()?;
    let options = CloneOptions {
        iterations: arguments.iterations,
        seed: arguments.seed,
        rehearsal: arguments.rehearsal,
        precision: plan.precision,
        advanced: AdvancedCloneOptions {
            rate: arguments.rate,
            half: plan.half,
            plain: plan.plain,
            ..AdvancedCloneOptions::default()
        },
        ..CloneOptions::default()
    };
    let mut reader = ClipReader::new(&arguments.clips, arguments.seconds, console)?;
    console.note("reading and aligning the clips");
    let mut embedded = Vec::new();
    let clips = reader.by_ref().inspect(|clip| {
        embedded.extend(verifier.as_ref().map(|verifier| embedding(verifier, clip)));
    });
    let started = FineTuner::start(&base, clips, options);
    let recorded = reader.finish()?;
    refuse_several_speakers(embedded, &recorded.files)?;
    let tuner = started.map_err(|error| named(error, &recorded.files))?;
    let tuned = fine_tune(tuner, &recorded.files, console)?;
    let voice = tuned.voice;
    let used = recorded.files.len() - tuned.left_out.len();
    let left_out = recorded.left_out.iter().chain(&tuned.left_out);
    let bytes = voice.save()?;
    output::write(&arguments.out, &bytes)?;
    let mut text = format!(
        "{}: {:.1} MB, duration scale {:.2}",
        arguments.out.display(),
        bytes.len() as f32 / 1e6,
        voice.duration_scale()
    );
    if let Some(Intonation { mean_hz, spread }) = voice.prosody.intonation {
        text += &format!("\nmean pitch {mean_hz:.0} Hz, pitch range {spread:.2} times the base's");
    }
    let info = voice.info();
    let json = json!({
        "path": arguments.out,
        "bytes": bytes.len(),
        "clips": used,
        "left_out": left_out
            .map(|error| json!({"file": error.file(), "code": error.code(), "message": error.to_string()}))
            .collect::<Vec<_>>(),
        "seconds": info.seconds,
        "iterations": info.iterations,
        "held_out_loss": info.held_out_loss,
        "duration_scale": voice.duration_scale(),
        "variance_scale": voice.global_variance_scale,
        "mean_pitch_hz": voice.prosody.intonation.map(|intonation| intonation.mean_hz),
        "pitch_spread": voice.prosody.intonation.map(|intonation| intonation.spread),
    });
    console.result(&json, text);
    Ok(())
}

/// Fails with `several-speakers` if the speaker encoder of the base hears two speakers in the clips.
///
/// * `embedded`: the embedding of each clip that holds enough speech; nothing if speakers are not compared
fn refuse_several_speakers(embedded: Vec<Result<Option<SpeakerEmbedding>>>, files: &[PathBuf]) -> Result<()> {
    let indexed = embedded.into_iter().enumerate();
    let embedded = indexed
        .filter_map(|(index, embedding)| Some(embedding.transpose()?.map(|embedding| (index, embedding))));
    let embedded = embedded.collect::<Result<Vec<_>>>()?;
    let Some(Groups { similarity, smaller }) = groups(&embedded) else { return Ok(()) };
    if similarity >= MAX_SIMILARITY_OF_SPEAKERS {
        return Ok(());
    }
    let names = smaller.iter().take(3).map(|&index| files[index].display().to_string());
    let names = names.collect::<Vec<_>>().join(", ");
    Err(Error::several_speakers(format!(
        "{} of {} sound like another person (cosine {similarity:.2}), such as {names}; remove them, or give --several-speakers to blend the voices",
        smaller.len(),
        files.len()
    )))
}
