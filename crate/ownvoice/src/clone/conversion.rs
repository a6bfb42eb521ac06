//! Converts spectra from one speaker to another by the differences between parallel frames.
//!
//! The difference depends on the phone, as in conversion by acoustic classes (Stylianou, Cappe and Moulines 1998, "Continuous probabilistic transform for voice
//! conversion", where classes are latent), and within a phone on the most similar frames (kernel regression; Nadaraya 1964, Watson 1964).

use std::collections::BTreeMap;

use crate::text::symbols::{Symbol, is_phone, is_vowel};

/// The prior weight of the mean of the wider class, in frames: 0.25 s.
const PRIOR_FRAMES: f32 = 20.0;
/// The number of frames on either side over which differences are averaged, so that they do not jump.
const SMOOTH_FRAMES: usize = 2;

/// The standard deviation of the Gaussian kernel, in nepers of root mean square over the bands.
const KERNEL_BANDWIDTH: f32 = 0.3;
/// The prior weight of the phone mean, in frames of zero distance.
const PRIOR_ALIKE: f32 = 10.0;
/// The number of adjacent bands that are averaged before frames are compared.
const COARSE: usize = 4;

/// The sum of differences between two renditions of the same frames.
#[derive(Debug, Clone, Default)]
struct Difference {
    frames: f32,
    /// `[M]`
    sums: Vec<f32>,
}

impl Difference {
    fn add(&mut self, difference: &[f32]) {
        self.frames += 1.0;
        self.sums.resize(difference.len(), 0.0);
        self.sums.iter_mut().zip(difference).for_each(|(sum, difference)| *sum += difference);
    }

    /// Returns the mean, shrunk towards that of a wider class, `[M]`.
    fn mean(&self, wider: &[f32]) -> Vec<f32> {
        if self.sums.is_empty() {
            return wider.to_vec();
        }
        let all = self.frames + PRIOR_FRAMES;
        self.sums.iter().zip(wider).map(|(sum, wider)| (sum + PRIOR_FRAMES * wider) / all).collect()
    }
}

/// Returns the class of a phone: 0 for a pause, 1 for a consonant, 2 for a vowel.
fn class(phone: Symbol) -> u8 {
    u8::from(is_phone(phone)) + u8::from(is_vowel(phone))
}

const CLASSES: usize = 3;

/// The differences between two renditions of a phone.
struct PhoneFrames {
    /// The mean difference, `[M]`
    mean: Vec<f32>,
    frames: Vec<FrameNeighbour>,
}

/// A frame of the first speaker and its difference from that of the second.
struct FrameNeighbour {
    /// The frame of the first speaker, `[M / COARSE]`.
    source: Vec<f32>,
    /// The difference, `[M]`.
    difference: Vec<f32>,
}

/// Averages adjacent bands, `[M / COARSE]`.
fn coarse(frame: &[f32]) -> Vec<f32> {
    frame.chunks(COARSE).map(|bands| bands.iter().sum::<f32>() / bands.len() as f32).collect()
}

impl PhoneFrames {
    /// Returns the mean of the differences, weighted by the similarity of each frame to `frame`, and of the phone mean, `[M]`.
    fn at(&self, frame: &[f32]) -> Vec<f32> {
        let frame = coarse(frame);
        let mut sums: Vec<f32> = self.mean.iter().map(|mean| PRIOR_ALIKE * mean).collect();
        let mut weights = PRIOR_ALIKE;
        for FrameNeighbour { source, difference } in &self.frames {
            let squares: f32 = source.iter().zip(&frame).map(|(a, b)| (a - b).powi(2)).sum();
            let weight = (-squares / (2.0 * KERNEL_BANDWIDTH * KERNEL_BANDWIDTH * frame.len() as f32)).exp();
            weights += weight;
            sums.iter_mut().zip(difference).for_each(|(sum, difference)| *sum += weight * difference);
        }
        sums.iter_mut().for_each(|sum| *sum /= weights);
        sums
    }
}

/// The differences between two speakers by phone, or by class for phones that the clips lack.
pub struct PhoneOffsets {
    classes: [Vec<f32>; CLASSES],
    phones: BTreeMap<Symbol, PhoneFrames>,
}

/// Collects the differences of clips, one clip at a time.
#[derive(Default)]
pub struct PhoneDifferences {
    speech: Difference,
    classes: [Difference; CLASSES],
    phones: BTreeMap<Symbol, (Difference, Vec<FrameNeighbour>)>,
}

impl PhoneDifferences {
    /// Adds a clip.
    ///
    /// * `phones`:    the symbol of each frame
    /// * `recorded`:  `[T, M]`
    /// * `predicted`: the prediction of the base, `[T, M]`
    pub fn add(&mut self, phones: &[Symbol], recorded: &[f32], predicted: &[f32], mels: usize) {
        let frames = recorded.chunks_exact(mels).zip(predicted.chunks_exact(mels));
        for (&phone, (recorded, predicted)) in phones.iter().zip(frames) {
            let difference: Vec<f32> =
                recorded.iter().zip(predicted).map(|(recorded, predicted)| recorded - predicted).collect();
            if is_phone(phone) {
                self.speech.add(&difference);
            }
            self.classes[class(phone) as usize].add(&difference);
            let (sum, frames) = self.phones.entry(phone).or_default();
            sum.add(&difference);
            frames.push(FrameNeighbour { source: coarse(predicted), difference });
        }
    }

