//! Log-mel spectrograms with the semantics of NVIDIA's Tacotron 2 (`layers.py`, `TacotronSTFT`) and librosa 0.11 (`filters.mel`).

use realfft::num_complex::Complex32;
use serde::{Deserialize, Serialize};

use super::stft::Stft;
use crate::{Error, Result};

/// How audio becomes mel frames. A voice and its base must agree on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MelConfig {
    pub sample_rate_hz: u32,
    /// Samples of one Fourier transform; even.
    pub fft_length: usize,
    /// Samples under the window, which is zero-padded to `fft_length`.
    pub window_length: usize,
    /// Samples from one frame to the next.
    pub hop_length: usize,
    /// Channels, M.
    pub mels: usize,
    pub f_min_hz: f32,
    pub f_max_hz: f32,
    /// Amplitudes below this count as this, before the logarithm.
    pub log_floor: f32,
}

impl MelConfig {
    /// The project's own: 16 kHz, frames of 12.5 ms, windows of 50 ms.
    pub fn speech_16k() -> Self {
        Self {
            sample_rate_hz: 16_000,
            fft_length: 1024,
            window_length: 800,
            hop_length: 200,
            mels: 80,
            f_min_hz: 55.0,
            f_max_hz: 7600.0,
            log_floor: 1e-5,
        }
    }

    /// NVIDIA's, so that its public checkpoints fit: 22.05 kHz, frames of 11.6 ms, windows of 46.4 ms.
    pub fn nvidia_22k() -> Self {
        Self {
            sample_rate_hz: 22_050,
            fft_length: 1024,
            window_length: 1024,
            hop_length: 256,
            mels: 80,
            f_min_hz: 0.0,
            f_max_hz: 8000.0,
            log_floor: 1e-5,
        }
    }

    /// Whether an extractor can be made of it. Configurations from files are checked with this before they are used.
    pub fn check(&self) -> Result<()> {
        let half_rate_hz = self.sample_rate_hz as f32 / 2.0;
        let sound = super::resample::RATES_HZ.contains(&self.sample_rate_hz)
            && (16..=16_384).contains(&self.fft_length)
            && self.fft_length.is_multiple_of(2)
            && (1..=self.fft_length).contains(&self.window_length)
            && (1..=self.window_length).contains(&self.hop_length)
            && (1..=1024).contains(&self.mels)
            && 0.0 <= self.f_min_hz
            && self.f_min_hz < self.f_max_hz
            && self.f_max_hz <= half_rate_hz
            && self.log_floor.is_normal()
            && self.log_floor > 0.0;
        if sound {
            Ok(())
        } else {
            Err(Error::option_invalid(format!("no mel spectrogram can be taken with {self:?}")))
        }
    }

    /// Frames of a clip of `samples`: T.
    pub fn frames(&self, samples: usize) -> usize {
        1 + samples / self.hop_length
    }

    /// The length of one frame in seconds.
    pub fn frame_seconds(&self) -> f32 {
        self.hop_length as f32 / self.sample_rate_hz as f32
    }

    /// The value of silence: the logarithm of the floor.
    pub fn silence(&self) -> f32 {
        self.log_floor.ln()
    }
}

/// A log-mel spectrogram.
#[warn(missing_docs)]
#[derive(Clone, Debug, PartialEq)]
pub struct Mel {
    /// Channels, M.
    pub mels: usize,
    /// `[T, M]`, natural logarithms of amplitudes.
    pub data: Vec<f32>,
}

#[warn(missing_docs)]
impl Mel {
    /// Frames, T.
    pub fn frames(&self) -> usize {
        self.data.len() / self.mels
    }

    /// One frame, `[M]`.
    pub fn frame(&self, t: usize) -> &[f32] {
        &self.data[t * self.mels..(t + 1) * self.mels]
    }
}

/// Takes mel spectrograms, and guesses the amplitudes behind one. Plans its transform once.
pub struct MelExtractor {
    config: MelConfig,
    stft: Stft,
    filters: Vec<Filter>,
    /// The filters' centres, in bins.
    centres: Vec<f32>,
    /// What each filter makes of white noise of unit power, a log amplitude.
    of_white: Vec<f32>,
}

