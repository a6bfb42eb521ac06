//! Makes other speakers from recorded ones by scaling pitch and formants independently.

use ownvoice::{
    Result,
    audio::{pitch, psola::shift_pitch, resample::resample},
};

/// A change of a voice; with both factors 1 there is none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Perturbation {
    /// The factor of the formants, which are scaled by playing faster; this divides the length of the clip.
    pub formants: f32,
    /// The factor of the pitch.
    pub pitch: f32,
}

/// The hop of the pitch track, in samples.
const HOP: usize = 200;

impl Perturbation {
    /// No change.
    pub const NONE: Self = Self { formants: 1.0, pitch: 1.0 };

    /// Changes samples `[S]` to `[S / formants]`.
    pub fn apply(self, samples: &[f32], sample_rate_hz: u32) -> Result<Vec<f32>> {
        // Playing faster also raises the pitch.
        let factor = self.pitch / self.formants;
        let shifted = if (factor - 1.0).abs() < 1e-3 {
            samples.to_vec()
        } else {
            shift_pitch(samples, &pitch::track(samples, sample_rate_hz, HOP), sample_rate_hz, HOP, factor)
        };
        resample(&shifted, (sample_rate_hz as f32 * self.formants).round() as u32, sample_rate_hz)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ownvoice::audio::source::pulses;

    #[test]
    fn pitch_and_length_are_scaled() {
        // These are pulses that decay within a few milliseconds, like those of a glottis.
        let mut last = 0.0;
        let glottis = |pulse: f32| {
            last = pulse + 0.95 * last;
            last
        };
        let voice: Vec<f32> = pulses(&vec![120.0; 81], 16_000, 200, 0.0).into_iter().map(glottis).collect();
        for (formants, pitch) in [(1.0, 1.0), (1.15, 1.335), (0.87, 1.2)] {
            let changed = Perturbation { formants, pitch }.apply(&voice, 16_000).unwrap();
            assert!((changed.len() as f32 * formants - voice.len() as f32).abs() < 3.0);
            let hz = pitch::track(&changed, 16_000, 200).mean_hz();
            assert!((hz / (120.0 * pitch) - 1.0).abs() < 0.02, "{formants}, {pitch}: {hz}");
        }
    }
}
