//! Cepstral mean and variance normalisation (Viikki and Laurila 1998), from what a clone says to what its speaker said.
//!
//! A model that was adapted by a minute of speech leaves part of a speaker's long-term spectrum, and of its variance, where the base has it. Both are known
//! of the recordings, and of any speech of the clone: the difference is taken away in closed form.

use super::{dct::Dct, mel::Mel, variance_scale::speech};

/// Factors on the deviation from the mean. Beyond these a minute is too short an estimate.
pub const SCALES: std::ops::RangeInclusive<f32> = 0.85..=1.4;
/// Differences of means, in nepers times the root of the number of bands.
pub const SHIFTS: std::ops::RangeInclusive<f32> = -20.0..=20.0;
/// Coefficients on each side whose ratios of deviations are averaged with that of one.
const NEIGHBOURS: usize = 2;

/// Mean and standard deviation of each cepstral coefficient (DCT-II over the bands) in speech.
#[derive(Debug, Clone, Default)]
pub struct CepstralStats {
    /// Frames of speech.
    weight: f64,
    sums: Vec<f64>,
    squares: Vec<f64>,
}

impl CepstralStats {
    pub fn of<'a>(mels: impl IntoIterator<Item = &'a Mel>) -> Self {
        let mut stats = Self::default();
        mels.into_iter().for_each(|mel| stats.add(mel));
        stats
    }

    fn add(&mut self, mel: &Mel) {
        let dct = Dct::new(mel.mels);
        self.sums.resize(mel.mels, 0.0);
        self.squares.resize(mel.mels, 0.0);
        for (t, weight) in speech(mel).into_iter().enumerate().filter(|(_, weight)| *weight > 0.0) {
            self.weight += f64::from(weight);
            for (k, value) in dct.cepstrum(mel.frame(t)).enumerate() {
                self.sums[k] += f64::from(weight * value);
                self.squares[k] += f64::from(weight * value * value);
            }
        }
    }

    fn means(&self) -> Vec<f32> {
        self.sums.iter().map(|sum| (sum / self.weight) as f32).collect()
    }

    fn deviations(&self) -> Vec<f32> {
        let deviation = |(square, sum): (&f64, &f64)| {
            (square / self.weight - (sum / self.weight).powi(2)).max(0.0).sqrt() as f32
        };
        self.squares.iter().zip(&self.sums).map(deviation).collect()
    }
}

/// What takes a clone's spectra to its speaker's, a value a cepstral coefficient.
#[derive(Debug, Clone, PartialEq)]
pub struct SpectralMatch {
    /// Of the clone's speech.
    pub mean: Vec<f32>,
    /// From the clone's mean to the speaker's. That of the level is zero: speech is as loud as it was.
    pub shift: Vec<f32>,
    /// Factors on the deviation from the clone's mean. Those of the finer half of the coefficients are one.
    pub scale: Vec<f32>,
}

impl SpectralMatch {
    /// * `said`:     by the clone
    /// * `recorded`: of its speaker
    ///
    /// `None` where either has no speech in it.
    pub fn between(said: &CepstralStats, recorded: &CepstralStats) -> Option<Self> {
        if said.weight == 0.0 || recorded.weight == 0.0 {
            return None;
        }
        let mean = said.means();
        let clamp =
            |value: f32, range: &std::ops::RangeInclusive<f32>| value.clamp(*range.start(), *range.end());
        let mut shift: Vec<f32> = recorded
            .means()
            .iter()
            .zip(&mean)
            .map(|(recorded, said)| clamp(recorded - said, &SHIFTS))
            .collect();
        shift[0] = 0.0;
        let ratios: Vec<f32> = recorded
            .deviations()
            .iter()
            .zip(said.deviations())
            .map(|(recorded, said)| if said > 0.0 { recorded / said } else { 1.0 })
            .collect();
        let scale = |k: usize| {
            if k >= ratios.len() / 2 {
                return 1.0;
            }
            let near = &ratios[k.saturating_sub(NEIGHBOURS)..=(k + NEIGHBOURS).min(ratios.len() - 1)];
            clamp(near.iter().sum::<f32>() / near.len() as f32, &SCALES)
        };
        Some(Self { scale: (0..mean.len()).map(scale).collect(), mean, shift })
    }

