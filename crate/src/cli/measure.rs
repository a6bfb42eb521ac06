//! `ownvoice measure`: what a base is worth, into its manifest. The last step of `ownvoice recipe`.

use clap::Args;
use serde_json::{Value, json};
use std::{fs, path::PathBuf};

use super::{
    base,
    clone::{learn, read_clips},
    device::DeviceName,
    evaluate::{rounded, speaker_verifier, write_wavs},
    speaker_encoder::verify,
};
use crate::{
    Error, Result,
    corpus::{HELD_OUT, PERTURBED, make_perturbed},
    evaluate::report::Evaluation,
    train::{CloneOptions, run::Recipe},
    voice::{FileEntry, Voice},
};

#[derive(Args)]
pub struct MeasureArguments {
    /// Folder of the base voice
    #[arg(long, default_value = "models/base")]
    pub base: PathBuf,
    /// Corpus folder, with the held-out voices
    #[arg(long)]
    pub corpus: PathBuf,
    /// Folder for what is compared, as WAV files by speaker, for external evaluators
    #[arg(long)]
    pub wavs: Option<PathBuf>,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[arg(long, value_enum, default_value = "cpu")]
    pub device: DeviceName,
}

pub const SPEAKER_ENCODER: &str = "speaker_encoder.safetensors";
/// Speech that a clone is measured with, as of a visitor.
pub const CLONE_SECONDS: f32 = 60.0;
/// Of some eight words each: with fewer, error rates say little.
pub const SENTENCES: usize = 40;

/// Names the speaker encoder that lies in the base's folder, measures it on the held-out voices, and clones each of them.
pub fn measure(arguments: &MeasureArguments) -> Result<()> {
    let MeasureArguments { base: folder, corpus, wavs, seed, device } = arguments;
    let held_out = corpus.join("held-out");
    if !held_out.join(PERTURBED).exists() {
        make_perturbed(corpus)?;
    }
    let mut manifest = base::read_manifest(folder)?;
    let path = folder.join(SPEAKER_ENCODER);
    manifest.files.speaker_encoder = Some(FileEntry::new(SPEAKER_ENCODER, &fs::read(&path).map_err(Error::io(&path))?));
    manifest.held_out = held_out_voices().map(str::to_string).collect();
    manifest.recipe["speaker_encoder"] = json!(Recipe::speaker_encoder());
    let verifier = speaker_verifier(folder, &manifest)?.expect("it was just named");
    let found = verify(&verifier, &held_out)?;
    manifest.quality["speaker_encoder"] = rounded(json!({
        "equal_error_rate": found.equal_error_rate,
        "speakers": found.speakers,
        "pairs": found.trials,
        "cosine.same_speaker": found.own,
        "cosine.other_speakers": found.strangers,
    }));
    println!("speaker encoder: {:#}", manifest.quality["speaker_encoder"]);
    base::write_manifest(folder, &manifest)?;

    let base = base::load(folder, &device.open()?)?;
    let mut clones = serde_json::Map::new();
    for speaker in held_out_voices() {
        let recordings = held_out.join(speaker);
        let options = CloneOptions { seed: *seed, ..CloneOptions::default() };
        let voice = learn(&base, &read_clips(&recordings, Some(CLONE_SECONDS))?, options, &mut |line| println!("{line}"))?;
        let figures = pollster::block_on(async {
            let evaluation = Evaluation::new(&base, Some(&verifier), &read_clips(&recordings, None)?, SENTENCES).await?;
            let (clone, unadapted) = (evaluation.measure(&voice).await?, evaluation.measure(&Voice::unadapted(&base)).await?);
            if let Some(wavs) = wavs {
                write_wavs(&wavs.join(speaker), &base, &evaluation, &clone, &unadapted)?;
            }
            evaluation.figures(&clone, &unadapted).await
        })?;
        let figures = rounded(Value::Object(figures));
        println!("{speaker}: {figures:#}");
        clones.insert(speaker.to_string(), figures);
    }
    manifest.quality["clones"] = Value::Object(clones);
    base::write_manifest(folder, &manifest)
}

/// Nothing is ever trained on these.
pub fn held_out_voices() -> impl Iterator<Item = &'static str> {
    HELD_OUT.into_iter().chain([PERTURBED])
}
