//! The training data of a fine-tuning: windows of the clips and of the rehearsed sentences. They are a function of seed and iteration, so that all workers
//! sample the same windows.

use burn::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::frame_store::{FrameStore, Span, WindowBatch, draw};
use burn_fused::{
    ranks::Shard,
    weights::{HostWeights, Weights},
};

/// The frames that a training samples from.
#[derive(Debug, Clone)]
pub struct ClipDataset {
    /// The frames of all clips, with the held-out ones last.
    pub store: FrameStore,
    /// The frames of the rehearsed sentences; `None` without rehearsal.
    pub rehearsal: Option<FrameStore>,
    pub sampler: SamplerConfig,
}

/// How windows are sampled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SamplerConfig {
    pub seed: u64,
    /// The number of clips, the first ones, that are sampled before the cooldown.
    pub clips: usize,
    /// The number of windows of the clips in a batch.
    pub batch: usize,
    /// The number of frames of a window.
    pub window: usize,
    pub reduction: usize,
    /// The number of rehearsed windows in a batch.
    pub rehearsed: usize,
    /// The weight of the rehearsed windows in the loss, relative to that of the clips, as the mean over all iterations.
    pub weight: f32,
    /// The number of iterations over which this weight rises from zero to twice its mean: rehearsal is most effective at the end.
    pub ramp_iterations: usize,
}

impl SamplerConfig {
    /// Returns the weight of the rehearsed windows in an iteration.
    fn rehearsal_at(&self, iteration: usize) -> f32 {
        self.weight * 2.0 * iteration as f32 / self.ramp_iterations as f32
    }
}

impl ClipDataset {
    /// Samples the batch of an iteration. The losses of all shards add up to that of the whole batch.
    ///
    /// * `in_cooldown`: whether the held-out clips are sampled too
    pub fn windows(&self, iteration: usize, in_cooldown: bool, shard: Shard) -> WindowBatch {
        let SamplerConfig { seed, clips, batch, window, rehearsed, .. } = self.sampler;
        // The seed depends on the iteration, so that a resumed run samples the same windows as an uninterrupted one.
        let mut rng = ChaCha8Rng::seed_from_u64(seed.wrapping_mul(1_000_003).wrapping_add(iteration as u64));
        self.store.targets.device().seed(rng.random());
        let clips = if in_cooldown { &self.store.clips[..] } else { &self.store.clips[..clips] };
        let mut draw = |store: &FrameStore, clips: &[Span], count: usize| {
            let starts: Vec<usize> = (0..count).map(|_| draw(clips, window, &mut rng)).collect();
            let frames: usize = starts.iter().map(|&start| store.valid(start, window)).sum();
            (starts, frames)
        };
        let (starts, valid_frames) = draw(&self.store, clips, batch);
        let windows = WindowBatch { valid_frames, ..self.store.gather(shard.slice(&starts), window) };
        let Some(rehearsal) = &self.rehearsal else { return windows };
        let (starts, rehearsed_frames) = draw(rehearsal, &rehearsal.clips, rehearsed);
        if shard.slice(&starts).is_empty() {
            return windows;
        }
        let rehearsed = rehearsal.gather(shard.slice(&starts), window);
        windows.and(
            rehearsed,
            self.sampler.rehearsal_at(iteration) * valid_frames as f32 / rehearsed_frames as f32,
        )
    }

    /// Returns the weight of all windows of an iteration, of which the clips have 1. The loss is divided by it where it is shown, since it would rise otherwise.
    pub fn total_weight(&self, iteration: usize) -> f32 {
        1.0 + self.rehearsal.as_ref().map_or(0.0, |_| self.sampler.rehearsal_at(iteration))
    }

    /// Adds the tensors to `weights`, and returns the rest as JSON.
    pub fn put(&self, weights: &mut Weights) -> String {
        self.store.put("clips.", weights);
        if let Some(rehearsal) = &self.rehearsal {
            rehearsal.put("rehearsal.", weights);
        }
        let rehearsed = self.rehearsal.as_ref().map(|rehearsal| &rehearsal.clips);
        serde_json::to_string(&(&self.sampler, &self.store.clips, rehearsed)).expect("plain data")
    }

    /// Reads what [`Self::put`] has written. Returns `None` if a tensor is missing or the JSON is invalid.
    pub fn take(json: &str, weights: &mut HostWeights, device: &Device) -> Option<Self> {
        let (sampler, clips, rehearsed): (SamplerConfig, Vec<Span>, Option<Vec<Span>>) =
            serde_json::from_str(json).ok()?;
        let rehearsal = match rehearsed {
            None => None,
            Some(sentences) => Some(FrameStore::take("rehearsal.", sentences, weights, device)?),
        };
        let fits = (1..=clips.len()).contains(&sampler.clips)
            && sampler.reduction > 0
            && sampler.window > 0
            && sampler.window % sampler.reduction == 0
            && sampler.ramp_iterations > 0;
        fits.then_some(Self {
            store: FrameStore::take("clips.", clips, weights, device)?,
            rehearsal,
            sampler,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLER: SamplerConfig = SamplerConfig {
        seed: 1,
        clips: 1,
        batch: 4,
        window: 10,
        reduction: 2,
        rehearsed: 2,
        weight: 0.3,
        ramp_iterations: 60,
    };

    #[test]
    fn held_out_clips_are_sampled_in_the_cooldown_only() {
        let device = Device::flex();
        let frames = |width: usize| {
            Tensor::<1, Int>::arange(0..80, &device).float().reshape([1, 80, 1]).expand([1, 80, width])
        };
        let store = FrameStore {
            context: frames(2),
            targets: frames(3),
            mask: frames(1).ones_like(),
            clips: [0, 40].map(|first| Span { first, frames: 40 }).to_vec(),
        };
        let dataset = ClipDataset { store, rehearsal: None, sampler: SAMPLER };
        let latest = |in_cooldown| {
            let latest = |iteration| {
                dataset.windows(iteration, in_cooldown, Shard::WHOLE).targets.max().into_scalar::<f32>()
            };
            (0..20).map(latest).fold(0.0, f32::max)
        };
        assert_eq!((latest(false), latest(true)), (39.0, 79.0));
    }

    /// The loss is a mean over the frames of the clips, so that the sum of the mask gives the weight.
    #[test]
    fn the_weight_of_rehearsed_windows_rises_to_twice_its_mean() {
        let device = Device::flex();
        let frames = |width: usize| Tensor::<3>::ones([1, 40, width], &device);
        let store = FrameStore {
            context: frames(2),
            targets: frames(3),
            mask: frames(1),
            clips: vec![Span { first: 0, frames: 40 }],
        };
        let dataset = ClipDataset { rehearsal: Some(store.clone()), store, sampler: SAMPLER };
        let share = |iteration| {
            let mask = dataset.windows(iteration, false, Shard::WHOLE).mask;
            let sum = |first, count| mask.clone().narrow(0, first, count).sum().into_scalar::<f32>();
            sum(4, 2) / sum(0, 4)
        };
        for (iteration, weight) in [(0, 0.0), (30, 0.3), (60, 0.6)] {
            let share = share(iteration);
            assert!((share - weight).abs() < 1e-5, "{share} in iteration {iteration}");
        }
    }
}
