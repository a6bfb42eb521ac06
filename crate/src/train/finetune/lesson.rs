//! What each iteration learns from: windows of the clips, and of what is rehearsed. Drawn by seed and number, so that whoever holds the lesson knows them.

use burn::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::{
    rehearsal::Rehearsal,
    speech::{Speech, Windows, draw},
};
use crate::weights::{Unpacked, Weight, Weights};

#[derive(Debug, Clone)]
pub struct Lesson {
    /// Of all clips, the held-out ones last.
    pub speech: Speech,
    /// `None` where nothing is rehearsed.
    pub rehearsal: Option<Rehearsal>,
    pub plan: Plan,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub seed: u64,
    /// Clips that are learnt from before the voice settles: the first ones.
    pub clips: usize,
    pub batch: usize,
    pub window: usize,
    pub reduction: usize,
    /// Windows that are rehearsed, and what they count for.
    pub rehearsed: usize,
    pub weight: f32,
}

/// A part of an iteration's windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// From 0 on.
    pub number: usize,
    pub of: usize,
}

impl Share {
    pub const WHOLE: Self = Self { number: 0, of: 1 };

    fn of<T>(self, all: &[T]) -> &[T] {
        let at = |number: usize| number * all.len() / self.of;
        &all[at(self.number)..at(self.number + 1)]
    }
}

impl Lesson {
    /// What an iteration learns from. The losses of all shares add up to that of the whole.
    ///
    /// * `settles`: whether it is one of the last, which learn from the held-out clips as well
    pub fn windows(&self, iteration: usize, settles: bool, share: Share) -> Windows {
        let Plan { seed, clips, batch, window, reduction, rehearsed, weight } = self.plan;
        // Seeded by iteration: a resumed run draws what the unbroken one would have drawn.
        let mut rng = ChaCha8Rng::seed_from_u64(seed.wrapping_mul(1_000_003).wrapping_add(iteration as u64));
        self.speech.targets.device().seed(rng.random());
        let clips = if settles { &self.speech.clips[..] } else { &self.speech.clips[..clips] };
        let starts: Vec<usize> = (0..batch).map(|_| draw(clips, window, &mut rng)).collect();
        let valid_frames = starts.iter().map(|&start| self.speech.valid(start, window)).sum();
        let windows = Windows { valid_frames, ..self.speech.gather(share.of(&starts), window, reduction) };
        let Some(rehearsal) = &self.rehearsal else { return windows };
        let drawn = rehearsal.draw(rehearsed, window, &mut rng);
        let rehearsed_frames: usize = drawn.iter().map(|&(start, _)| rehearsal.speech.valid(start, window)).sum();
        if share.of(&drawn).is_empty() {
            return windows;
        }
        let others = rehearsal.gather(share.of(&drawn), window, reduction);
        windows.and(others, weight * valid_frames as f32 / rehearsed_frames as f32)
    }

    /// As tensors by name, and the rest as JSON.
    pub fn put(&self, weights: &mut Weights) -> String {
        self.speech.put("clips.", weights);
        if let Some(Rehearsal { speech, speakers }) = &self.rehearsal {
            speech.put("rehearsal.", weights);
            let shape = speakers.dims();
            weights.insert("rehearsal.speakers".into(), Weight { shape: shape.to_vec(), values: speakers.clone().reshape([shape[0] * shape[1]]) });
        }
        let rehearsed = self.rehearsal.as_ref().map(|rehearsal| &rehearsal.speech.clips);
        serde_json::to_string(&(&self.plan, &self.speech.clips, rehearsed)).expect("plain data")
    }

    /// What [`Self::put`] put; `None` where it is not that.
    pub fn take(json: &str, weights: &mut Unpacked, device: &Device) -> Option<Self> {
        let (plan, clips, rehearsed): (Plan, Vec<(usize, usize)>, Option<Vec<(usize, usize)>>) = serde_json::from_str(json).ok()?;
        let rehearsal = match rehearsed {
            None => None,
            Some(sentences) => {
                let (shape, values) = weights.remove("rehearsal.speakers")?;
                let speakers = Tensor::from_data(TensorData::new(values, <[usize; 2]>::try_from(shape).ok()?), device);
                Some(Rehearsal { speech: Speech::take("rehearsal.", sentences, weights, device)?, speakers })
            }
        };
        Some(Self { speech: Speech::take("clips.", clips, weights, device)?, rehearsal, plan })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_out_clips_are_heard_when_the_voice_settles() {
        let device = Device::flex();
        let frames = |width: usize| Tensor::<1, Int>::arange(0..80, &device).float().reshape([1, 80, 1]).expand([1, 80, width]);
        let speech = Speech { context: frames(2), targets: frames(3), previous: None, mask: frames(1).ones_like(), clips: vec![(0, 40), (40, 40)] };
        let plan = Plan { seed: 1, clips: 1, batch: 4, window: 10, reduction: 2, rehearsed: 0, weight: 0.0 };
        let lesson = Lesson { speech, rehearsal: None, plan };
        let latest = |settles| {
            let latest = |iteration| lesson.windows(iteration, settles, Share::WHOLE).targets.max().into_scalar::<f32>();
            (0..20).map(latest).fold(0.0, f32::max)
        };
        assert_eq!((latest(false), latest(true)), (39.0, 79.0));
    }
}
