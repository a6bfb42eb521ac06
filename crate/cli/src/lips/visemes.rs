//! The motion of a speaking mouth: a posture for each phone, and blending between neighbouring ones.
//!
//! The classes are the usual visemes (Fisher 1968, "Confusions among visually perceived consonants"): phones that look alike share a row. Blending is by
//! dominance (Cohen and Massaro 1993, "Modeling coarticulation in synthetic visual speech"): a phone whose posture must be reached has a higher weight, so
//! that lips close for a P between open vowels.

use ownvoice::text::symbols::{Symbol, is_pause};

/// The positions of the visible articulators, each relative to its range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Posture {
    /// The opening of the jaw: 0 closed, 1 as open as in speech.
    pub jaw: f32,
    /// The opening of the lips: 0 closed, 1 as far apart as the jaw allows.
    pub lips: f32,
    /// The width of the mouth: -1 rounded and protruded, 1 spread.
    pub width: f32,
    /// The tuck of the lower lip under the upper teeth: 1 as in F.
    pub tuck: f32,
    /// The tip of the tongue: 0 out of sight, 1 between the teeth.
    pub tongue: f32,
    /// The closure of the teeth: 1 as in S.
    pub teeth: f32,
}

impl Posture {
    /// The posture at rest.
    pub const REST: Self = Self { jaw: 0.05, lips: 0.0, width: 0.0, tuck: 0.0, tongue: 0.0, teeth: 0.3 };

    fn values(self) -> [f32; 6] {
        [self.jaw, self.lips, self.width, self.tuck, self.tongue, self.teeth]
    }

    fn of_values([jaw, lips, width, tuck, tongue, teeth]: [f32; 6]) -> Self {
        Self { jaw, lips, width, tuck, tongue, teeth }
    }
}

/// Phones without stress, the dominance, and the posture: jaw, lips, width, tuck, tongue, teeth. A diphthong has two postures.
#[rustfmt::skip]
const VISEMES: [(&str, f32, &[[f32; 6]]); 13] = [
    ("P B M",         6.0, &[[0.10, 0.00,  0.00, 0.0, 0.0, 0.3]]),
    ("F V",           4.0, &[[0.12, 0.30,  0.10, 1.0, 0.0, 0.2]]),
    ("TH DH",         2.5, &[[0.25, 0.55,  0.10, 0.0, 1.0, 0.2]]),
    ("W R ER",        2.0, &[[0.15, 0.40, -0.75, 0.0, 0.1, 0.4]]),
    ("CH JH SH ZH",   2.0, &[[0.12, 0.70, -0.45, 0.0, 0.0, 0.9]]),
    ("S Z",           2.0, &[[0.08, 0.65,  0.40, 0.0, 0.0, 1.0]]),
    ("T D N L",       0.8, &[[0.20, 0.55,  0.15, 0.0, 0.6, 0.5]]),
    ("K G NG HH Y",   0.4, &[[0.25, 0.55,  0.10, 0.0, 0.0, 0.4]]),
    ("IY IH EY",      1.0, &[[0.25, 0.70,  0.80, 0.0, 0.1, 0.5]]),
    ("EH AE AH",      1.0, &[[0.60, 0.85,  0.35, 0.0, 0.1, 0.0]]),
    ("AA AO",         1.0, &[[0.95, 0.95, -0.05, 0.0, 0.0, 0.0]]),
    ("UW UH OW",      1.2, &[[0.30, 0.45, -0.95, 0.0, 0.0, 0.1]]),
    ("AW AY OY",      1.0, &[[0.95, 0.95,  0.00, 0.0, 0.0, 0.0], [0.30, 0.60, 0.00, 0.0, 0.1, 0.3]]),
];
/// The width of the mouth at the end of a diphthong.
const GLIDES: [(&str, f32); 3] = [("AW", -0.8), ("AY", 0.7), ("OY", 0.7)];
/// The dominance of a pause, which is low, so that its neighbours' postures extend into it.
const REST_DOMINANCE: f32 = 0.5;

/// The standard deviation of the blending: lips take a tenth of a second from one posture to another.
const BLEND_SECONDS: f32 = 0.032;
/// The reach of the blending on either side.
const REACH_SECONDS: f32 = 0.13;
/// The time step of the blending.
const STEP_SECONDS: f32 = 0.005;

/// Returns the dominance and postures of a symbol; a pause is at rest.
fn viseme(symbol: Symbol) -> (f32, Vec<Posture>) {
    let rest = || (REST_DOMINANCE, vec![Posture::REST]);
    if is_pause(symbol) {
        return rest();
    }
    let phone = symbol.name().trim_end_matches(|c: char| c.is_ascii_digit());
    let Some((_, dominance, postures)) =
        VISEMES.iter().find(|(phones, ..)| phones.split(' ').any(|one| one == phone))
    else {
        return rest();
    };
    let mut postures: Vec<Posture> = postures.iter().copied().map(Posture::of_values).collect();
    if let Some((_, width)) = GLIDES.iter().find(|(glide, _)| *glide == phone) {
        if phone == "OY" {
            postures[0].width = -0.7;
        }
        postures[1].width = *width;
    }
    (*dominance, postures)
}

