//! The optimal transport between two normal distributions, from the spectra that a clone says to those that its speaker said (Pitié and Kokaram 2007, "The
//! linear Monge-Kantorovitch linear colour mapping for example-based colour transfer").
//!
//! A model that was adapted by a minute of speech leaves part of a speaker's long-term spectrum, and of how its envelope varies, where the base has it.
//! Both are known of the recordings, and of any speech of the clone: the difference is taken away in closed form.

use std::collections::BTreeMap;

use burn::prelude::Device;
use half::f16;
use nalgebra::{DMatrix, DVector, SymmetricEigen};

use crate::{
    audio::{dct::Dct, mel::Mel, pauses::speech},
    text::symbols::{Symbol, is_phone, without_stress},
};
use burn_fused::weights::{HostWeights, Weight, Weights};

/// Cepstral coefficients of an envelope. The finer ones hold the harmonics, which move with the pitch, so that a matrix would smear them.
const ENVELOPE: usize = 24;
/// Along no direction are spectra stretched or flattened further.
const MAX_STRETCH: f64 = 2.0;
/// Weights of a frame and of those around it on each side, a Gaussian of one frame: moves that follow what trembles from frame to frame are heard as
/// roughness (docs/decisions/0112-without-recorded-frames.md).
const AROUND: [f32; 4] = [1.0, 0.607, 0.135, 0.011];
/// Nepers by which a band of a frame is moved at most, however hostile the file.
const MAX_MOVE: f32 = 6.0;
/// No log spectrum's mean lies beyond.
const MAX_MEAN: f32 = 30.0;

const MEAN: &str = "spectral_match.mean";
const SHIFT: &str = "spectral_match.shift";
const MAP: &str = "spectral_match.map";
const CEILING: &str = "spectral_match.ceiling";

/// Sums over frames, weighted by how much of a frame is speech.
#[derive(Debug, Clone)]
struct Moments {
    weight: f64,
    /// Of the bands, `[M]`.
    sum: DVector<f64>,
    /// Of the envelope's coefficients, `[K, K]`.
    products: DMatrix<f64>,
}

impl Moments {
    fn new(mels: usize) -> Self {
        let coefficients = ENVELOPE.min(mels);
        Self { weight: 0.0, sum: DVector::zeros(mels), products: DMatrix::zeros(coefficients, coefficients) }
    }
}

/// What takes bands to the coefficients of their envelope, `[K, M]`; its transpose takes them back.
fn envelope(mels: usize) -> DMatrix<f64> {
    let dct = Dct::new(mels);
    DMatrix::from_fn(ENVELOPE.min(mels), mels, |k, band| f64::from(dct.rows()[k][band]))
}

/// First moments of the bands and second ones of their envelope, phone by phone, and how loud the bands became.
#[derive(Debug, Clone, Default)]
pub struct SpectralStats {
    phones: BTreeMap<Symbol, Moments>,
    /// The most of each band, empty before the first frame.
    loudest: Vec<f32>,
}

impl SpectralStats {
    /// Adds a sentence.
    ///
    /// * `symbols`: the symbol of each frame
    pub fn add(&mut self, mel: &Mel, symbols: &[Symbol]) {
        let envelope = envelope(mel.mels);
        for ((t, weight), symbol) in speech(mel).into_iter().enumerate().zip(symbols) {
            if weight == 0.0 || !is_phone(*symbol) {
                continue;
            }
            self.loudest.resize(mel.mels, f32::NEG_INFINITY);
            self.loudest.iter_mut().zip(mel.frame(t)).for_each(|(most, x)| *most = most.max(*x));
            let weight = f64::from(weight);
            let frame = DVector::from_iterator(mel.mels, mel.frame(t).iter().map(|x| f64::from(*x)));
            let moments =
                self.phones.entry(without_stress(*symbol)).or_insert_with(|| Moments::new(mel.mels));
            moments.weight += weight;
            moments.sum.axpy(weight, &frame, 1.0);
            let cepstrum = &envelope * &frame;
            moments.products.ger(weight, &cepstrum, &cepstrum, 1.0);
        }
    }

    /// A phone's share of the speech.
    fn share(&self, phone: Symbol) -> f64 {
        let total: f64 = self.phones.values().map(|moments| moments.weight).sum();
        self.phones.get(&phone).map_or(0.0, |moments| moments.weight / total)
    }

