//! Log-mel spectrograms as NVIDIA's Tacotron 2 (`layers.py`, `TacotronSTFT`) and librosa 0.11 (`filters.mel`) define them.

use realfft::num_complex::Complex32;

pub use super::mel_config::MelConfig;
use super::{
    filterbank::{Filter, filterbank},
    stft::Stft,
};

/// The affine normalisation of log-mels for a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MelNormalisation {
    pub mean: f32,
    pub scale: f32,
}

impl MelNormalisation {
    /// Normalises a value of a log-mel spectrogram.
    pub fn apply(self, value: f32) -> f32 {
        (value - self.mean) / self.scale
    }

    /// Restores a value of a log-mel spectrogram.
    pub fn invert(self, value: f32) -> f32 {
        value * self.scale + self.mean
    }
}

/// A log-mel spectrogram.
#[warn(missing_docs)]
#[derive(Clone, Debug, PartialEq)]
pub struct Mel {
    /// The number of channels, M.
    pub mels: usize,
    /// Natural logarithms of amplitudes, `[T, M]`.
    pub data: Vec<f32>,
}

#[warn(missing_docs)]
impl Mel {
    /// Returns the number of frames, T.
    pub fn frames(&self) -> usize {
        self.data.len() / self.mels
    }

    /// Returns frame `t`, `[M]`.
    pub fn frame(&self, t: usize) -> &[f32] {
        &self.data[t * self.mels..(t + 1) * self.mels]
    }
}

/// Computes mel spectrograms and estimates linear amplitudes from them. It plans its transform once.
pub struct MelExtractor {
    config: MelConfig,
    stft: Stft,
    filters: Vec<Filter>,
    /// Where each bin lies: the channel with the next lower centre, and the share of the way to the next channel.
    places: Vec<(usize, f32)>,
    /// By how much the envelope of speech falls up to each bin, in nepers.
    falls: Vec<f32>,
    /// The output of each filter for white noise of unit power, as a log amplitude.
    white_log: Vec<f32>,
    /// The factor from the amplitudes of the sound's spectra to those of sound at the rate of the spectrograms.
    scale: f32,
}

impl MelExtractor {
    /// Creates an extractor.
    ///
    /// # Panics
    /// Panics on a configuration that [`MelConfig::check`] refuses.
    pub fn new(config: MelConfig) -> Self {
        config.check().expect("the mel configuration is valid");
        Self::scaled(config, 1.0)
    }

    /// Creates an extractor of the spectrograms of `config` from sound at another rate, as far as they are below half the lower rate. Returns `None` where
    /// [`MelConfig::at_rate`] does.
    pub fn at_rate(config: &MelConfig, sample_rate_hz: u32) -> Option<Self> {
        let scale = config.sample_rate_hz as f32 / sample_rate_hz as f32;
        Some(Self::scaled(config.at_rate(sample_rate_hz)?, scale))
    }

    fn scaled(config: MelConfig, scale: f32) -> Self {
        let stft = Stft::new(config.fft_length, config.window_length, config.hop_length);
        let filters = filterbank(&config);
        // The squared Hann window sums to three eighths of its length.
        let white = (0.375 * config.window_length as f32).sqrt();
        let centres: Vec<f32> = filters.iter().map(Filter::centre).collect();
        let place = |bin: usize| {
            let (at, right) = (bin as f32, centres.partition_point(|centre| *centre < bin as f32));
            match right {
                0 => (0, 0.0),
                right if right == centres.len() => (right - 1, 0.0),
                right => (right - 1, (at - centres[right - 1]) / (centres[right] - centres[right - 1])),
            }
        };
        let bin_hz = config.sample_rate_hz as f32 / config.fft_length as f32;
        let fall = |bin: usize| FALL_NEPERS_PER_HZ * (bin as f32 * bin_hz - FALL_HZ).max(0.0);
        let white_log =
            filters.iter().map(|filter| (scale * white * filter.area()).max(1e-12).ln()).collect();
        let bins = 0..stft.bins();
        Self {
            places: bins.clone().map(place).collect(),
            falls: bins.map(fall).collect(),
            filters,
            white_log,
            scale,
            stft,
            config,
        }
    }

    pub fn stft(&self) -> &Stft {
        &self.stft
    }

