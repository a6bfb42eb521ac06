//! The checkpoint of a training between two iterations: safetensors with the weights, the optimizer's moments and the state as JSON.

use serde::{Deserialize, Serialize};

use super::{
    EVALUATE_EVERY, FineTuner,
    clip::Clip,
    options::{CloneOptions, ValidationMetrics},
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

/// The key in the metadata of the [`TrainerState`], as JSON.
const STATE: &str = "state";
/// The prefixes of the names of the tensors.
const CURRENT: &str = "now.";
const BEST: &str = "best.";

/// The state that a checkpoint holds beside tensors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct TrainerState {
    /// The hash of the base.
    base: String,
    options: CloneOptions,
    /// The number of iterations done.
    updates: usize,
    /// The number of planned iterations, with the cooldown.
    end: usize,
    /// The latest loss that was read back; `None` before the first one.
    loss: Option<f32>,
    stopping: EarlyStopping,
    /// The metrics of the parameters that are kept; `None` if none are.
    best: Option<ValidationMetrics>,
    /// Whether parameters are stored as their differences from the base.
    differences: bool,
}

#[warn(missing_docs)]
impl FineTuner {
    /// Resumes from a checkpoint, which is untrusted input, with the same base and clips.
    ///
    /// # Errors
    /// Fails with `checkpoint-corrupt` or `base-mismatch`, and as [`Self::start_async`] does.
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
        // The shapes are checked before the clips are aligned, which takes seconds.
        let blank = Voice::unadapted(base).parts;
        for stored in [&current, &best] {
            check(&blank, stored).map_err(Error::checkpoint_corrupt)?;
        }
        let mut tuner = Self::start_async(base, clips, state.options).await?;
        tuner.adam.updates = state.updates;
        restore_optimizer(&mut tuner.adam, &collect(&tuner.parts), &mut weights, &base.device)?;
        tuner.progress.end = state.end.clamp(1, tuner.options.iterations);
        tuner.progress.loss = state.loss.unwrap_or(f32::NAN);
        tuner.validation.stopping = state.stopping;
        let start = tuner.parts.clone();
        let restored = |stored: HostWeights| -> Result<_> {
            let parts = apply(start.clone(), stored).map_err(Error::checkpoint_corrupt)?;
            Ok(if state.differences { sum(parts, &tuner.base_weights) } else { parts })
        };
        let (parts, best) =
            (restored(current)?, state.best.map(|metrics| -> Result<_> { Ok((metrics, restored(best)?)) }));
        (tuner.parts, tuner.validation.best) = (parts, best.transpose()?);
        Ok(tuner)
    }

    /// Encodes all that [`Self::resume_async`] needs besides base and clips.
    pub async fn checkpoint_async(&self) -> Result<Vec<u8>> {
        let mut weights = optimizer_weights(&self.adam);
        // Rounded parameters take half the bytes as differences. Between two roundings they are stored as they are.
        let differences = self.adam.updates.is_multiple_of(EVALUATE_EVERY);
        let mut put = |prefix: &str, parts: &Adapted| {
            let stored =
                if differences { rounding::differences(parts, &self.base_weights) } else { adaptable(parts) };
            weights.extend(stored.into_iter().map(|(name, weight)| (format!("{prefix}{name}"), weight)));
        };
        put(CURRENT, &self.parts);
        if let Some((_, best)) = &self.validation.best {
            put(BEST, best);
        }
        let state = TrainerState {
            base: self.base.hash().to_string(),
            options: self.options.clone(),
            updates: self.adam.updates,
            end: self.progress.end,
            loss: Some(self.progress.loss).filter(|loss| loss.is_finite()),
            stopping: self.validation.stopping.clone(),
            best: self.validation.best.as_ref().map(|(metrics, _)| *metrics),
            differences,
        };
        let json = serde_json::to_string(&state).expect("plain data");
        Ok(serialize(weights, Storage::Full, Metadata::from([(STATE.to_string(), json)])).await?)
    }
}
