//! A text-independent distance between voices: the Bhattacharyya distance (Bhattacharyya 1943) between Gaussians over mel-cepstra and log F0.
//!
//! It rests on spectral statistics, not on an encoder trained on speakers. The statistics reflect vocal tract, pitch and microphone together, and a
//! vocoder's artefacts, so only speech of the same kind is comparable. Twenty seconds of speech on each side give a stable value, three a rough one.

use super::{
    cepstra::cepstra,
    mel::{Mel, MelConfig, MelExtractor},
    pitch, resample,
};
use crate::Result;

/// The number of cepstral coefficients: c1 to c19.
const ORDERS: usize = 19;
/// Frames this far below a clip's loud level (20 dB, in nepers) hold little of the voice and are left out.
const GATE_NEPERS: f32 = 2.3;
/// The loud level is the one that this many frames reach.
const LOUD_FRAMES: usize = 10;
/// The least standard deviation of a cepstral coefficient: speech engines are monotonous, and a clip may be short.
const MIN_DEVIATION: f64 = 0.02;
/// The least standard deviation of log F0, which varies by a tenth within any voice.
const MIN_LOG_F0_DEVIATION: f64 = 0.1;

/// The statistics of a voice, as counts and sums, so that clips can be merged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpeakerStats {
    cepstra: Vec<Moments>,
    log_f0: Moments,
}

/// The count, sum and sum of squares of a quantity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Moments {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, x: f32) {
        let x = f64::from(x);
        (self.count, self.sum, self.squares) = (self.count + 1.0, self.sum + x, self.squares + x * x);
    }

    fn merge(&mut self, other: &Self) {
        (self.count, self.sum, self.squares) =
            (self.count + other.count, self.sum + other.sum, self.squares + other.squares);
    }

    fn mean(&self) -> f64 {
        self.sum / self.count
    }

    fn variance(&self, least_deviation: f64) -> f64 {
        (self.squares / self.count - self.mean() * self.mean()).max(least_deviation * least_deviation)
    }

    /// Returns the Bhattacharyya distance of two Gaussians: a quarter of the squared distance of their means over the sum of their variances, plus a term for
    /// the difference of their variances.
    fn bhattacharyya(&self, other: &Self, least_deviation: f64) -> f64 {
        let (a, b) = (self.variance(least_deviation), other.variance(least_deviation));
        let mean = (a + b) / 2.0;
        (self.mean() - other.mean()).powi(2) / (8.0 * mean) + 0.5 * (mean / (a * b).sqrt()).ln()
    }
}

impl SpeakerStats {
    /// Computes the statistics of one clip, `[S]`, of any level.
    pub fn from_audio(samples: &[f32], sample_rate_hz: u32) -> Result<Self> {
        let config = MelConfig::speech_16k();
        let samples = resample::resample(samples, sample_rate_hz, config.sample_rate_hz)?;
        let pitch = pitch::track(&samples, config.sample_rate_hz, config.hop_length);
        let mut stats = Self::from_mel(&MelExtractor::new(config).extract(&samples));
        pitch.voiced_log_hz().for_each(|log| stats.log_f0.add(log));
        Ok(stats)
    }

    /// Computes the statistics of a mel spectrogram, which holds no pitch. They are comparable only with those of the same mel configuration;
    /// [`Self::from_audio`] uses `speech_16k`.
    pub fn from_mel(mel: &Mel) -> Self {
        let mut stats = Self { cepstra: vec![Moments::default(); ORDERS], log_f0: Moments::default() };
        let levels: Vec<f32> = (0..mel.frames())
            .map(|t| mel.frame(t).iter().map(|x| (2.0 * x).exp()).sum::<f32>().ln() / 2.0)
            .collect();
        let mut sorted = levels.clone();
        sorted.sort_by(f32::total_cmp);
        let Some(loud) = sorted.iter().rev().take(LOUD_FRAMES).next_back() else { return stats };
        // Digital silence is not speech, even if the whole clip is silent.
        let gate = (loud - GATE_NEPERS)
            .max(MelConfig::speech_16k().silence() + GATE_NEPERS + 0.5 * (mel.mels as f32).ln());
        for (frame, _) in
            cepstra(mel, ORDERS).chunks_exact(ORDERS).zip(&levels).filter(|(_, level)| **level > gate)
        {
            stats.cepstra.iter_mut().zip(frame).for_each(|(moments, x)| moments.add(*x));
        }
        stats
    }

    /// Adds another clip of the same voice.
    pub fn merge(&mut self, other: &Self) {
        self.cepstra.resize(ORDERS, Moments::default());
        self.cepstra.iter_mut().zip(&other.cepstra).for_each(|(a, b)| a.merge(b));
        self.log_f0.merge(&other.log_f0);
    }

    /// Returns the number of speech frames counted so far.
    pub fn frames(&self) -> usize {
        self.cepstra.first().map_or(0, |moments| moments.count as usize)
    }

    /// Returns the geometric mean of F0, or 0 if nothing was voiced or all statistics are of mels.
    pub fn mean_f0_hz(&self) -> f32 {
        if self.log_f0.count > 0.0 { self.log_f0.mean().exp() as f32 } else { 0.0 }
    }
}