    /// Computes the mel spectrogram `[T, M]` of samples `[S]` at the configured rate, where T = 1 + S / hop_length. Frames are centred; the clip is reflected
    /// at both ends.
    pub fn extract(&self, samples: &[f32]) -> Mel {
        let mut data = Vec::with_capacity(self.config.frames(samples.len()) * self.config.mels);
        self.stft.analyze(samples, |_, spectrum| data.extend(self.frame(spectrum)));
        Mel { mels: self.config.mels, data }
    }

    /// Returns the configuration, with the rate and the lengths of the sound.
    pub fn config(&self) -> &MelConfig {
        &self.config
    }

    /// Computes one frame, `[M]`, from its spectrum `[F]`.
    pub fn frame(&self, spectrum: &[Complex32]) -> impl Iterator<Item = f32> {
        let amplitudes: Vec<f32> = spectrum.iter().map(|x| x.norm_sqr().sqrt()).collect();
        self.filter(&amplitudes).into_iter().map(|x| (x * self.scale).max(self.config.log_floor).ln())
    }

    /// Applies the filters to one frame's amplitudes `[F]`. Returns `[M]`, before the logarithm.
    pub fn filter(&self, amplitudes: &[f32]) -> Vec<f32> {
        self.filters.iter().map(|filter| filter.dot(amplitudes)).collect()
    }

    /// Estimates the spectral envelope: log amplitudes `[T, F]` of a filter whose output for white noise of unit power has approximately this mel
    /// spectrogram. The channels' means at their centres are interpolated linearly, and extended as constants at both ends; above 8 kHz they fall as
    /// those of speech do on average. The result is smooth, whereas that of [`Self::to_linear`] is exact.
    pub fn envelope(&self, mel: &Mel) -> Vec<f32> {
        assert_eq!(mel.mels, self.config.mels, "the mel spectrogram has another configuration");
        let bins = self.stft.bins();
        let mut out = vec![0.0; mel.frames() * bins];
        for (t, envelope) in out.chunks_exact_mut(bins).enumerate() {
            let logs: Vec<f32> =
                mel.frame(t).iter().zip(&self.white_log).map(|(log, white)| log - white).collect();
            self.interpolate(&logs, envelope);
            envelope.iter_mut().zip(&self.falls).for_each(|(log, fall)| *log -= fall);
        }
        out
    }

    /// Interpolates values of the channels, `[M]`, linearly between their centres, and extends them as constants at both ends.
    ///
    /// * `out`: `[F]`, overwritten
    pub fn interpolate(&self, values: &[f32], out: &mut [f32]) {
        for (out, &(channel, share)) in out.iter_mut().zip(&self.places) {
            let next = values[(channel + 1).min(values.len() - 1)];
            *out = values[channel] + share * (next - values[channel]);
        }
    }