/// One triangle of the filterbank, without the zeros around it.
struct Filter {
    first_bin: usize,
    weights: Vec<f32>,
}

impl Filter {
    fn dot(&self, spectrum: &[f32]) -> f32 {
        self.weights.iter().zip(&spectrum[self.first_bin..]).map(|(w, x)| w * x).sum()
    }

    fn area(&self) -> f32 {
        self.weights.iter().sum::<f32>().max(1e-12)
    }

    /// In bins.
    fn centre(&self) -> f32 {
        let moment: f32 =
            self.weights.iter().enumerate().map(|(bin, weight)| weight * (self.first_bin + bin) as f32).sum();
        moment / self.area()
    }

    /// `spectrum += scale * weights`
    fn add_to(&self, spectrum: &mut [f32], scale: f32) {
        self.weights.iter().zip(&mut spectrum[self.first_bin..]).for_each(|(w, x)| *x += w * scale);
    }
}

impl MelExtractor {
    /// Panics on a configuration that [`MelConfig::check`] refuses.
    pub fn new(config: MelConfig) -> Self {
        config.check().expect("a sound mel configuration");
        let stft = Stft::new(config.fft_length, config.window_length, config.hop_length);
        let filters = filterbank(&config);
        // Hann's window, squared, sums to three eighths of its length.
        let white = (0.375 * config.window_length as f32).sqrt();
        let centres = filters.iter().map(Filter::centre).collect();
        let of_white = filters.iter().map(|filter| (white * filter.area()).max(1e-12).ln()).collect();
        Self { filters, centres, of_white, stft, config }
    }

    pub fn config(&self) -> &MelConfig {
        &self.config
    }

    pub fn stft(&self) -> &Stft {
        &self.stft
    }

    /// `[S]` at the configured rate to `[T, M]`, T = 1 + S / hop_length. Frames are centred; the clip is reflected at both ends.
    pub fn extract(&self, samples: &[f32]) -> Mel {
        let mut data = Vec::with_capacity(self.config.frames(samples.len()) * self.config.mels);
        self.stft.analyze(samples, |_, spectrum| data.extend(self.frame(spectrum)));
        Mel { mels: self.config.mels, data }
    }

    /// One frame, `[M]`, of its spectrum `[F]`.
    pub fn frame(&self, spectrum: &[Complex32]) -> impl Iterator<Item = f32> {
        let amplitudes: Vec<f32> = spectrum.iter().map(|x| x.norm_sqr().sqrt()).collect();
        self.filter(&amplitudes).into_iter().map(|x| x.max(self.config.log_floor).ln())
    }

    /// Channels `[M]` of one frame's amplitudes `[F]`, before the logarithm.
    pub fn filter(&self, amplitudes: &[f32]) -> Vec<f32> {
        self.filters.iter().map(|filter| filter.dot(amplitudes)).collect()
    }

    /// Log amplitudes `[T, F]` of the filter that makes this mel spectrogram of white noise of unit power, about: each channel's
    /// mean at its centre, straight lines in between, level beyond the outermost. Smooth where [`Self::to_linear`] is exact.
    pub fn envelope(&self, mel: &Mel) -> Vec<f32> {
        assert_eq!(mel.mels, self.config.mels, "the mel spectrogram is of another configuration");
        let centres = &self.centres;
        let mut out = Vec::with_capacity(mel.frames() * self.stft.bins());
        for t in 0..mel.frames() {
            let logs: Vec<f32> =
                mel.frame(t).iter().zip(&self.of_white).map(|(log, white)| log - white).collect();
            let mut right = 0;
            for bin in 0..self.stft.bins() {
                let at = bin as f32;
                while right < centres.len() && centres[right] < at {
                    right += 1;
                }
                out.push(match right {
                    0 => logs[0],
                    right if right == centres.len() => logs[right - 1],
                    right => {
                        let share = (at - centres[right - 1]) / (centres[right] - centres[right - 1]);
                        logs[right - 1] + share * (logs[right] - logs[right - 1])
                    }
                });
            }
        }
        out
    }

