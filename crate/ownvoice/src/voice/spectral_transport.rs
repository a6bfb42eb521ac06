//! The optimal transport between two normal distributions, from the spectra of a clone's speech to those of its speaker (Pitié and Kokaram 2007, "The linear
//! Monge-Kantorovitch linear colour mapping for example-based colour transfer").
//!
//! A model that was adapted to a minute of speech keeps part of the base's long-term spectrum and of the variation of its envelope. Both can be measured on the
//! recordings and on synthesised speech, so that the difference is removed in closed form.

use burn::prelude::Device;
use half::f16;
use nalgebra::{DMatrix, SymmetricEigen};

pub use super::spectral_stats::SpectralStats;
use super::spectral_stats::envelope;
use crate::{
    audio::{mel::Mel, pauses::speech},
    text::symbols::Symbol,
};
use burn_fused::weights::{HostWeights, Weight, Weights};

/// The largest factor by which spectra are stretched or compressed along any direction.
const MAX_STRETCH: f64 = 2.0;
/// The weights of a frame and of its neighbours on each side, a Gaussian with a standard deviation of one frame. Corrections that jitter between frames sound
/// rough, so that they are smoothed.
const NEIGHBOUR_WEIGHTS: [f32; 4] = [1.0, 0.607, 0.135, 0.011];
/// The largest change of a band in a frame, in nepers, for any contents of a hostile file.
const MAX_CHANGE: f32 = 6.0;
/// The largest absolute value of the mean of a log spectrum.
const MAX_MEAN: f32 = 30.0;

const MEAN: &str = "spectral_match.mean";
const SHIFT: &str = "spectral_match.shift";
const MAP: &str = "spectral_match.map";
const CEILING: &str = "spectral_match.ceiling";

/// The transport of a clone's spectra to its speaker's: `y = min(ceiling, shift + mean + map (x - mean))`.
#[derive(Debug, Clone, PartialEq)]
pub struct SpectralTransport {
    /// The mean of the clone's speech, `[M]`.
    pub mean: Vec<f32>,
    /// The difference from the clone's mean to the speaker's, `[M]`. Its mean over all bands is zero, so that the loudness does not change.
    pub shift: Vec<f32>,
    /// Symmetric, `[M, M]`.
    pub map: Vec<f32>,
    /// The maximum of each band in the speaker's recordings, `[M]`. Spectra are not normally distributed: without this bound the partials of a high voice, which
    /// are stretched like the valleys between them, would rise 30 dB above the recorded ones and whistle.
    pub ceiling: Vec<f32>,
}

/// Returns a symmetric matrix with its eigenvalues mapped by `value`.
fn map_eigenvalues(matrix: &DMatrix<f64>, value: impl Fn(f64) -> f64) -> DMatrix<f64> {
    let SymmetricEigen { eigenvectors, eigenvalues } = SymmetricEigen::new(matrix.clone());
    &eigenvectors * DMatrix::from_diagonal(&eigenvalues.map(value)) * eigenvectors.transpose()
}

