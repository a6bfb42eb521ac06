//! Excitation features: the ripple that a flat pulse train at a given F0 leaves in a mel spectrogram, without a vocal tract.
//!
//! A decoder that reads them only shapes the harmonics and need not derive them from F0. The ripple depends on F0 alone, so it is looked up in a table.

use super::{
    mel::{MelConfig, MelExtractor},
    pitch::{MAX_PITCH_HZ, MIN_PITCH_HZ},
};

/// The number of channels that resolve harmonics: higher filters are wider than the distance between a high voice's harmonics.
pub const RIPPLE_CHANNELS: usize = 48;
/// The number of features of a frame: voicing, log F0, ripple.
pub const EXCITATION_WIDTH: usize = 2 + RIPPLE_CHANNELS;
/// Log F0 is normalised as `(ln f0 - LOG_HZ_MEAN) / LOG_HZ_SCALE`, which puts a typical man's and woman's pitch about 1 below and above 0.
pub const LOG_HZ_MEAN: f32 = 5.05;
pub const LOG_HZ_SCALE: f32 = 0.35;
/// The ratio of the F0 of adjacent rows: at the tenth harmonic one step is a tenth of the distance to the next harmonic.
const STEP: f32 = 1.01;
/// The limit of the ripple's valleys and peaks, in nepers.
const MAX_RIPPLE: f32 = 2.0;

/// A table of excitation features by F0.
#[derive(Debug, Clone)]
pub struct Excitation {
    /// The ripple of each tabulated F0, `[rows, RIPPLE_CHANNELS]`.
    ripples: Vec<f32>,
}

impl Excitation {
    pub fn new(config: &MelConfig) -> Self {
        let extractor = MelExtractor::new(config.clone());
        let bins = extractor.stft().bins();
        let bin_hz = config.sample_rate_hz as f32 / config.fft_length as f32;
        // Half the width of a Hann window's main lobe.
        let lobe_hz = 2.0 * config.sample_rate_hz as f32 / config.window_length as f32;
        let flat = extractor.filter(&vec![1.0; bins]);
        let rows = ((MAX_PITCH_HZ / MIN_PITCH_HZ).ln() / STEP.ln()).ceil() as usize + 1;
        let channels = RIPPLE_CHANNELS.min(config.mels);
        let mut ripples = Vec::with_capacity(rows * RIPPLE_CHANNELS);
        for row in 0..rows {
            let f0_hz = MIN_PITCH_HZ * STEP.powi(row as i32);
            let amplitudes: Vec<f32> =
                (0..bins).map(|bin| harmonics(bin as f32 * bin_hz, f0_hz, lobe_hz)).collect();
            let mel = extractor.filter(&amplitudes);
            let logs: Vec<f32> =
                mel.iter().zip(&flat).take(channels).map(|(mel, flat)| (mel.max(1e-6) / flat).ln()).collect();
            // The level belongs to the vocal tract, so the ripple is centred on 0.
            let mean = logs.iter().sum::<f32>() / channels as f32;
            ripples.extend(logs.iter().map(|log| (log - mean).clamp(-MAX_RIPPLE, MAX_RIPPLE)));
            ripples.extend(std::iter::repeat_n(0.0, RIPPLE_CHANNELS - channels));
        }
        Self { ripples }
    }

    /// Returns the features of one frame, `[voiced, normalised log F0, ripple ..]`; all are zero if `f0_hz` is 0 (unvoiced).
    pub fn frame(&self, f0_hz: f32) -> [f32; EXCITATION_WIDTH] {
        let mut frame = [0.0; EXCITATION_WIDTH];
        if f0_hz <= 0.0 {
            return frame;
        }
        frame[0] = 1.0;
        frame[1] = (f0_hz.ln() - LOG_HZ_MEAN) / LOG_HZ_SCALE;
        let last = self.ripples.len() / RIPPLE_CHANNELS - 1;
        let row = ((f0_hz / MIN_PITCH_HZ).ln() / STEP.ln()).clamp(0.0, last as f32);
        let (below, share) = ((row as usize).min(last - 1), row - row.floor().min((last - 1) as f32));
        let at = |row: usize, channel: usize| self.ripples[row * RIPPLE_CHANNELS + channel];
        for channel in 0..RIPPLE_CHANNELS {
            frame[2 + channel] = at(below, channel) + share * (at(below + 1, channel) - at(below, channel));
        }
        frame
    }
}

/// Approximates the amplitude of pulses at `f0_hz` under a Hann window by the main lobe of the nearest harmonic, 1 at its peak.
fn harmonics(hz: f32, f0_hz: f32, lobe_hz: f32) -> f32 {
    let nearest = (hz / f0_hz).round().max(1.0) * f0_hz;
    let distance = ((hz - nearest) / lobe_hz).abs();
    if distance < 1.0 { 0.5 * (1.0 + (std::f32::consts::PI * distance).cos()) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audio::source::pulses;

    /// Correlates the ripple with the mel spectrogram of real pulses.
    #[test]
    fn the_ripple_matches_the_mel_of_pulses() {
        let config = MelConfig::speech_16k();
        let (extractor, excitation) = (MelExtractor::new(config.clone()), Excitation::new(&config));
        for f0_hz in [80.0, 120.0, 211.0, 330.0] {
            let mel = extractor.extract(&pulses(&[f0_hz; 60], 16_000, 200, 0.0));
            let seen = &mel.frame(30)[..RIPPLE_CHANNELS];
            let white: Vec<f32> = extractor.filter(&vec![1.0; extractor.stft().bins()]);
            let seen: Vec<f32> = seen.iter().zip(&white).map(|(log, white)| log - white.ln()).collect();
            let frame = excitation.frame(f0_hz);
            let correlation = correlation(&seen, &frame[2..]);
            assert!(correlation > 0.9, "{f0_hz} Hz: {correlation}");
            assert_eq!(frame[0], 1.0);
        }
        assert_eq!(excitation.frame(0.0), [0.0; EXCITATION_WIDTH]);
        assert!(excitation.frame(1e6).iter().chain(&excitation.frame(1.0)).all(|value| value.is_finite()));
    }

    fn correlation(a: &[f32], b: &[f32]) -> f32 {
        let mean = |x: &[f32]| x.iter().sum::<f32>() / x.len() as f32;
        let (ma, mb) = (mean(a), mean(b));
        let sum = |f: &dyn Fn(f32, f32) -> f32| a.iter().zip(b).map(|(x, y)| f(x - ma, y - mb)).sum::<f32>();
        sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt()
    }
}