/// The motion of a mouth over an utterance.
#[derive(Debug, Clone)]
pub struct Movement {
    /// The dominance and posture at every [`STEP_SECONDS`].
    steps: Vec<(f32, Posture)>,
}

impl Movement {
    /// Creates the motion of an utterance.
    ///
    /// * `phones`: symbols and the duration of each, in seconds
    pub fn new(phones: impl IntoIterator<Item = (Symbol, f32)>) -> Self {
        let mut steps = Vec::new();
        let mut end = 0.0;
        for (symbol, seconds) in phones {
            let (dominance, postures) = viseme(symbol);
            let start = end;
            end += seconds;
            while (steps.len() as f32 + 0.5) * STEP_SECONDS < end {
                let share = ((steps.len() as f32 + 0.5) * STEP_SECONDS - start) / seconds;
                let index = ((share * postures.len() as f32) as usize).min(postures.len() - 1);
                steps.push((dominance, postures[index]));
            }
        }
        Self { steps }
    }

    /// Returns the posture at a time. The mouth is at rest before and after the utterance.
    pub fn at(&self, seconds: f32) -> Posture {
        let middle = (seconds / STEP_SECONDS) as isize;
        let reach = (REACH_SECONDS / STEP_SECONDS) as isize;
        let (mut sums, mut weights) = ([0.0f32; 6], 0.0f32);
        for index in middle - reach..=middle + reach {
            let inside = usize::try_from(index).ok().and_then(|index| self.steps.get(index));
            let (dominance, posture) = inside.copied().unwrap_or((REST_DOMINANCE, Posture::REST));
            let distance = ((index as f32 + 0.5) * STEP_SECONDS - seconds) / BLEND_SECONDS;
            let weight = dominance * (-0.5 * distance * distance).exp();
            weights += weight;
            for (sum, value) in sums.iter_mut().zip(posture.values()) {
                *sum += weight * value;
            }
        }
        Posture::of_values(sums.map(|sum| sum / weights))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ownvoice::text::symbols::{is_phone, parse};

    fn movement(names: &str, seconds: f32) -> Movement {
        Movement::new(parse(names).unwrap().into_iter().map(|symbol| (symbol, seconds)))
    }

    #[test]
    fn every_phone_belongs_to_one_class() {
        for symbol in Symbol::all().filter(|&symbol| is_phone(symbol)) {
            let phone = symbol.name().trim_end_matches(|c: char| c.is_ascii_digit());
            let rows =
                VISEMES.iter().filter(|(phones, ..)| phones.split(' ').any(|one| one == phone)).count();
            assert_eq!(rows, 1, "{phone}");
            assert!(viseme(symbol).1.iter().flat_map(|posture| posture.values()).all(|v| v.abs() <= 1.0));
        }
        let listed = VISEMES.iter().flat_map(|(phones, ..)| phones.split(' '));
        assert!(listed.into_iter().all(|phone| parse(phone).or(parse(&format!("{phone}0"))).is_some()));
    }

    #[test]
    fn lips_close_for_a_plosive_between_vowels() {
        let mouth = movement("_ AA1 P AA1 _", 0.1);
        assert!(mouth.at(0.15).jaw > 0.6, "{:?}", mouth.at(0.15));
        assert!(mouth.at(0.25).lips < 0.12, "{:?}", mouth.at(0.25));
        assert!(mouth.at(0.35).lips > 0.6, "{:?}", mouth.at(0.35));
        // A consonant that is hardly visible takes on its neighbours' posture.
        let (rounded, spread) = (movement("UW1 K UW1", 0.08).at(0.12), movement("IY1 K IY1", 0.08).at(0.12));
        assert!(rounded.width < -0.3 && spread.width > 0.3, "{rounded:?} {spread:?}");
    }

    #[test]
    fn a_mouth_is_at_rest_outside_and_moves_without_jumps() {
        let mouth = movement("_ M AY1 _ F AO1 T _", 0.09);
        for seconds in [-5.0, 99.0] {
            assert!((mouth.at(seconds).jaw - Posture::REST.jaw).abs() < 1e-5);
        }
        for step in 0..900 {
            let (one, next) = (mouth.at(step as f32 * 0.001), mouth.at((step + 1) as f32 * 0.001));
            let moved =
                one.values().iter().zip(next.values()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(moved < 0.06, "{moved} at {step} ms");
        }
    }
}