    /// The mean of the bands, and the covariance of their envelope, as if phones had other shares.
    ///
    /// * `share`: of a phone, up to a factor
    fn distribution(&self, share: impl Fn(Symbol) -> f64) -> Option<(DVector<f64>, DMatrix<f64>)> {
        let mut all = Moments::new(self.phones.values().next()?.sum.len());
        for (phone, Moments { weight, sum, products }) in &self.phones {
            let factor = share(*phone) / weight;
            all.weight += factor * weight;
            all.sum.axpy(factor, sum, 1.0);
            all.products += factor * products;
        }
        // Of what is no number nothing is known.
        if all.weight <= 0.0 || !all.products.iter().all(|product| product.is_finite()) {
            return None;
        }
        let mean = all.sum / all.weight;
        let cepstrum = envelope(mean.len()) * &mean;
        let covariance = all.products / all.weight - &cepstrum * cepstrum.transpose();
        Some((mean, covariance))
    }
}

/// What takes a clone's spectra to its speaker's: `y = min(ceiling, shift + mean + map (x - mean))`.
#[derive(Debug, Clone, PartialEq)]
pub struct SpectralTransport {
    /// Of the clone's speech, `[M]`.
    pub mean: Vec<f32>,
    /// From the clone's mean to the speaker's, `[M]`, zero over all bands: speech is as loud as it was.
    pub shift: Vec<f32>,
    /// Symmetric, `[M, M]`.
    pub map: Vec<f32>,
    /// The loudest that the speaker was recorded, `[M]`. Spectra are not distributed normally: without this the partials of a high voice, stretched like its
    /// valleys, whistle 30 dB above any that was recorded.
    pub ceiling: Vec<f32>,
}

/// A symmetric matrix with its eigenvalues replaced.
fn of_eigenvalues(matrix: &DMatrix<f64>, value: impl Fn(f64) -> f64) -> DMatrix<f64> {
    let SymmetricEigen { eigenvectors, eigenvalues } = SymmetricEigen::new(matrix.clone());
    &eigenvectors * DMatrix::from_diagonal(&eigenvalues.map(value)) * eigenvectors.transpose()
}

impl SpectralTransport {
    /// * `said`:     by the clone
    /// * `recorded`: of its speaker
    ///
    /// Other sentences have other phones, and perhaps another language's: both sides count as if each phone had the geometric mean of its two shares.
    ///
    /// `None` where no phone is in both.
    pub fn between(said: &SpectralStats, recorded: &SpectralStats) -> Option<Self> {
        let share = |phone: Symbol| (said.share(phone) * recorded.share(phone)).sqrt();
        let loudest = &recorded.loudest;
        let ((from, said), (to, recorded)) = (said.distribution(share)?, recorded.distribution(share)?);
        let root = of_eigenvalues(&said, |value| value.max(1e-9).sqrt());
        let inverse = of_eigenvalues(&said, |value| value.max(1e-9).sqrt().recip());
        let between = of_eigenvalues(&(&root * recorded * &root), |value| value.max(0.0).sqrt());
        // Less one: what is added to an envelope that is left as it is.
        let added = of_eigenvalues(&(&inverse * between * &inverse), |value| {
            value.clamp(MAX_STRETCH.recip(), MAX_STRETCH) - 1.0
        });
        let (mels, envelope) = (from.len(), envelope(from.len()));
        let map = DMatrix::identity(mels, mels) + envelope.transpose() * added * envelope;
        let shift = &to - &from;
        let louder = shift.mean();
        let shift = shift.add_scalar(-louder);
        let ceiling: Vec<f64> = loudest.iter().map(|most| f64::from(*most) - louder).collect();
        // Rounded as in a voice file, so that a saved voice sounds the same.
        let rounded = |values: &[f64]| values.iter().map(|x| f16::from_f64(*x).to_f32()).collect();
        Some(Self {
            mean: rounded(from.as_slice()),
            shift: rounded(shift.as_slice()),
            map: rounded(map.as_slice()),
            ceiling: rounded(&ceiling),
        })
    }

    /// Whether it can be applied to spectrograms of so many bands: it may come from a hostile file.
    pub fn is_sound(&self, mels: usize) -> bool {
        let all = |values: &[f32], count: usize, most: f32| {
            values.len() == count && values.iter().all(|value| value.abs() <= most)
        };
        all(&self.mean, mels, MAX_MEAN)
            && all(&self.shift, mels, MAX_MEAN)
            && all(&self.map, mels * mels, MAX_STRETCH as f32)
            && all(&self.ceiling, mels, MAX_MEAN)
    }