    /// Whether it can be applied to spectrograms of so many bands: it may come from a hostile file.
    pub fn is_sound(&self, mels: usize) -> bool {
        let all = |values: &[f32], range: &std::ops::RangeInclusive<f32>| {
            values.len() == mels && values.iter().all(|value| range.contains(value))
        };
        all(&self.mean, &(-1000.0..=1000.0)) && all(&self.shift, &SHIFTS) && all(&self.scale, &SCALES)
    }

    /// A sentence of the clone with its speaker's mean and variance; its pauses stay.
    pub fn apply(&self, mut mel: Mel) -> Mel {
        let (weights, dct) = (speech(&mel), Dct::new(mel.mels));
        let frames = mel.data.chunks_exact_mut(mel.mels).zip(weights);
        for (frame, weight) in frames.filter(|(_, weight)| *weight > 0.0) {
            let said: Vec<f32> = dct.cepstrum(frame).collect();
            for (k, value) in said.into_iter().enumerate() {
                let more = (value - self.mean[k]) * (self.scale[k] - 1.0) + self.shift[k];
                dct.raise(frame, k, weight * more);
            }
        }
        mel
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Speech between pauses: a tilt, and formants that swing about it.
    fn sentence(tilt: f32, swing: f32, seed: f32) -> Mel {
        let value = |t: usize, band: usize| {
            if !(20..180).contains(&t) {
                return -11.5;
            }
            let place = std::f32::consts::PI * (band as f32 + 0.5) / 16.0;
            -3.0 + tilt * place.cos() + swing * (0.37 * t as f32 + seed).sin() * (3.0 * place).cos()
        };
        Mel { mels: 16, data: (0..200).flat_map(|t| (0..16).map(move |band| value(t, band))).collect() }
    }

    #[test]
    fn a_clone_gets_its_speakers_mean_and_variance_and_its_pauses_stay() {
        let (said, recorded) = (sentence(0.2, 0.5, 0.0), sentence(0.5, 0.6, 0.4));
        let found =
            SpectralMatch::between(&CepstralStats::of([&said]), &CepstralStats::of([&recorded])).unwrap();
        assert!(found.is_sound(16));
        assert!((found.shift[1] - 0.3 * (8.0f32).sqrt()).abs() < 0.01, "{:?}", found.shift);
        let (pause, matched) = (said.frame(0).to_vec(), found.apply(said));
        assert_eq!(matched.frame(0), pause);
        let [now, wanted] = [&matched, &recorded].map(|mel| CepstralStats::of([mel]));
        assert!((now.means()[1] - wanted.means()[1]).abs() < 0.01);
        // The ratio of the one coefficient that varies is averaged with those of its neighbours.
        let (now, before) = (now.deviations()[3], found.scale[3]);
        assert!(before > 1.03 && now > 0.5 * (8.0f32).sqrt() / 2.0f32.sqrt(), "{before} {now}");
    }

    #[test]
    fn silence_determines_nothing_and_what_is_alike_stays() {
        let speech = sentence(0.2, 0.5, 0.0);
        let stats = CepstralStats::of([&speech]);
        assert_eq!(SpectralMatch::between(&CepstralStats::default(), &stats), None);
        assert_eq!(SpectralMatch::between(&stats, &CepstralStats::default()), None);
        let same = SpectralMatch::between(&stats, &stats).unwrap();
        let matched = same.apply(speech.clone());
        let worst = matched.data.iter().zip(&speech.data).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 1e-4, "{worst}");
    }

    #[test]
    fn hostile_values_are_found() {
        let sound = SpectralMatch { mean: vec![0.0; 4], shift: vec![0.0; 4], scale: vec![1.0; 4] };
        assert!(sound.is_sound(4) && !sound.is_sound(5));
        for hostile in [
            SpectralMatch { mean: vec![f32::NAN; 4], ..sound.clone() },
            SpectralMatch { shift: vec![1e30; 4], ..sound.clone() },
            SpectralMatch { scale: vec![f32::INFINITY; 4], ..sound.clone() },
            SpectralMatch { scale: vec![1.0; 3], ..sound },
        ] {
            assert!(!hostile.is_sound(4), "{hostile:?}");
        }
    }
}
