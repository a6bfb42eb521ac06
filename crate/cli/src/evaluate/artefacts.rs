//! Artefacts of synthesis: clipping, a constant offset, and noise in pauses.

use serde::Serialize;

use ownvoice::audio::{level, stft::Stft};

/// The artefacts of one clip or, by [`Artefacts::mean`], of several.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Artefacts {
    /// The share of samples at full scale, 0 to 1.
    pub clipped_share: f32,
    /// The mean of all samples, relative to full scale.
    pub offset: f32,
    /// The level of the quietest tenth of the frames relative to the speech, in dB: the level of pauses, if there are any.
    pub pause_level_db: f32,
    /// The spectral flatness (geometric over arithmetic mean of the power spectrum) of those frames: 1 is white noise, 0 a tone. Buzz and musical noise have
    /// low values.
    pub pause_flatness: f32,
}

/// The amplitude from which a sample counts as clipped.
const FULL_SCALE: f32 = 0.999;
/// The length of a frame: 32 ms at 16 kHz, with an overlap of one half.
const WINDOW: usize = 512;
const HOP: usize = 256;
/// The share of the frames that count as pauses.
const PAUSES: f32 = 0.1;
/// The power of digital silence.
const MIN_POWER: f32 = 1e-10;

impl Artefacts {
    /// Measures samples `[S]` at 16 kHz or near it. Empty clips have no artefacts.
    pub fn measure(samples: &[f32], sample_rate_hz: u32) -> Self {
        let count = samples.len().max(1) as f32;
        let mut frames: Vec<(f32, f32)> = Vec::new();
        Stft::new(WINDOW, WINDOW, HOP).analyze(samples, |_, spectrum| {
            // The lowest bins hold the offset, which is measured separately.
            let powers = spectrum[2..].iter().map(|x| x.norm_sqr() + MIN_POWER);
            let mean = powers.clone().sum::<f32>() / (spectrum.len() - 2) as f32;
            let geometric = (powers.map(f32::ln).sum::<f32>() / (spectrum.len() - 2) as f32).exp();
            frames.push((mean, geometric / mean));
        });
        frames.sort_by(|a, b| a.0.total_cmp(&b.0));
        let pauses = &frames[..((frames.len() as f32 * PAUSES) as usize).clamp(1, frames.len())];
        // Compensates the power of the Hann window.
        let power = pauses.iter().map(|(power, _)| power).sum::<f32>()
            / pauses.len() as f32
            / (0.375 * WINDOW as f32);
        let speech_db = level::speech_level_db(samples, sample_rate_hz);
        Self {
            clipped_share: samples.iter().filter(|x| x.abs() >= FULL_SCALE).count() as f32 / count,
            offset: samples.iter().sum::<f32>() / count,
            pause_level_db: if speech_db > level::SILENCE_DB {
                10.0 * power.max(MIN_POWER).log10() - speech_db
            } else {
                level::SILENCE_DB
            },
            pause_flatness: pauses.iter().map(|(_, flatness)| flatness).sum::<f32>() / pauses.len() as f32,
        }
    }

    /// Returns the mean of each measure, or zeros without clips.
    pub fn mean(all: &[Self]) -> Self {
        let mean = |measure: fn(&Self) -> f32| all.iter().map(measure).sum::<f32>() / all.len().max(1) as f32;
        Self {
            clipped_share: mean(|one| one.clipped_share),
            offset: mean(|one| one.offset),
            pause_level_db: mean(|one| one.pause_level_db),
            pause_flatness: mean(|one| one.pause_flatness),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ownvoice::audio::source::noise;
    use rand::SeedableRng;

    /// Half a second of a tone, then half a second of `pause`.
    fn clip(pause: impl Fn(usize) -> f32) -> Vec<f32> {
        (0..16_000).map(|n| if n < 8000 { 0.3 * (n as f32 * 0.08).sin() } else { pause(n) }).collect()
    }

    #[test]
    fn each_artefact_is_measured() {
        let hiss = noise(16_000, &mut rand_chacha::ChaCha8Rng::seed_from_u64(1));
        let clean = Artefacts::measure(&clip(|n| 1e-4 * hiss[n]), 16_000);
        assert_eq!(clean.clipped_share, 0.0);
        assert!(clean.offset.abs() < 1e-3 && clean.pause_level_db < -60.0, "{clean:?}");
        let noisy = Artefacts::measure(&clip(|n| 0.03 * hiss[n]), 16_000);
        // The tone has 0.3^2 / 2, the noise 0.03^2: 17 dB less.
        assert!((noisy.pause_level_db + 17.0).abs() < 1.0 && noisy.pause_flatness > 0.45, "{noisy:?}");
        let humming = Artefacts::measure(&clip(|n| 0.03 * (n as f32 * 0.9).sin()), 16_000);
        assert!(humming.pause_flatness < 0.1, "{humming:?}");
        let shifted: Vec<f32> = clip(|_| 0.0).iter().map(|x| x + 0.05).collect();
        assert!((Artefacts::measure(&shifted, 16_000).offset - 0.05).abs() < 1e-3);
        let clipped: Vec<f32> = clip(|_| 0.0).iter().map(|x| (10.0 * x).clamp(-1.0, 1.0)).collect();
        assert!(Artefacts::measure(&clipped, 16_000).clipped_share > 0.2);
    }

    #[test]
    fn empty_clips_have_no_artefacts() {
        let empty = Artefacts::measure(&[], 16_000);
        assert!(
            empty.clipped_share == 0.0 && empty.offset == 0.0 && empty.pause_level_db == level::SILENCE_DB
        );
    }
}