    /// Non-negative amplitudes `[T, F]` whose mel spectrogram is `mel`, by least squares.
    ///
    /// Multiplicative updates (Lee and Seung 2000) from the filterbank's own interpolation, which is already smooth; bins under no filter are 0.
    pub fn to_linear(&self, mel: &Mel) -> Vec<f32> {
        assert_eq!(mel.mels, self.config.mels, "the mel spectrogram is of another configuration");
        let bins = self.stft.bins();
        let areas: Vec<f32> = self.filters.iter().map(Filter::area).collect();
        let mut cover = vec![0.0; bins];
        self.filters.iter().for_each(|filter| filter.add_to(&mut cover, 1.0));

        let mut out = vec![0.0; mel.frames() * bins];
        let (mut wanted, mut had) = (vec![0.0; bins], vec![0.0; bins]);
        for (t, x) in out.chunks_exact_mut(bins).enumerate() {
            // Model output may stray: keep exp() finite.
            let target: Vec<f32> =
                mel.frame(t).iter().map(|log| if log.is_nan() { 0.0 } else { log.min(12.0).exp() }).collect();
            wanted.fill(0.0);
            for ((filter, area), b) in self.filters.iter().zip(&areas).zip(&target) {
                filter.add_to(&mut wanted, *b);
                filter.add_to(x, b / area);
            }
            x.iter_mut().zip(&cover).for_each(|(x, c)| *x = if *c > 0.0 { *x / c } else { 0.0 });
            for _ in 0..LINEAR_ITERATIONS {
                had.fill(0.0);
                for filter in &self.filters {
                    filter.add_to(&mut had, filter.dot(x));
                }
                x.iter_mut().zip(&wanted).zip(&had).for_each(|((x, w), h)| *x *= w / h.max(1e-20));
            }
        }
        out
    }
}

/// Updates of [`MelExtractor::to_linear`].
const LINEAR_ITERATIONS: usize = 20;

/// Triangles evenly spaced on Slaney's mel scale, each of unit area over frequency.
fn filterbank(config: &MelConfig) -> Vec<Filter> {
    let bin_hz = f64::from(config.sample_rate_hz) / config.fft_length as f64;
    let (low, high) = (hz_to_mel(f64::from(config.f_min_hz)), hz_to_mel(f64::from(config.f_max_hz)));
    let edge_hz = |k: usize| mel_to_hz(low + (high - low) * k as f64 / (config.mels + 1) as f64);
    (0..config.mels)
        .map(|m| {
            let (left, centre, right) = (edge_hz(m), edge_hz(m + 1), edge_hz(m + 2));
            let weight = |bin: usize| {
                let hz = bin as f64 * bin_hz;
                ((hz - left) / (centre - left)).min((right - hz) / (right - centre)).max(0.0) * 2.0
                    / (right - left)
            };
            let first_bin = ((left / bin_hz) as usize).min(config.fft_length / 2);
            let last_bin = ((right / bin_hz).ceil() as usize).min(config.fft_length / 2);
            Filter { first_bin, weights: (first_bin..=last_bin).map(|bin| weight(bin) as f32).collect() }
        })
        .collect()
}

/// Slaney's scale: linear below 1 kHz (15 mels), logarithmic above.
fn hz_to_mel(hz: f64) -> f64 {
    if hz < 1000.0 { hz * 3.0 / 200.0 } else { 15.0 + (hz / 1000.0).ln() * 27.0 / 6.4f64.ln() }
}

fn mel_to_hz(mel: f64) -> f64 {
    if mel < 15.0 { mel * 200.0 / 3.0 } else { 1000.0 * ((mel - 15.0) * 6.4f64.ln() / 27.0).exp() }
}