impl SpectralTransport {
    /// Computes the transport; `None` where the two have no phone in common or are non-finite.
    ///
    /// * `synthesised`: the statistics of the clone's speech
    /// * `recorded`:    the statistics of its speaker's recordings
    ///
    /// The two consist of different sentences, perhaps in different languages, and so of different phones. Both distributions therefore give each phone the
    /// geometric mean of its two shares.
    pub fn between(synthesised: &SpectralStats, recorded: &SpectralStats) -> Option<Self> {
        let share = |phone: Symbol| (synthesised.share(phone) * recorded.share(phone)).sqrt();
        let maximum = &recorded.maximum;
        let (from, synthesised) = synthesised.distribution(share)?;
        let (to, recorded) = recorded.distribution(share)?;
        let root = map_eigenvalues(&synthesised, |value| value.max(1e-9).sqrt());
        let inverse = map_eigenvalues(&synthesised, |value| value.max(1e-9).sqrt().recip());
        let between = map_eigenvalues(&(&root * recorded * &root), |value| value.max(0.0).sqrt());
        // The identity is subtracted, because the map adds a change of the envelope to the unchanged spectrum.
        let added = map_eigenvalues(&(&inverse * between * &inverse), |value| {
            value.clamp(MAX_STRETCH.recip(), MAX_STRETCH) - 1.0
        });
        let (mels, envelope) = (from.len(), envelope(from.len()));
        let map = DMatrix::identity(mels, mels) + envelope.transpose() * added * envelope;
        let shift = &to - &from;
        let gain = shift.mean();
        let shift = shift.add_scalar(-gain);
        let ceiling: Vec<f64> = maximum.iter().map(|value| f64::from(*value) - gain).collect();
        // Values are rounded as in a voice file, so that a saved voice sounds the same.
        let rounded = |values: &[f64]| values.iter().map(|x| f16::from_f64(*x).to_f32()).collect();
        Some(Self {
            mean: rounded(from.as_slice()),
            shift: rounded(shift.as_slice()),
            map: rounded(map.as_slice()),
            ceiling: rounded(&ceiling),
        })
    }

    /// Whether it can be applied to spectrograms of `mels` bands. It may come from a hostile file.
    pub fn is_sound(&self, mels: usize) -> bool {
        let all = |values: &[f32], count: usize, max: f32| {
            values.len() == count && values.iter().all(|value| value.abs() <= max)
        };
        all(&self.mean, mels, MAX_MEAN)
            && all(&self.shift, mels, MAX_MEAN)
            && all(&self.map, mels * mels, MAX_STRETCH as f32)
            && all(&self.ceiling, mels, MAX_MEAN)
    }

    /// Transports the speech of a sentence; its pauses do not change.
    pub fn apply(&self, mut mel: Mel) -> Mel {
        let weights = speech(&mel);
        let changes: Vec<Vec<f32>> =
            mel.data.chunks_exact(mel.mels).map(|frame| self.changes(frame)).collect();
        for (t, frame) in mel.data.chunks_exact_mut(mel.mels).enumerate().filter(|(t, _)| weights[*t] > 0.0) {
            let reach = NEIGHBOUR_WEIGHTS.len();
            let neighbours = t.saturating_sub(reach - 1)..(t + reach).min(weights.len());
            let shares: Vec<(f32, &[f32])> = neighbours
                .map(|other| (NEIGHBOUR_WEIGHTS[other.abs_diff(t)] * weights[other], &changes[other][..]))
                .collect();
            let total: f32 = shares.iter().map(|(share, _)| share).sum();
            for (band, (x, ceiling)) in frame.iter_mut().zip(&self.ceiling).enumerate() {
                let mean = shares.iter().map(|(share, changes)| share * changes[band]).sum::<f32>() / total;
                let transported = (*x + weights[t] * mean).min(*ceiling);
                *x += (transported - *x).clamp(-MAX_CHANGE, MAX_CHANGE);
            }
        }
        mel
    }

    /// Returns the change of each band of a frame of speech, `[M]`.
    fn changes(&self, frame: &[f32]) -> Vec<f32> {
        let deviation: Vec<f32> = frame.iter().zip(&self.mean).map(|(x, mean)| x - mean).collect();
        let rows = self.map.chunks_exact(deviation.len());
        let mapped = rows.map(|row| row.iter().zip(&deviation).map(|(a, x)| a * x).sum::<f32>());
        mapped.zip(&deviation).zip(&self.shift).map(|((mapped, x), shift)| mapped - x + shift).collect()
    }

    /// Adds its tensors to `weights`.
    pub fn put(&self, weights: &mut Weights, device: &Device) {
        let tensors = [(MEAN, &self.mean), (SHIFT, &self.shift), (MAP, &self.map), (CEILING, &self.ceiling)];
        for (name, values) in tensors {
            weights.insert(name.to_string(), Weight::vector(values.clone(), device));
        }
    }