    /// A sentence of the clone with its speaker's mean and covariance; its pauses stay.
    pub fn apply(&self, mut mel: Mel) -> Mel {
        let weights = speech(&mel);
        let moves: Vec<Vec<f32>> = mel.data.chunks_exact(mel.mels).map(|frame| self.moves(frame)).collect();
        for (t, frame) in mel.data.chunks_exact_mut(mel.mels).enumerate().filter(|(t, _)| weights[*t] > 0.0) {
            let around = t.saturating_sub(AROUND.len() - 1)..(t + AROUND.len()).min(weights.len());
            let shares: Vec<(f32, &[f32])> =
                around.map(|other| (AROUND[other.abs_diff(t)] * weights[other], &moves[other][..])).collect();
            let total: f32 = shares.iter().map(|(share, _)| share).sum();
            for (band, (x, ceiling)) in frame.iter_mut().zip(&self.ceiling).enumerate() {
                let mean = shares.iter().map(|(share, moves)| share * moves[band]).sum::<f32>() / total;
                let moved = (*x + weights[t] * mean).min(*ceiling);
                *x += (moved - *x).clamp(-MAX_MOVE, MAX_MOVE);
            }
        }
        mel
    }

    /// By how much the bands of a frame of speech are moved, `[M]`.
    fn moves(&self, frame: &[f32]) -> Vec<f32> {
        let deviation: Vec<f32> = frame.iter().zip(&self.mean).map(|(x, mean)| x - mean).collect();
        let rows = self.map.chunks_exact(deviation.len());
        let mapped = rows.map(|row| row.iter().zip(&deviation).map(|(a, x)| a * x).sum::<f32>());
        mapped.zip(&deviation).zip(&self.shift).map(|((mapped, x), shift)| mapped - x + shift).collect()
    }

    /// Adds the tensors to `weights`.
    pub fn put(&self, weights: &mut Weights, device: &Device) {
        let tensors = [(MEAN, &self.mean), (SHIFT, &self.shift), (MAP, &self.map), (CEILING, &self.ceiling)];
        for (name, values) in tensors {
            weights.insert(name.to_string(), Weight::vector(values.clone(), device));
        }
    }

    /// The inverse of [`Self::put`]; `None` where `weights` lacks one of them.
    pub fn take(weights: &mut HostWeights) -> Option<Self> {
        let mut vector = |name| weights.remove(name).map(|(_, values)| values);
        Some(Self {
            mean: vector(MEAN)?,
            shift: vector(SHIFT)?,
            map: vector(MAP)?,
            ceiling: vector(CEILING)?,
        })
    }