#[cfg(test)]
#[path = "../../tests/common/librosa.rs"]
mod librosa;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_envelope_of_white_noise_is_flat() {
        use rand::SeedableRng;
        let extractor = MelExtractor::new(MelConfig::speech_16k());
        let noise = super::super::source::noise(80_000, &mut rand_chacha::ChaCha8Rng::seed_from_u64(4));
        let envelope = extractor.envelope(&extractor.extract(&noise));
        let frames = envelope.len() / 513;
        let mean = |bin: usize| envelope.iter().skip(bin).step_by(513).sum::<f32>() / frames as f32;
        // A mean amplitude is 0.886 of the root of the mean power, and a mean logarithm is less still.
        assert!(
            (0..513).all(|bin| (-0.45..0.0).contains(&mean(bin))),
            "{:?}",
            (0..513).map(mean).collect::<Vec<_>>()
        );
    }

    #[test]
    fn speech_16k_is_librosas() {
        librosa::speech_16k();
    }

    #[test]
    fn nvidia_22k_is_librosas() {
        librosa::nvidia_22k();
    }

    #[test]
    fn the_filterbank_is_librosas() {
        let filters = filterbank(&MelConfig::speech_16k());
        let weight = |m: usize, bin: usize| filters[m].weights[bin - filters[m].first_bin];
        assert!((weight(0, 4) - 0.005804388).abs() < 1e-7);
        assert!((weight(40, 110) - 0.014031908).abs() < 1e-7);
        assert!((weight(79, 480) - 0.0013315041).abs() < 1e-7);
        assert!(
            filters.iter().all(|filter| filter.weights.iter().sum::<f32>() > 0.06),
            "no channel is empty"
        );
    }

    #[test]
    fn short_clips_have_frames_too() {
        let extractor = MelExtractor::new(MelConfig::speech_16k());
        for samples in [0, 1, 2, 199, 200, 511, 512, 513, 1024] {
            let mel = extractor.extract(&vec![0.3; samples]);
            assert_eq!(mel.frames(), 1 + samples / 200);
            assert!(mel.data.iter().all(|x| x.is_finite()));
        }
        assert_eq!(extractor.extract(&[]).data, vec![MelConfig::speech_16k().silence(); 80]);
    }

    #[test]
    fn linear_amplitudes_have_the_mel_they_came_from() {
        let extractor = MelExtractor::new(MelConfig::speech_16k());
        let mel = extractor.extract(&librosa::clip(4000, 16000.0));
        let linear = extractor.to_linear(&mel);
        assert_eq!(linear.len(), mel.frames() * 513);
        assert!(linear.iter().all(|x| *x >= 0.0 && x.is_finite()));
        // Least squares weighs amplitudes, so quiet channels beside loud ones may differ: compare what is within 40 dB of the peak.
        let (mut worst, mut total, mut count) = (0.0f32, 0.0, 0);
        for t in 0..mel.frames() {
            let loudest = mel.frame(t).iter().fold(f32::MIN, |a, b| a.max(*b));
            for (filter, log) in extractor.filters.iter().zip(mel.frame(t)) {
                if *log > loudest - 4.6 {
                    let error = (filter.dot(&linear[t * 513..]).ln() - log).abs();
                    (worst, total, count) = (worst.max(error), total + error, count + 1);
                }
            }
        }
        assert!(worst < 0.5 && total / (count as f32) < 0.05, "worst {worst}, mean {}", total / count as f32);
    }

    #[test]
    fn wild_mels_stay_finite() {
        let extractor = MelExtractor::new(MelConfig::speech_16k());
        let mut data = vec![-11.5; 240];
        data[..4].copy_from_slice(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30]);
        assert!(extractor.to_linear(&Mel { mels: 80, data }).iter().all(|x| x.is_finite()));
    }

    #[test]
    fn unsound_configurations_are_refused() {
        let sound = MelConfig::speech_16k();
        assert!(sound.check().is_ok() && MelConfig::nvidia_22k().check().is_ok());
        for broken in [
            MelConfig { sample_rate_hz: 0, ..sound.clone() },
            MelConfig { fft_length: 0, ..sound.clone() },
            MelConfig { fft_length: 1023, ..sound.clone() },
            MelConfig { fft_length: usize::MAX - 1, ..sound.clone() },
            MelConfig { window_length: 1025, ..sound.clone() },
            MelConfig { hop_length: 0, ..sound.clone() },
            MelConfig { mels: 0, ..sound.clone() },
            MelConfig { mels: usize::MAX, ..sound.clone() },
            MelConfig { f_min_hz: f32::NAN, ..sound.clone() },
            MelConfig { f_max_hz: 55.0, ..sound.clone() },
            MelConfig { f_max_hz: 8001.0, ..sound.clone() },
            MelConfig { log_floor: 0.0, ..sound.clone() },
        ] {
            assert_eq!(broken.check().unwrap_err().code(), "option-invalid", "{broken:?}");
        }
    }
}