    /// Estimates non-negative amplitudes `[T, F]` whose mel spectrogram is `mel`, by least squares.
    ///
    /// The multiplicative updates (Lee and Seung 2000) start from the filterbank's own interpolation, which is already smooth; bins under no filter are 0.
    pub fn to_linear(&self, mel: &Mel) -> Vec<f32> {
        assert_eq!(mel.mels, self.config.mels, "the mel spectrogram has another configuration");
        let bins = self.stft.bins();
        let areas: Vec<f32> = self.filters.iter().map(Filter::area).collect();
        let mut cover = vec![0.0; bins];
        self.filters.iter().for_each(|filter| filter.add_to(&mut cover, 1.0));

        let mut out = vec![0.0; mel.frames() * bins];
        let (mut wanted, mut had) = (vec![0.0; bins], vec![0.0; bins]);
        for (t, x) in out.chunks_exact_mut(bins).enumerate() {
            // A model's output is unbounded: keep exp() finite.
            let target: Vec<f32> = mel
                .frame(t)
                .iter()
                .map(|log| if log.is_nan() { 0.0 } else { log.min(12.0).exp() / self.scale })
                .collect();
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

/// From here on the envelope of speech falls, by [`FALL_NEPERS_PER_HZ`]: a line through the mean levels of the teacher's voices from 8 to 12 kHz.
const FALL_HZ: f32 = 8000.0;
const FALL_NEPERS_PER_HZ: f32 = 6e-4;

/// The number of updates of [`MelExtractor::to_linear`].
const LINEAR_ITERATIONS: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_envelope_of_white_noise_is_flat() {
        use rand::SeedableRng;
        let extractor = MelExtractor::new(MelConfig::speech_16k());
        let noise = crate::audio::source::noise(80_000, &mut rand_chacha::ChaCha8Rng::seed_from_u64(4));
        let envelope = extractor.envelope(&extractor.extract(&noise));
        let frames = envelope.len() / 513;
        let mean = |bin: usize| envelope.iter().skip(bin).step_by(513).sum::<f32>() / frames as f32;
        // The mean amplitude of noise is 0.886 of the root of its mean power, and its mean logarithm is lower still.
        assert!(
            (0..513).all(|bin| (-0.45..0.0).contains(&mean(bin))),
            "{:?}",
            (0..513).map(mean).collect::<Vec<_>>()
        );
    }

    #[test]
    fn the_rate_of_the_sound_does_not_change_its_spectrogram() {
        use crate::audio::{
            resample::resample,
            source::{noise, pulses},
        };
        use rand::SeedableRng;
        let config = MelConfig::speech_16k();
        let finer = MelExtractor::at_rate(&config, 24_000).unwrap();
        assert_eq!(
            (finer.stft().bins(), finer.config().hop_length, finer.config().window_length),
            (769, 300, 1200)
        );
        let pulses = pulses(&[120.0; 81], 24_000, 300, 0.0);
        let noise = noise(pulses.len(), &mut rand_chacha::ChaCha8Rng::seed_from_u64(3));
        for sound in [pulses, noise] {
            let coarse = resample(&sound, 24_000, 16_000).unwrap();
            let [wanted, found] = [MelExtractor::new(config.clone()).extract(&coarse), finer.extract(&sound)];
            assert_eq!(wanted.frames(), found.frames());
            // The ends, where the clips are mirrored, differ.
            let differences = (4..77).flat_map(|t| wanted.frame(t).iter().zip(found.frame(t)));
            let worst = differences.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(worst < 0.1, "{worst}");
            // A filter for sound at a higher rate shapes sources whose power is spread over a wider band.
            let envelopes = [MelExtractor::new(config.clone()).envelope(&wanted), finer.envelope(&wanted)];
            for bin in [0, 100, 480, 512] {
                let difference = envelopes[1][40 * 769 + bin] - envelopes[0][40 * 513 + bin];
                assert!((difference - 0.5 * 1.5f32.ln()).abs() < 1e-4, "{difference} at {bin}");
            }
            assert!(
                (envelopes[1][40 * 769 + 768] - envelopes[1][40 * 769 + 512] + 2.4).abs() < 1e-3,
                "it falls above 8 kHz"
            );
        }
        assert!(
            MelExtractor::at_rate(&config, 22_050).is_none()
                && MelExtractor::at_rate(&config, 8_000).is_none()
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
        let mel = extractor.extract(&ownvoice_testing::librosa::clip(4000, 16000.0));
        let linear = extractor.to_linear(&mel);
        assert_eq!(linear.len(), mel.frames() * 513);
        assert!(linear.iter().all(|x| *x >= 0.0 && x.is_finite()));
        // Least squares weighs amplitudes, so quiet channels beside loud ones may differ: compare channels within 40 dB of the peak.
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
    fn non_finite_mels_give_finite_amplitudes() {
        let extractor = MelExtractor::new(MelConfig::speech_16k());
        let mut data = vec![-11.5; 240];
        data[..4].copy_from_slice(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30]);
        assert!(extractor.to_linear(&Mel { mels: 80, data }).iter().all(|x| x.is_finite()));
    }

    #[test]
    fn invalid_configurations_are_refused() {
        let valid = MelConfig::speech_16k();
        assert!(valid.check().is_ok() && MelConfig::nvidia_22k().check().is_ok());
        for broken in [
            MelConfig { sample_rate_hz: 0, ..valid.clone() },
            MelConfig { fft_length: 0, ..valid.clone() },
            MelConfig { fft_length: 1023, ..valid.clone() },
            MelConfig { fft_length: usize::MAX - 1, ..valid.clone() },
            MelConfig { window_length: 1025, ..valid.clone() },
            MelConfig { hop_length: 0, ..valid.clone() },
            MelConfig { mels: 0, ..valid.clone() },
            MelConfig { mels: usize::MAX, ..valid.clone() },
            MelConfig { f_min_hz: f32::NAN, ..valid.clone() },
            MelConfig { f_max_hz: 55.0, ..valid.clone() },
            MelConfig { f_max_hz: 8001.0, ..valid.clone() },
            MelConfig { log_floor: 0.0, ..valid.clone() },
        ] {
            assert_eq!(broken.check().unwrap_err().code(), "option-invalid", "{broken:?}");
        }
    }
}