    /// Whether `weights` has one of its tensors.
    pub fn is_in(weights: &HostWeights) -> bool {
        [MEAN, SHIFT, MAP, CEILING].iter().any(|name| weights.contains_key(*name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::symbols::SILENCE;

    const MELS: usize = 16;
    const FRAMES: usize = 400;

    /// Two vowels in turn between pauses: a tilt, and two formants that swing together, the second about as much as the first where `together` is one.
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

    /// The mean of a band, its deviation, and its correlation with the band of the other formant.
    fn band(mel: &Mel, band: usize) -> [f32; 3] {
        let frames: Vec<[f32; 2]> = (20..380).map(|t| [mel.frame(t)[band], mel.frame(t)[11]]).collect();
        let mean = |of: &dyn Fn(&[f32; 2]) -> f32| frames.iter().map(of).sum::<f32>() / frames.len() as f32;
        let (a, b) = (mean(&|x| x[0]), mean(&|x| x[1]));
        let (aa, bb) = (mean(&|x| (x[0] - a).powi(2)), mean(&|x| (x[1] - b).powi(2)));
        [a, aa.sqrt(), mean(&|x| (x[0] - a) * (x[1] - b)) / (aa * bb).sqrt()]
    }

    #[test]
    fn a_clone_gets_its_speakers_mean_and_covariance_and_its_pauses_stay() {
        let (said, recorded) = (sentence(-0.2, 0.45, 0.6, 0.5), sentence(-0.1, 0.6, 0.2, 0.5));
        let found = SpectralTransport::between(&stats(&said), &stats(&recorded)).unwrap();
        assert!(found.is_sound(MELS));
        let pause = said.0.frame(0).to_vec();
        let ([_, before, together], [wanted_mean, wanted, apart]) = (band(&said.0, 3), band(&recorded.0, 3));
        assert!(before < 0.8 * wanted && together > apart + 0.3, "the premise: {before} {together}");
        let matched = found.apply(said.0);
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
        let (said, recorded) = [(0.45, 0.6), (0.6, 0.2)]
            .map(|(swing, together)| wide(sentence(-0.2, swing, together, 0.5)))
            .into();
        let found = SpectralTransport::between(&stats(&said), &stats(&recorded)).unwrap();
        let found = SpectralTransport { ceiling: vec![MAX_MEAN; FINER * MELS], ..found };
        // How a ripple of one frame comes out.
        let kept = |coefficient: usize| {
            let (dct, mut rippled) = (Dct::new(FINER * MELS), said.0.clone());
            dct.raise(&mut rippled.data[100 * FINER * MELS..101 * FINER * MELS], coefficient, 1.0);
            let (with, without) = (found.apply(rippled), found.apply(said.0.clone()));
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
    fn a_tremble_from_frame_to_frame_is_not_stretched() {
        let (mean, shift, ceiling) = (vec![-4.0; MELS], vec![0.0; MELS], vec![MAX_MEAN; MELS]);
        let map = DMatrix::<f32>::from_diagonal_element(MELS, MELS, 2.0).as_slice().to_vec();
        let twice = SpectralTransport { mean, shift, map, ceiling };
        let spread = |deviation: fn(usize) -> f32| {
            let data = (0..FRAMES * MELS).map(|at| -4.0 + deviation(at / MELS)).collect();
            let matched = twice.apply(Mel { mels: MELS, data });
            (180..220).map(|t| (matched.frame(t)[3] + 4.0).abs()).fold(0.0, f32::max)
        };
        let slow = spread(|t| 0.2 * (0.1 * t as f32).sin());
        let tremble = spread(|t| if t % 2 == 0 { 0.2 } else { -0.2 });
        assert!((slow - 0.4).abs() < 0.01 && (tremble - 0.2).abs() < 0.01, "{slow} {tremble}");
    }

    #[test]
    fn no_band_becomes_louder_than_it_was_recorded() {
        let (said, recorded) = (sentence(-0.2, 0.4, 0.9, 0.5), sentence(-0.1, 0.6, 0.2, 0.5));
        let found = SpectralTransport::between(&stats(&said), &stats(&recorded)).unwrap();
        let mut whistle = said.0;
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
    fn other_sentences_with_other_phones_are_no_other_voice() {
        let [many, few] = [0.8, 0.2].map(|share| sentence(-0.2, 0.4, 0.5, share));
        let difference = |said: SpectralStats, recorded: SpectralStats| {
            let found = SpectralTransport::between(&said, &recorded).unwrap();
            found.shift.iter().map(|shift| shift.abs()).fold(0.0, f32::max)
        };
        let found = difference(stats(&many), stats(&few));
        let blind = |(mel, symbols): &(Mel, Vec<Symbol>)| {
            let vowel = |symbol: &Symbol| {
                if *symbol == SILENCE { SILENCE } else { Symbol::from_name("AA1").unwrap() }
            };
            stats(&(mel.clone(), symbols.iter().map(vowel).collect()))
        };
        let mistaken = difference(blind(&many), blind(&few));
        assert!(found < 0.3 * mistaken, "{found} of {mistaken}");
    }

    #[test]
    fn silence_determines_nothing_and_what_is_alike_stays() {
        let speech = sentence(-0.2, 0.5, 0.5, 0.5);
        let stats = stats(&speech);
        assert_eq!(SpectralTransport::between(&SpectralStats::default(), &stats), None);
        assert_eq!(SpectralTransport::between(&stats, &SpectralStats::default()), None);
        let mut nonsense = SpectralStats::default();
        nonsense.add(&Mel { mels: MELS, data: vec![f32::NAN; speech.0.data.len()] }, &speech.1);
        assert_eq!(SpectralTransport::between(&nonsense, &stats), None);
        let same = SpectralTransport::between(&stats, &stats).unwrap();
        let matched = same.apply(speech.0.clone());
        let worst = matched.data.iter().zip(&speech.0.data).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 1e-2, "{worst}");
    }

    #[test]
    fn hostile_values_are_found() {
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
        // What passes moves no band further than its bound.
        let most = SpectralTransport { mean: vec![-MAX_MEAN; 4], map: vec![2.0; 16], ..sound };
        let mel = Mel { mels: 4, data: vec![-3.0; 40] };
        assert!(most.is_sound(4) && most.apply(mel).data.iter().all(|x| (x + 3.0).abs() <= MAX_MOVE + 1e-3));
    }
}