/// Returns the Bhattacharyya distance of two voices, 0 for equal ones. Log F0 counts as one dimension beside 19 cepstra if both voices have it. The distance
/// is infinite if either holds no speech.
pub fn distance(a: &SpeakerStats, b: &SpeakerStats) -> f32 {
    if a.frames() < 2 || b.frames() < 2 {
        return f32::INFINITY;
    }
    let spectral: f64 =
        a.cepstra.iter().zip(&b.cepstra).map(|(x, y)| x.bhattacharyya(y, MIN_DEVIATION)).sum();
    let both_voiced = a.log_f0.count >= 2.0 && b.log_f0.count >= 2.0;
    let pitch = if both_voiced { a.log_f0.bhattacharyya(&b.log_f0, MIN_LOG_F0_DEVIATION) } else { 0.0 };
    (spectral + pitch) as f32
}

/// Returns the Bhattacharyya coefficient, the overlap of the two voices' distributions: 1 for equal voices, 0 for none.
pub fn similarity(a: &SpeakerStats, b: &SpeakerStats) -> f32 {
    (-distance(a, b)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A buzz of `hz` through resonances at `formants_hz`, which move over time, starting at `phase`.
    fn vowels(hz: f32, formants_hz: [f32; 3], phase: f32) -> Vec<f32> {
        let gain = |f: f32, t: f32| {
            let resonance = |formant: f32| {
                1.0 / (1.0 + ((f - formant * (1.0 + 0.1 * (7.0 * t + phase).sin())) / 120.0).powi(2))
            };
            formants_hz.iter().map(|formant| resonance(*formant)).sum::<f32>()
        };
        (0..32_000)
            .map(|n| {
                let t = n as f32 / 16_000.0;
                (1..40)
                    .map(|k| (std::f32::consts::TAU * hz * k as f32 * t).sin() * gain(hz * k as f32, t))
                    .sum::<f32>()
                    * 0.05
            })
            .collect()
    }

    fn stats(hz: f32, formants_hz: [f32; 3], phase: f32) -> SpeakerStats {
        SpeakerStats::from_audio(&vowels(hz, formants_hz, phase), 16_000).unwrap()
    }

    #[test]
    fn the_same_voice_is_nearer_than_another() {
        let a = stats(110.0, [500.0, 1500.0, 2500.0], 0.0);
        let again = stats(112.0, [500.0, 1500.0, 2500.0], 2.0);
        let taller = stats(110.0, [420.0, 1260.0, 2100.0], 0.0);
        let higher = stats(165.0, [500.0, 1500.0, 2500.0], 0.0);
        let same = distance(&a, &again);
        assert_eq!(distance(&a, &a), 0.0);
        assert_eq!(similarity(&a, &a), 1.0);
        assert_eq!(distance(&a, &taller), distance(&taller, &a));
        assert!(
            same * 3.0 < distance(&a, &taller) && same * 3.0 < distance(&a, &higher),
            "{same} {}",
            distance(&a, &taller)
        );
        assert!(similarity(&a, &again) > similarity(&a, &taller));
        assert!((a.mean_f0_hz() - 110.0).abs() < 1.0);
    }

    #[test]
    fn gaussians_of_known_distance() {
        let moments = |mean: f64, variance: f64| Moments {
            count: 10.0,
            sum: 10.0 * mean,
            squares: 10.0 * (variance + mean * mean),
        };
        // (1 - 3)^2 / (8 * 4)
        assert!((moments(1.0, 4.0).bhattacharyya(&moments(3.0, 4.0), 0.0) - 0.125).abs() < 1e-12);
        // ln(5 / sqrt(2 * 8)) / 2
        assert!((moments(0.0, 2.0).bhattacharyya(&moments(0.0, 8.0), 0.0) - 0.1115718).abs() < 1e-6);
    }

    #[test]
    fn level_and_pauses_do_not_matter() {
        let clip = vowels(120.0, [500.0, 1500.0, 2500.0], 0.0);
        let reference = SpeakerStats::from_audio(&clip, 16_000).unwrap();
        let mut quiet: Vec<f32> = clip.iter().map(|x| 0.2 * x).collect();
        quiet.extend([0.0; 16_000]);
        assert!(similarity(&reference, &SpeakerStats::from_audio(&quiet, 16_000).unwrap()) > 0.97);
    }

    #[test]
    fn statistics_of_clips_are_merged() {
        let (a, b) = (stats(110.0, [500.0, 1500.0, 2500.0], 0.0), stats(110.0, [500.0, 1500.0, 2500.0], 1.0));
        let mut both = SpeakerStats::default();
        both.merge(&a);
        both.merge(&b);
        assert_eq!(both.frames(), a.frames() + b.frames());
        assert!(distance(&both, &a) < distance(&a, &b));
    }

    #[test]
    fn silence_is_similar_to_no_voice() {
        let voice = stats(110.0, [500.0, 1500.0, 2500.0], 0.0);
        for silent in [
            SpeakerStats::default(),
            SpeakerStats::from_audio(&[0.0; 16_000], 16_000).unwrap(),
            SpeakerStats::from_audio(&[], 16_000).unwrap(),
        ] {
            assert_eq!(silent.frames(), 0);
            assert_eq!(similarity(&voice, &silent), 0.0);
        }
        assert_eq!(SpeakerStats::from_audio(&[0.0], 3).unwrap_err().code(), "rate-unsupported");
    }

    #[test]
    fn a_mel_gives_spectral_statistics_without_pitch() {
        let clip = vowels(120.0, [500.0, 1500.0, 2500.0], 0.0);
        let from_mel = SpeakerStats::from_mel(&MelExtractor::new(MelConfig::speech_16k()).extract(&clip));
        assert_eq!(distance(&from_mel, &SpeakerStats::from_audio(&clip, 16_000).unwrap()), 0.0);
        assert_eq!(from_mel.mean_f0_hz(), 0.0);
    }
}