    /// Moves its tensors out of `weights`; `None` where one is missing.
    pub fn take(weights: &mut HostWeights) -> Option<Self> {
        let mut vector = |name| weights.remove(name).map(|(_, values)| values);
        Some(Self {
            mean: vector(MEAN)?,
            shift: vector(SHIFT)?,
            map: vector(MAP)?,
            ceiling: vector(CEILING)?,
        })
    }

    /// Whether `weights` contains any of its tensors.
    pub fn is_in(weights: &HostWeights) -> bool {
        [MEAN, SHIFT, MAP, CEILING].iter().any(|name| weights.contains_key(*name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{audio::dct::Dct, text::symbols::SILENCE, voice::spectral_stats::ENVELOPE};

    const MELS: usize = 16;
    const FRAMES: usize = 400;

    /// Returns a spectrogram of two alternating vowels between pauses, with a tilt and two oscillating formants.
    ///
    /// * `swing`:    the amplitude of the formants
    /// * `together`: the correlation of the formants
    /// * `share`:    the share of the first vowel
    fn sentence(tilt: f32, swing: f32, together: f32, share: f32) -> (Mel, Vec<Symbol>) {
        let (open, closed) = (Symbol::from_name("AA1").unwrap(), Symbol::from_name("IY1").unwrap());
        let symbols: Vec<Symbol> = (0..FRAMES)
            .map(|t| match t {
                20..380 => [open, closed][usize::from((t % 20) as f32 >= 20.0 * share)],
                _ => SILENCE,
            })
            .collect();
        let value = |t: usize, band: usize| {
            let bump = |centre: f32| (-0.3 * (band as f32 - centre).powi(2)).exp();
            let (first, other) = ((0.11 * t as f32).sin(), (0.19 * t as f32 + 1.0).sin());
            let second = together * first + (1.0 - together * together).sqrt() * other;
            let height = f32::from(u8::from(symbols[t] == open));
            -3.0 + tilt * band as f32
                + 0.5 * height * bump(8.0)
                + swing * (first * bump(3.0) + second * bump(11.0))
        };
        let level = |t: usize, band: usize| if symbols[t] == SILENCE { -11.5 } else { value(t, band) };
        let data = (0..FRAMES).flat_map(|t| (0..MELS).map(move |band| (t, band)));
        (Mel { mels: MELS, data: data.map(|(t, band)| level(t, band)).collect() }, symbols)
    }

    fn stats((mel, symbols): &(Mel, Vec<Symbol>)) -> SpectralStats {
        let mut stats = SpectralStats::default();
        stats.add(mel, symbols);
        stats
    }

    /// Returns the mean of a band, its standard deviation, and its correlation with the band of the second formant.
    fn band(mel: &Mel, band: usize) -> [f32; 3] {
        let frames: Vec<[f32; 2]> = (20..380).map(|t| [mel.frame(t)[band], mel.frame(t)[11]]).collect();
        let mean = |of: &dyn Fn(&[f32; 2]) -> f32| frames.iter().map(of).sum::<f32>() / frames.len() as f32;
        let (a, b) = (mean(&|x| x[0]), mean(&|x| x[1]));
        let (aa, bb) = (mean(&|x| (x[0] - a).powi(2)), mean(&|x| (x[1] - b).powi(2)));
        [a, aa.sqrt(), mean(&|x| (x[0] - a) * (x[1] - b)) / (aa * bb).sqrt()]
    }

    #[test]
    fn speech_gets_the_speakers_mean_and_covariance_and_pauses_stay() {
        let (synthesised, recorded) = (sentence(-0.2, 0.45, 0.6, 0.5), sentence(-0.1, 0.6, 0.2, 0.5));
        let found = SpectralTransport::between(&stats(&synthesised), &stats(&recorded)).unwrap();
        assert!(found.is_sound(MELS));
        let pause = synthesised.0.frame(0).to_vec();
        let ([_, before, together], [wanted_mean, wanted, apart]) =
            (band(&synthesised.0, 3), band(&recorded.0, 3));
        assert!(
            before < 0.8 * wanted && together > apart + 0.3,
            "the two distributions must differ: {before} {together}"
        );
        let matched = found.apply(synthesised.0);
        assert_eq!(matched.frame(0), pause);
        let [mean, deviation, correlation] = band(&matched, 3);
        let louder = |mel: &Mel| (0..MELS).map(|k| band(mel, k)[0]).sum::<f32>() / MELS as f32;
        let mean = mean - louder(&matched) + louder(&recorded.0);
        assert!((mean - wanted_mean).abs() < 0.02, "{mean} {wanted_mean}");
        assert!((deviation / wanted - 1.0).abs() < 0.05, "{before} {deviation} {wanted}");
        assert!((correlation - apart).abs() < 0.05, "{together} {correlation} {apart}");
    }

    #[test]
    fn harmonics_are_not_smeared() {
        const FINER: usize = 5;
        let wide = |(mel, symbols): (Mel, Vec<Symbol>)| {
            let data = mel.data.into_iter().flat_map(|x| std::iter::repeat_n(x, FINER)).collect();
            (Mel { mels: FINER * MELS, data }, symbols)
        };
        let (synthesised, recorded) = [(0.45, 0.6), (0.6, 0.2)]
            .map(|(swing, together)| wide(sentence(-0.2, swing, together, 0.5)))
            .into();
        let found = SpectralTransport::between(&stats(&synthesised), &stats(&recorded)).unwrap();
        let found = SpectralTransport { ceiling: vec![MAX_MEAN; FINER * MELS], ..found };
        // Returns the factor on a ripple of one frame.
        let kept = |coefficient: usize| {
            let (dct, mut rippled) = (Dct::new(FINER * MELS), synthesised.0.clone());
            dct.raise(&mut rippled.data[100 * FINER * MELS..101 * FINER * MELS], coefficient, 1.0);
            let (with, without) = (found.apply(rippled), found.apply(synthesised.0.clone()));
            let ripple: Vec<f32> =
                with.frame(100).iter().zip(without.frame(100)).map(|(a, b)| a - b).collect();
            dct.cepstrum(&ripple).nth(coefficient).unwrap()
        };
        assert!(
            (kept(ENVELOPE) - 1.0).abs() < 1e-2 && (kept(5) - 1.0).abs() > 0.1,
            "{} {}",
            kept(ENVELOPE),
            kept(5)
        );
    }

    #[test]
    fn jitter_between_frames_is_not_stretched() {
        let (mean, shift, ceiling) = (vec![-4.0; MELS], vec![0.0; MELS], vec![MAX_MEAN; MELS]);
        let map = DMatrix::<f32>::from_diagonal_element(MELS, MELS, 2.0).as_slice().to_vec();
        let twice = SpectralTransport { mean, shift, map, ceiling };
        let spread = |deviation: fn(usize) -> f32| {
            let data = (0..FRAMES * MELS).map(|at| -4.0 + deviation(at / MELS)).collect();
            let matched = twice.apply(Mel { mels: MELS, data });
            (180..220).map(|t| (matched.frame(t)[3] + 4.0).abs()).fold(0.0, f32::max)
        };
        let slow = spread(|t| 0.2 * (0.1 * t as f32).sin());
        let jitter = spread(|t| if t % 2 == 0 { 0.2 } else { -0.2 });
        assert!((slow - 0.4).abs() < 0.01 && (jitter - 0.2).abs() < 0.01, "{slow} {jitter}");
    }

    #[test]
    fn no_band_exceeds_its_recorded_maximum() {
        let (synthesised, recorded) = (sentence(-0.2, 0.4, 0.9, 0.5), sentence(-0.1, 0.6, 0.2, 0.5));
        let found = SpectralTransport::between(&stats(&synthesised), &stats(&recorded)).unwrap();
        let mut whistle = synthesised.0;
        whistle.data[100 * MELS + 3] += 6.0;
        let unbounded = SpectralTransport { ceiling: vec![MAX_MEAN; MELS], ..found.clone() };
        let loudest = |mel: &Mel, band: usize| (20..380).map(|t| mel.frame(t)[band]).fold(f32::MIN, f32::max);
        let louder = |mel: &Mel| (20..380).map(|t| mel.frame(t).iter().sum::<f32>()).sum::<f32>();
        let level = (louder(&unbounded.apply(whistle.clone())) - louder(&recorded.0)) / (360 * MELS) as f32;
        let above = |matched: &Mel| {
            (0..MELS)
                .map(|band| loudest(matched, band) - level - loudest(&recorded.0, band))
                .fold(f32::MIN, f32::max)
        };
        assert!(above(&unbounded.apply(whistle.clone())) > 3.0);
        assert!(above(&found.apply(whistle)) < 0.05);
    }

    #[test]
    fn different_shares_of_phones_are_compensated() {
        let [many, few] = [0.8, 0.2].map(|share| sentence(-0.2, 0.4, 0.5, share));
        let difference = |synthesised: SpectralStats, recorded: SpectralStats| {
            let found = SpectralTransport::between(&synthesised, &recorded).unwrap();
            found.shift.iter().map(|shift| shift.abs()).fold(0.0, f32::max)
        };
        let found = difference(stats(&many), stats(&few));
        let blind = |(mel, symbols): &(Mel, Vec<Symbol>)| {
            let vowel = |symbol: &Symbol| {
                if *symbol == SILENCE { SILENCE } else { Symbol::from_name("AA1").unwrap() }
            };
            stats(&(mel.clone(), symbols.iter().map(vowel).collect()))
        };
        let uncompensated = difference(blind(&many), blind(&few));
        assert!(found < 0.3 * uncompensated, "{found} of {uncompensated}");
    }

    #[test]
    fn silence_and_nan_give_none_and_equal_spectra_do_not_change() {
        let speech = sentence(-0.2, 0.5, 0.5, 0.5);
        let stats = stats(&speech);
        assert_eq!(SpectralTransport::between(&SpectralStats::default(), &stats), None);
        assert_eq!(SpectralTransport::between(&stats, &SpectralStats::default()), None);
        let mut non_finite = SpectralStats::default();
        non_finite.add(&Mel { mels: MELS, data: vec![f32::NAN; speech.0.data.len()] }, &speech.1);
        assert_eq!(SpectralTransport::between(&non_finite, &stats), None);
        let same = SpectralTransport::between(&stats, &stats).unwrap();
        let matched = same.apply(speech.0.clone());
        let worst = matched.data.iter().zip(&speech.0.data).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 1e-2, "{worst}");
    }

    #[test]
    fn hostile_values_are_rejected_or_bounded() {
        let [mean, shift, ceiling] = [0.0; 3].map(|value| vec![value; 4]);
        let sound = SpectralTransport { mean, shift, map: vec![1.0; 16], ceiling };
        assert!(sound.is_sound(4) && !sound.is_sound(5));
        for hostile in [
            SpectralTransport { mean: vec![f32::NAN; 4], ..sound.clone() },
            SpectralTransport { shift: vec![1e30; 4], ..sound.clone() },
            SpectralTransport { map: vec![f32::INFINITY; 16], ..sound.clone() },
            SpectralTransport { map: vec![1.0; 4], ..sound.clone() },
            SpectralTransport { ceiling: vec![f32::NAN; 4], ..sound.clone() },
        ] {
            assert!(!hostile.is_sound(4), "{hostile:?}");
        }
        // Values that pass change no band by more than the bound.
        let extreme = SpectralTransport { mean: vec![-MAX_MEAN; 4], map: vec![2.0; 16], ..sound };
        let mel = Mel { mels: 4, data: vec![-3.0; 40] };
        assert!(
            extreme.is_sound(4)
                && extreme.apply(mel).data.iter().all(|x| (x + 3.0).abs() <= MAX_CHANGE + 1e-3)
        );
    }
}
