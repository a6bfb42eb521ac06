//! Artefacts of synthesis: clipping, a constant offset, and sound in pauses.

use serde::Serialize;

use crate::audio::{level, stft::Stft};

/// Of one clip or, by [`Artefacts::mean`], of several.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Artefacts {
    /// Samples at full scale, 0 to 1.
    pub clipped_share: f32,
    /// Mean of all samples, of full scale.
    pub offset: f32,
    /// Level of the quietest tenth of the frames below that of the speech, in dB; pauses, where there are any.
    pub pause_level_db: f32,
    /// Geometric over arithmetic mean of the power spectrum in those frames: 1 is even noise, 0 a tone. Buzz and musical noise lie low.
    pub pause_flatness: f32,
}

const FULL_SCALE: f32 = 0.999;
/// 32 ms at 16 kHz, half overlapping.
const WINDOW: usize = 512;
const HOP: usize = 256;
/// Share of the frames that count as pauses.
const PAUSES: f32 = 0.1;
/// Power below this is digital silence.
const MIN_POWER: f32 = 1e-10;

impl Artefacts {
    /// Of samples at 16 kHz or near it, `[S]`. Nothing is clean.
    pub fn of(samples: &[f32], sample_rate_hz: u32) -> Self {
        let count = samples.len().max(1) as f32;
        let mut frames: Vec<(f32, f32)> = Vec::new();
        Stft::new(WINDOW, WINDOW, HOP).analyze(samples, |_, spectrum| {
            // The lowest bins hold the offset, which is measured by itself.
            let powers = spectrum[2..].iter().map(|x| x.norm_sqr() + MIN_POWER);
            let mean = powers.clone().sum::<f32>() / (spectrum.len() - 2) as f32;
            let geometric = (powers.map(f32::ln).sum::<f32>() / (spectrum.len() - 2) as f32).exp();
            frames.push((mean, geometric / mean));
        });
        frames.sort_by(|a, b| a.0.total_cmp(&b.0));
        let pauses = &frames[..((frames.len() as f32 * PAUSES) as usize).clamp(1, frames.len())];
        // Of Hann's window, so that a spectrum's mean power is the samples'.
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

    /// Means of each; nothing has none.
    pub fn mean(all: &[Self]) -> Self {
        let mean = |of: fn(&Self) -> f32| all.iter().map(of).sum::<f32>() / all.len().max(1) as f32;
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
    use crate::audio::source::noise;
    use rand::SeedableRng;

    /// Half a second of a tone, then as much of `pause`.
    fn clip(pause: impl Fn(usize) -> f32) -> Vec<f32> {
        (0..16_000).map(|n| if n < 8000 { 0.3 * (n as f32 * 0.08).sin() } else { pause(n) }).collect()
    }

    #[test]
    fn each_trace_is_measured() {
        let hiss = noise(16_000, &mut rand_chacha::ChaCha8Rng::seed_from_u64(1));
        let clean = Artefacts::of(&clip(|n| 1e-4 * hiss[n]), 16_000);
        assert_eq!(clean.clipped_share, 0.0);
        assert!(clean.offset.abs() < 1e-3 && clean.pause_level_db < -60.0, "{clean:?}");
        let noisy = Artefacts::of(&clip(|n| 0.03 * hiss[n]), 16_000);
        // The tone has 0.3^2 / 2, the noise 0.03^2: 17 dB less.
        assert!((noisy.pause_level_db + 17.0).abs() < 1.0 && noisy.pause_flatness > 0.45, "{noisy:?}");
        let humming = Artefacts::of(&clip(|n| 0.03 * (n as f32 * 0.9).sin()), 16_000);
        assert!(humming.pause_flatness < 0.1, "{humming:?}");
        let shifted: Vec<f32> = clip(|_| 0.0).iter().map(|x| x + 0.05).collect();
        assert!((Artefacts::of(&shifted, 16_000).offset - 0.05).abs() < 1e-3);
        let clipped: Vec<f32> = clip(|_| 0.0).iter().map(|x| (10.0 * x).clamp(-1.0, 1.0)).collect();
        assert!(Artefacts::of(&clipped, 16_000).clipped_share > 0.2);
    }

    #[test]
    fn nothing_is_clean() {
        let nothing = Artefacts::of(&[], 16_000);
        assert!(
            nothing.clipped_share == 0.0
                && nothing.offset == 0.0
                && nothing.pause_level_db == level::SILENCE_DB
        );
    }
}
