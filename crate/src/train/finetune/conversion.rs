//! One speaker's spectra from another's: moved by the mean difference of each phone, a conversion by classes that are known (Stylianou, Cappe and Moulines
//! 1998, "Continuous probabilistic transform for voice conversion", whose classes are found).

use std::collections::BTreeMap;

use crate::text::symbols::{Symbol, is_phone, is_vowel};

/// Frames that determine a mean as much as that of the wider class does: 0.25 s.
const PRIOR_FRAMES: f32 = 20.0;
/// Frames on either side that differences are averaged over, so that they do not jump.
const SMOOTH_FRAMES: usize = 2;

/// The sum of differences between two renditions of the same frames.
#[derive(Debug, Clone, Default)]
struct Difference {
    frames: f32,
    /// `[M]`
    sums: Vec<f32>,
}

impl Difference {
    fn add(&mut self, recorded: &[f32], said: &[f32]) {
        self.frames += 1.0;
        self.sums.resize(recorded.len(), 0.0);
        for (sum, (recorded, said)) in self.sums.iter_mut().zip(recorded.iter().zip(said)) {
            *sum += recorded - said;
        }
    }

    /// The mean, drawn towards that of a wider class, `[M]`.
    fn mean(&self, wider: &[f32]) -> Vec<f32> {
        if self.sums.is_empty() {
            return wider.to_vec();
        }
        let all = self.frames + PRIOR_FRAMES;
        self.sums.iter().zip(wider).map(|(sum, wider)| (sum + PRIOR_FRAMES * wider) / all).collect()
    }
}

/// Vowels, consonants and pauses.
fn class(phone: Symbol) -> u8 {
    u8::from(is_phone(phone)) + u8::from(is_vowel(phone))
}

const CLASSES: usize = 3;

/// Mean differences `[M]`, by phone where the clips have it, else by class.
pub struct Differences {
    classes: [Vec<f32>; CLASSES],
    phones: BTreeMap<Symbol, Vec<f32>>,
}

impl Differences {
    /// * `pairs`: the phones of a clip, the clip, and how the base says it, `[T, M]`
    pub fn of(pairs: &[(Vec<Symbol>, &[f32], Vec<f32>)], mels: usize) -> Self {
        let mut speech = Difference::default();
        let mut classes: [Difference; CLASSES] = Default::default();
        let mut phones = BTreeMap::<Symbol, Difference>::new();
        for (spoken, recorded, said) in pairs {
            let frames = recorded.chunks_exact(mels).zip(said.chunks_exact(mels));
            for (&phone, (recorded, said)) in spoken.iter().zip(frames) {
                if is_phone(phone) {
                    speech.add(recorded, said);
                }
                classes[class(phone) as usize].add(recorded, said);
                phones.entry(phone).or_default().add(recorded, said);
            }
        }
        let speech = speech.mean(&vec![0.0; mels]);
        let classes = classes.map(|class| class.mean(&speech));
        let mean =
            |(phone, found): (Symbol, Difference)| (phone, found.mean(&classes[class(phone) as usize]));
        Self { phones: phones.into_iter().map(mean).collect(), classes }
    }

    fn at(&self, phone: Symbol) -> &[f32] {
        self.phones.get(&phone).unwrap_or(&self.classes[class(phone) as usize])
    }

    /// Converts a spectrogram in place.
    ///
    /// * `mel`: `[T, M]`
    pub fn convert(&self, mel: &mut [f32], phones: &[Symbol]) {
        let mels = self.classes[0].len();
        for (t, frame) in mel.chunks_exact_mut(mels).enumerate() {
            let near = &phones[t.saturating_sub(SMOOTH_FRAMES)..(t + SMOOTH_FRAMES + 1).min(phones.len())];
            for &phone in near {
                let difference = self.at(phone).iter();
                frame.iter_mut().zip(difference).for_each(|(value, more)| *value += more / near.len() as f32);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::symbols::{SILENCE, id};

    #[test]
    fn each_phone_is_moved_by_its_own_difference_and_an_unknown_one_by_that_of_its_class() {
        let symbol = |name| id(name).unwrap();
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
        let differences = Differences::of(&[(spoken, &recorded, said)], 2);
        let converted = |phone| {
            let mut mel = vec![0.0; 2 * 9];
            differences.convert(&mut mel, &[phone; 9]);
            [mel[8], mel[9]]
        };
        let close = |[a, b]: [f32; 2], [c, d]: [f32; 2]| (a - c).abs() < 0.05 && (b - d).abs() < 0.05;
        assert!(close(converted(aa), [1.0, 2.0]) && close(converted(s), [-3.0, 0.0]));
        assert!(close(converted(iy), [1.0, 2.0]), "a vowel that the clips lack is moved as vowels are");
        assert!(close(converted(f), [-3.0, 0.0]) && close(converted(SILENCE), [0.5; 2]));

        let mut mel = vec![0.0; 2 * 10];
        differences.convert(&mut mel, &[[aa; 5], [s; 5]].concat());
        let first: Vec<f32> = mel.iter().copied().step_by(2).collect();
        let jumps = first.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, f32::max);
        assert!(jumps < 1.0, "from 1 to -3 in steps: {first:?}");
    }
}
