//! A training between two iterations as bytes, and back.

use super::super::optimizer_state::{optimizer_weights, restore_optimizer};
use super::{Clip, CloneOptions, FineTuner, Start};
use crate::{
    Error, Result,
    nn::Precision,
    voice::{Adapted, Base, adaptable},
    weights::{Metadata, Storage, HostWeights, apply, serialize, deserialize},
};

impl FineTuner {
    /// Goes on from a checkpoint of the same clips and options.
    pub async fn resume_async(base: &Base, clips: &[Clip], checkpoint: &[u8]) -> Result<Self> {
        let (mut weights, metadata) = deserialize(checkpoint).map_err(Error::CheckpointCorrupt)?;
        let named = |key: &str| metadata.get(key);
        let lacks = |key: &str| Error::CheckpointCorrupt(format!("it lacks its {key}"));
        let number = |key: &str| -> Result<f64> {
            let value = named(key).and_then(|value| value.parse().ok());
            value.filter(|value: &f64| value.is_finite()).ok_or_else(|| lacks(key))
        };
        if metadata.get("base").map(String::as_str) != Some(base.hash()) {
            return Err(Error::BaseMismatch { expected: metadata.get("base").cloned().unwrap_or_default(), found: base.hash().into() });
        }
        let options = CloneOptions {
            iterations: number("iterations")? as usize,
            batch: number("batch")? as usize,
            window: number("window")? as usize,
            rehearsal: number("rehearsal")? as f32,
            seed: number("seed")? as u64,
            rate: number("rate")?,
            speaker_rate: number("speaker_rate")?,
            adapts: named("adapts").and_then(|json| serde_json::from_str(json).ok()).ok_or_else(|| lacks("adapts"))?,
            stop_rule: named("stop_rule").and_then(|json| serde_json::from_str(json).ok()).ok_or_else(|| lacks("stop_rule"))?,
            // Where it began no longer counts.
            start: Start::Nearest,
            precision: metadata.get("precision").and_then(|name| Precision::by_name(name)).unwrap_or_default(),
        };
        let mut tuner = Self::start_async(base, clips, options).await?;
        tuner.adam.updates = number("updates")? as usize;
        restore_optimizer(&mut tuner.adam, &mut weights, &base.device);
        tuner.bad_checks = number("stale")? as usize;
        tuner.end = (number("end")? as usize).clamp(1, tuner.options.iterations);
        tuner.loss = number("loss").unwrap_or(f64::NAN) as f32;
        let mut take = |prefix: &str| -> HostWeights {
            let names: Vec<String> = weights.keys().filter(|name| name.starts_with(prefix)).cloned().collect();
            names.into_iter().map(|name| (name[prefix.len()..].to_string(), weights.remove(&name).expect("listed"))).collect()
        };
        let (now, best) = (take("now."), take("best."));
        if now.is_empty() {
            return Err(Error::CheckpointCorrupt("it holds no weights".into()));
        }
        let start = tuner.parts.clone();
        tuner.parts = apply(start.clone(), &now).map_err(Error::CheckpointCorrupt)?;
        if !best.is_empty() {
            let validation = named("best").and_then(|json| serde_json::from_str(json).ok()).ok_or_else(|| lacks("best"))?;
            (tuner.best_score, tuner.reference) = (number("top")? as f32, number("mark")? as f32);
            tuner.best = Some((validation, apply(start, &best).map_err(Error::CheckpointCorrupt)?));
        }
        Ok(tuner)
    }

    /// All that [`Self::resume_async`] needs beside the clips.
    pub async fn checkpoint_async(&self, base: &Base) -> Result<Vec<u8>> {
        let mut weights = optimizer_weights(&self.adam);
        let mut put = |prefix: &str, parts: &Adapted| {
            weights.extend(adaptable(parts).into_iter().map(|(name, weight)| (format!("{prefix}{name}"), weight)));
        };
        put("now.", &self.parts);
        if let Some((_, best)) = &self.best {
            put("best.", best);
        }
        let CloneOptions { iterations, batch, window, rehearsal, seed, rate, speaker_rate, adapts, stop_rule, start: _, precision } = &self.options;
        let json = |value: serde_json::Result<String>| value.expect("plain data");
        let mut metadata = Metadata::from([("base".to_string(), base.hash().to_string())]);
        for (key, value) in [
            ("updates", self.adam.updates.to_string()),
            ("stale", self.bad_checks.to_string()),
            ("end", self.end.to_string()),
            ("top", self.best_score.to_string()),
            ("mark", self.reference.to_string()),
            ("loss", self.loss.to_string()),
            ("best", json(serde_json::to_string(&self.best.as_ref().map(|(validation, _)| validation)))),
            ("adapts", json(serde_json::to_string(adapts))),
            ("stop_rule", json(serde_json::to_string(stop_rule))),
            ("iterations", iterations.to_string()),
            ("batch", batch.to_string()),
            ("window", window.to_string()),
            ("rehearsal", rehearsal.to_string()),
            ("seed", seed.to_string()),
            ("rate", rate.to_string()),
            ("speaker_rate", speaker_rate.to_string()),
            ("precision", precision.name().to_string()),
        ] {
            metadata.insert(key.to_string(), value);
        }
        Ok(serialize(weights, Storage::Full, metadata).await)
    }
}
