//! A training between two iterations as bytes, and back.

use serde::{Deserialize, Serialize};

use super::{
    CloneOptions, EVALUATE_EVERY, FineTuner, ValidationMetrics,
    clip::Clip,
    rounding::{self, sum},
};
use crate::{
    Error, Result,
    learn::{
        early_stopping::EarlyStopping,
        optimizer_state::{optimizer_weights, restore_optimizer},
    },
    voice::{Adapted, Base, Voice, adaptable},
};
use burn_fused::weights::{HostWeights, Metadata, Storage, apply, check, collect, deserialize, serialize};

/// The metadata's key of the [`TrainerState`], as JSON.
const STATE: &str = "state";
/// Prefixes of the tensors' names.
const CURRENT: &str = "now.";
const BEST: &str = "best.";

/// What a checkpoint holds beside tensors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct TrainerState {
    /// The hash of the base.
    base: String,
    options: CloneOptions,
    /// Iterations done.
    updates: usize,
    /// Iterations that there will be, the cooldown included.
    end: usize,
    /// The latest loss that was read back; `None` before the first.
    loss: Option<f32>,
    stopping: EarlyStopping,
    /// Metrics of the parameters that are kept; `None` where none are.
    best: Option<ValidationMetrics>,
    /// Whether parameters are stored as what they differ by from the base's.
    differences: bool,
}

#[warn(missing_docs)]
impl FineTuner {
    /// Goes on from a checkpoint of the same clips and options.
    pub async fn resume_async(base: &Base, clips: &[Clip], checkpoint: &[u8]) -> Result<Self> {
        let (mut weights, metadata) = deserialize(checkpoint).map_err(Error::checkpoint_corrupt)?;
        let json = metadata.get(STATE).ok_or_else(|| Error::checkpoint_corrupt("it has no state"))?;
        let state: TrainerState = serde_json::from_str(json)
            .map_err(|error| Error::checkpoint_corrupt(format!("its state: {error}")))?;
        if state.base != base.hash() {
            return Err(Error::base_mismatch(state.base, base.hash()));
        }
        let mut take = |prefix: &str| -> HostWeights {
            let names: Vec<String> =
                weights.keys().filter(|name| name.starts_with(prefix)).cloned().collect();
            names
                .into_iter()
                .map(|name| (name[prefix.len()..].to_string(), weights.remove(&name).expect("listed")))
                .collect()
        };
        let (current, best) = (take(CURRENT), take(BEST));
        if current.is_empty() || best.is_empty() != state.best.is_none() {
            return Err(Error::checkpoint_corrupt("it lacks weights"));
        }
        // Before the clips are aligned, which takes seconds.
        let blank = Voice::unadapted(base).parts;
        for stored in [&current, &best] {
            check(&blank, stored).map_err(Error::checkpoint_corrupt)?;
        }
        let mut tuner = Self::start_async(base, clips, state.options).await?;
        tuner.adam.updates = state.updates;
        restore_optimizer(&mut tuner.adam, &collect(&tuner.parts), &mut weights, &base.device)?;
        tuner.end = state.end.clamp(1, tuner.options.iterations);
        tuner.loss = state.loss.unwrap_or(f32::NAN);
        tuner.stopping = state.stopping;
        let start = tuner.parts.clone();
        let restored = |stored: HostWeights| -> Result<_> {
            let parts = apply(start.clone(), stored).map_err(Error::checkpoint_corrupt)?;
            Ok(if state.differences { sum(parts, &tuner.origin) } else { parts })
        };
        let (parts, best) =
            (restored(current)?, state.best.map(|metrics| -> Result<_> { Ok((metrics, restored(best)?)) }));
        (tuner.parts, tuner.best) = (parts, best.transpose()?);
        Ok(tuner)
    }

    /// All that [`Self::resume_async`] needs beside the clips.
    pub async fn checkpoint_async(&self, base: &Base) -> Result<Vec<u8>> {
        let mut weights = optimizer_weights(&self.adam);
        // Rounded parameters take half the bytes as differences; between roundings they are stored as they are.
        let differences = self.adam.updates.is_multiple_of(EVALUATE_EVERY);
        let mut put = |prefix: &str, parts: &Adapted| {
            let stored =
                if differences { rounding::differences(parts, &self.origin) } else { adaptable(parts) };
            weights.extend(stored.into_iter().map(|(name, weight)| (format!("{prefix}{name}"), weight)));
        };
        put(CURRENT, &self.parts);
        if let Some((_, best)) = &self.best {
            put(BEST, best);
        }
        let state = TrainerState {
            base: base.hash().to_string(),
            options: self.options.clone(),
            updates: self.adam.updates,
            end: self.end,
            loss: Some(self.loss).filter(|loss| loss.is_finite()),
            stopping: self.stopping.clone(),
            best: self.best.as_ref().map(|(metrics, _)| *metrics),
            differences,
        };
        let json = serde_json::to_string(&state).expect("plain data");
        Ok(serialize(weights, Storage::Full, Metadata::from([(STATE.to_string(), json)])).await?)
    }
}