    /// Computes the means.
    pub fn offsets(self, mels: usize) -> PhoneOffsets {
        let speech = self.speech.mean(&vec![0.0; mels]);
        let classes = self.classes.map(|class| class.mean(&speech));
        let of_phone = |(phone, (sum, frames)): (Symbol, (Difference, Vec<FrameNeighbour>))| {
            (phone, PhoneFrames { mean: sum.mean(&classes[class(phone) as usize]), frames })
        };
        PhoneOffsets { phones: self.phones.into_iter().map(of_phone).collect(), classes }
    }
}

impl PhoneOffsets {
    /// Returns the difference for a frame of a phone, `[M]`.
    fn at(&self, phone: Symbol, frame: &[f32]) -> Vec<f32> {
        match self.phones.get(&phone) {
            Some(phone) => phone.at(frame),
            None => self.classes[class(phone) as usize].clone(),
        }
    }

    /// Converts a spectrogram in place.
    ///
    /// * `mel`:    `[T, M]`
    /// * `phones`: the symbol of each frame
    pub fn convert(&self, mel: &mut [f32], phones: &[Symbol]) {
        let mels = self.classes[0].len();
        let differences: Vec<Vec<f32>> =
            mel.chunks_exact(mels).zip(phones).map(|(frame, &phone)| self.at(phone, frame)).collect();
        for (t, frame) in mel.chunks_exact_mut(mels).enumerate() {
            let near =
                &differences[t.saturating_sub(SMOOTH_FRAMES)..(t + SMOOTH_FRAMES + 1).min(differences.len())];
            for difference in near {
                frame.iter_mut().zip(difference).for_each(|(value, more)| *value += more / near.len() as f32);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::symbols::SILENCE;

    fn offsets(phones: &[Symbol], recorded: &[f32], predicted: &[f32]) -> PhoneOffsets {
        let mut differences = PhoneDifferences::default();
        differences.add(phones, recorded, predicted, 2);
        differences.offsets(2)
    }

    #[test]
    fn a_phone_has_its_own_difference_and_an_unknown_one_that_of_its_class() {
        let symbol = |name| Symbol::from_name(name).unwrap();
        let (aa, iy, s, f) = (symbol("AA0"), symbol("IY0"), symbol("S"), symbol("F"));
        let frames = 2000;
        let spoken: Vec<Symbol> =
            [SILENCE, aa, s].iter().flat_map(|&phone| std::iter::repeat_n(phone, frames)).collect();
        let said = vec![0.0; 2 * spoken.len()];
        let recorded: Vec<f32> = spoken
            .iter()
            .flat_map(|&phone| {
                if phone == aa {
                    [1.0, 2.0]
                } else if phone == s {
                    [-3.0, 0.0]
                } else {
                    [0.5; 2]
                }
            })
            .collect();
        let differences = offsets(&spoken, &recorded, &said);
        let converted = |phone| {
            let mut mel = vec![0.0; 2 * 9];
            differences.convert(&mut mel, &[phone; 9]);
            [mel[8], mel[9]]
        };
        let close = |[a, b]: [f32; 2], [c, d]: [f32; 2]| (a - c).abs() < 0.05 && (b - d).abs() < 0.05;
        assert!(close(converted(aa), [1.0, 2.0]) && close(converted(s), [-3.0, 0.0]));
        assert!(close(converted(iy), [1.0, 2.0]), "a vowel that the clips lack has the mean of the vowels");
        assert!(close(converted(f), [-3.0, 0.0]) && close(converted(SILENCE), [0.5; 2]));

        let mut mel = vec![0.0; 2 * 10];
        differences.convert(&mut mel, &[[aa; 5], [s; 5]].concat());
        let first: Vec<f32> = mel.iter().copied().step_by(2).collect();
        let jumps = first.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, f32::max);
        assert!(jumps < 1.0, "the change from 1 to -3 is smooth: {first:?}");
    }

    #[test]
    fn frames_of_a_phone_have_the_difference_of_similar_frames() {
        let aa = Symbol::from_name("AA0").unwrap();
        let spoken = vec![aa; 2000];
        let said: Vec<f32> =
            (0..2 * spoken.len()).map(|at| if at < spoken.len() { 0.0 } else { 2.0 }).collect();
        let recorded: Vec<f32> = said.iter().map(|&said| if said == 0.0 { 1.0 } else { 1.5 }).collect();
        let differences = offsets(&spoken, &recorded, &said);
        let converted = |value: f32| {
            let mut mel = vec![value; 2 * 9];
            differences.convert(&mut mel, &[aa; 9]);
            mel[8]
        };
        for (value, expected) in [(0.0, 1.0), (2.0, 1.5), (9.0, 9.25)] {
            let converted = converted(value);
            assert!(
                (converted - expected).abs() < 0.02,
                "{value} is converted to {converted} instead of {expected}"
            );
        }
    }
}
