//! Recorded frames that a clone's spectra are drawn towards: what a model of regression predicts is the mean of many frames, and no frame that anybody spoke.
//!
//! For each predicted frame the nearest recorded ones are looked up, and of these the path that jumps least is taken, as in unit selection guided by a model
//! (Qian, Soong and Yan 2013, "A unified trajectory tiling approach to high quality speech rendering"). Part of what separates the two spectra is undone.

use burn::prelude::Device;

use half::f16;

use crate::{
    audio::{dct::Dct, mel::Mel},
    text::symbols::{SYMBOL_COUNT, Symbol, is_phone, is_vowel, without_stress},
    weights::{HostWeights, Weight, Weights},
};

/// Cepstral coefficients that are compared and moved: level, tilt and formants. The finer ones hold the harmonics of a pitch that the clone has anew.
const COEFFICIENTS: usize = 20;
/// The distance along the first coefficient, the level, counts by so much: it follows the stress more than the phone.
const LEVEL_WEIGHT: f32 = 0.2;
/// Frames on either side that are compared as well, the further the less.
const REACH: usize = 2;
/// Recorded frames that a path chooses from.
const CANDIDATES: usize = 16;
/// Added to the squared distance of frames of another phone, and again where one is a vowel and the other none.
const OTHER_PHONE: f32 = 40.0;
/// Weight of a jump between frames that did not follow each other, and its least square.
const JUMP: f32 = 0.5;
const LEAST_JUMP: f32 = 1.0;
/// How much of the difference is undone: more is nearer to the speaker, and less intelligible (docs/experiments/people.md).
const SHARE: f32 = 0.3;
/// Frames on either side that a target is averaged over, so that jumps are not heard.
const SMOOTH: usize = 1;
/// Two minutes at 16 kHz: later clips say little that is new, and each frame costs time.
const MAX_FRAMES: usize = 9600;
/// Beyond any spectrogram's.
const MAX_COEFFICIENT: f32 = 1000.0;

const CEPSTRA: &str = "exemplars.cepstra";
const PHONES: &str = "exemplars.phones";
const VOICED: &str = "exemplars.voiced";
const LAST: &str = "exemplars.last";

type Cepstrum = [f32; COEFFICIENTS];

/// Recorded frames of speech.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Exemplars {
    cepstra: Vec<Cepstrum>,
    /// Without stress.
    phones: Vec<Symbol>,
    voiced: Vec<bool>,
    /// Whether no frame follows in the same clip.
    last: Vec<bool>,
}

/// The frames of a sentence, recorded or predicted.
#[derive(Debug, Clone, Copy)]
pub struct Frames<'a> {
    /// The symbol of each frame.
    pub symbols: &'a [Symbol],
    /// Of each frame, 0 where unvoiced; empty on a base without pitch.
    pub f0_hz: &'a [f32],
}

impl Frames<'_> {
    fn phone(&self, t: usize) -> Symbol {
        without_stress(self.symbols[t])
    }

    fn is_voiced(&self, t: usize) -> bool {
        self.f0_hz.get(t).is_some_and(|hz| *hz > 0.0)
    }
}

/// The symbol of each frame.
pub fn by_frame(symbols: &[Symbol], durations: &[u32]) -> Vec<Symbol> {
    let frames = |(&symbol, &frames): (&Symbol, &u32)| std::iter::repeat_n(symbol, frames as usize);
    symbols.iter().zip(durations).flat_map(frames).collect()
}

fn square(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// The first cepstral coefficients of each frame.
fn cepstra(mel: &Mel, dct: &Dct) -> Vec<Cepstrum> {
    mel.data
        .chunks_exact(mel.mels)
        .map(|frame| {
            let mut coefficients = dct.cepstrum(frame);
            std::array::from_fn(|_| coefficients.next().unwrap_or(0.0))
        })
        .collect()
}

/// What distances are measured between: each frame with its neighbours.
fn compared(cepstra: &[Cepstrum]) -> Vec<Vec<f32>> {
    let reach = REACH as isize;
    let near = |t: usize| {
        (-reach..=reach).flat_map(move |offset| {
            let cepstrum = cepstra[t.saturating_add_signed(offset).min(cepstra.len() - 1)];
            let weight = 1.0 / (1.0 + offset.abs() as f32);
            cepstrum
                .into_iter()
                .enumerate()
                .map(move |(k, c)| if k == 0 { LEVEL_WEIGHT } else { 1.0 } * weight * c)
        })
    };
    (0..cepstra.len()).map(|t| near(t).collect()).collect()
}

/// A recorded frame, and its distance from a predicted one.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    cost: f32,
    frame: usize,
}

impl Exemplars {
    /// Adds the frames of a clip, while there is room for all of it.
    pub fn add(&mut self, mel: &Mel, frames: Frames) {
        if self.cepstra.len() + mel.frames() > MAX_FRAMES {
            return;
        }
        // Rounded as in a voice file, so that a saved voice takes the same paths.
        let cepstra: Vec<Cepstrum> = cepstra(mel, &Dct::new(mel.mels))
            .into_iter()
            .map(|c| c.map(|value| f16::from_f32(value).to_f32()))
            .collect();
        self.phones.extend((0..cepstra.len()).map(|t| frames.phone(t)));
        self.voiced.extend((0..cepstra.len()).map(|t| frames.is_voiced(t)));
        self.last.extend((1..=cepstra.len()).map(|t| t == cepstra.len()));
        self.cepstra.extend(cepstra);
    }

    /// A predicted sentence, its phones' spectra moved towards recorded ones. Levels, pauses and fine structure stay.
    ///
    /// * `frames`: one for each of the spectrogram
    pub fn attract(&self, mut mel: Mel, frames: Frames) -> Mel {
        if self.cepstra.is_empty() {
            return mel;
        }
        let dct = Dct::new(mel.mels);
        let predicted = cepstra(&mel, &dct);
        let keys = self.keys();
        let candidates: Vec<Vec<Candidate>> = compared(&predicted)
            .iter()
            .enumerate()
            .map(|(t, wanted)| self.nearest(&keys, wanted, frames, t))
            .collect();
        let chosen: Vec<Option<usize>> = candidates
            .chunk_by(|before, after| before.is_empty() == after.is_empty())
            .flat_map(|run| match run[0].is_empty() {
                true => vec![None; run.len()],
                false => self.path(run).into_iter().map(Some).collect(),
            })
            .collect();
        for (t, frame) in
            mel.data.chunks_exact_mut(mel.mels).enumerate().filter(|(t, _)| chosen[*t].is_some())
        {
            let near = &chosen[t.saturating_sub(SMOOTH)..(t + SMOOTH + 1).min(chosen.len())];
            let near: Vec<&Cepstrum> = near.iter().flatten().map(|&frame| &self.cepstra[frame]).collect();
            for k in 1..COEFFICIENTS.min(frame.len()) {
                let target = near.iter().map(|cepstrum| cepstrum[k]).sum::<f32>() / near.len() as f32;
                dct.raise(frame, k, SHARE * (target - predicted[t][k]));
            }
        }
        mel
    }

    /// What [`compared`] makes of each clip. It is ten times as large as what it is made of, and made anew for each sentence in a millisecond or two.
    fn keys(&self) -> Vec<Vec<f32>> {
        let mut keys = Vec::with_capacity(self.cepstra.len());
        let mut rest = self.cepstra.as_slice();
        for clip in self.last.split_inclusive(|last| *last) {
            let (clip, others) = rest.split_at(clip.len());
            keys.extend(compared(clip));
            rest = others;
        }
        keys
    }

    /// The nearest frames of as much voice, those of the same phone first; none in a pause.
    fn nearest(&self, keys: &[Vec<f32>], wanted: &[f32], frames: Frames, t: usize) -> Vec<Candidate> {
        let (phone, voiced) = (frames.phone(t), frames.is_voiced(t));
        if !is_phone(phone) {
            return Vec::new();
        }
        let fits = |frame: &usize| {
            is_phone(self.phones[*frame]) && (frames.f0_hz.is_empty() || self.voiced[*frame] == voiced)
        };
        let cost = |frame: usize| {
            let other = match self.phones[frame] {
                same if same == phone => 0.0,
                alike if is_vowel(alike) == is_vowel(phone) => OTHER_PHONE,
                _ => 2.0 * OTHER_PHONE,
            };
            Candidate { cost: square(wanted, &keys[frame]) + other, frame }
        };
        let mut found: Vec<Candidate> = (0..keys.len()).filter(fits).map(cost).collect();
        if found.len() > CANDIDATES {
            found.select_nth_unstable_by(CANDIDATES, |a, b| a.cost.total_cmp(&b.cost));
            found.truncate(CANDIDATES);
        }
        found
    }

    /// The cost of one frame after another.
    fn jump(&self, from: usize, to: usize) -> f32 {
        match self.last[from] {
            false if from + 1 == to => 0.0,
            last => {
                let next = &self.cepstra[if last { from } else { from + 1 }];
                JUMP * (LEAST_JUMP + square(&next[1..], &self.cepstra[to][1..]))
            }
        }
    }

    /// The candidate of each frame along the cheapest path (Viterbi). No frame is without candidates.
    fn path(&self, candidates: &[Vec<Candidate>]) -> Vec<usize> {
        // For each candidate the cost of the best path to it, and the candidate before it on that path.
        let mut best: Vec<Vec<(f32, usize)>> =
            vec![candidates[0].iter().map(|found| (found.cost, 0)).collect()];
        for pair in candidates.windows(2) {
            let before = best.last().expect("the first is there");
            let step = |to: &Candidate| {
                let through = |(index, (cost, _)): (usize, &(f32, usize))| {
                    (cost + self.jump(pair[0][index].frame, to.frame), index)
                };
                let (cost, index) =
                    before.iter().enumerate().map(through).min_by(|a, b| a.0.total_cmp(&b.0)).expect("some");
                (cost + to.cost, index)
            };
            best.push(pair[1].iter().map(step).collect());
        }
        let ends = best.last().expect("the first is there").iter().enumerate();
        let mut at = ends.min_by(|a, b| a.1.0.total_cmp(&b.1.0)).expect("some").0;
        let mut path = Vec::with_capacity(candidates.len());
        for (found, best) in candidates.iter().zip(&best).rev() {
            path.push(found[at].frame);
            at = best[at].1;
        }
        path.reverse();
        path
    }

    /// Adds the tensors to `weights`, where there are any.
    pub fn put(&self, weights: &mut Weights, device: &Device) {
        if self.cepstra.is_empty() {
            return;
        }
        let flags = |flags: &[bool]| flags.iter().map(|&flag| f32::from(u8::from(flag))).collect();
        // Cepstra of a matrix's precision would take other paths.
        for (name, values) in [
            (CEPSTRA, self.cepstra.concat()),
            (PHONES, self.phones.iter().map(|&phone| f32::from(phone)).collect()),
            (VOICED, flags(&self.voiced)),
            (LAST, flags(&self.last)),
        ] {
            weights.insert(name.to_string(), Weight::vector(values, device));
        }
    }

    /// The inverse of [`Self::put`]: none where `weights` has none, `None` where they make no sense.
    pub fn take(weights: &mut HostWeights) -> Option<Self> {
        if ![CEPSTRA, PHONES, VOICED, LAST].iter().any(|name| weights.contains_key(*name)) {
            return Some(Self::default());
        }
        let (_, values) = weights.remove(CEPSTRA)?;
        let count = values.len() / COEFFICIENTS;
        let are_cepstra = values.len().is_multiple_of(COEFFICIENTS)
            && (1..=MAX_FRAMES).contains(&count)
            && values.iter().all(|value| value.abs() <= MAX_COEFFICIENT);
        if !are_cepstra {
            return None;
        }
        let (cepstra, _) = values.as_chunks();
        let cepstra: Vec<Cepstrum> = cepstra.to_vec();
        let mut vector =
            |name| weights.remove(name).filter(|(shape, _)| *shape == [count]).map(|(_, values)| values);
        let phone = |value: f32| (0.0..SYMBOL_COUNT as f32).contains(&value).then_some(value as Symbol);
        let phones = vector(PHONES)?.into_iter().map(phone).collect::<Option<Vec<_>>>()?;
        let mut flags = |name| Some(vector(name)?.into_iter().map(|value| value != 0.0).collect::<Vec<_>>());
        let (voiced, mut last) = (flags(VOICED)?, flags(LAST)?);
        last[count - 1] = true;
        Some(Self { cepstra, phones, voiced, last })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::symbols::{SILENCE, id};

    const MELS: usize = 24;
    const FRAMES: usize = 60;

    /// A vowel with a formant that moves, and a fricative, between pauses.
    fn recorded() -> (Mel, Vec<Symbol>, Vec<f32>) {
        let (vowel, fricative) = (id("AA1").unwrap(), id("S").unwrap());
        let symbols: Vec<Symbol> = (0..FRAMES)
            .map(|t| match t {
                10..30 => vowel,
                30..50 => fricative,
                _ => SILENCE,
            })
            .collect();
        let band = |t: usize, band: usize| match symbols[t] {
            SILENCE => -11.5,
            symbol => {
                let centre = if symbol == vowel { 4.0 + 0.2 * t as f32 } else { 19.0 };
                -5.0 + 4.0 * (-0.1 * (band as f32 - centre).powi(2)).exp()
            }
        };
        let data = (0..FRAMES).flat_map(|t| (0..MELS).map(move |k| band(t, k))).collect();
        let f0_hz = symbols.iter().map(|&symbol| if symbol == vowel { 120.0 } else { 0.0 }).collect();
        (Mel { mels: MELS, data }, symbols, f0_hz)
    }

    /// Each frame averaged with its neighbours over time and bands, as regression does.
    fn blurred(mel: &Mel) -> Mel {
        let at = |t: isize, k: isize| {
            let (t, k) = (t.clamp(0, FRAMES as isize - 1) as usize, k.clamp(0, MELS as isize - 1) as usize);
            mel.frame(t)[k]
        };
        let mean = |t: isize, k: isize| {
            (-2..=2).flat_map(|dt| (-2..=2).map(move |dk| at(t + dt, k + dk))).sum::<f32>() / 25.0
        };
        let data = (0..FRAMES as isize).flat_map(|t| (0..MELS as isize).map(move |k| mean(t, k))).collect();
        Mel { mels: MELS, data }
    }

    fn exemplars() -> Exemplars {
        let (mel, symbols, f0_hz) = recorded();
        let mut found = Exemplars::default();
        found.add(&mel, Frames { symbols: &symbols, f0_hz: &f0_hz });
        found
    }

    #[test]
    fn what_was_blurred_comes_nearer_to_the_recording_and_pauses_and_levels_stay() {
        let (mel, symbols, f0_hz) = recorded();
        let said = blurred(&mel);
        for f0_hz in [f0_hz.as_slice(), &[]] {
            let attracted = exemplars().attract(said.clone(), Frames { symbols: &symbols, f0_hz });
            let inner = 12 * MELS..48 * MELS;
            let distance = |now: &Mel| square(&now.data[inner.clone()], &mel.data[inner.clone()]);
            assert!(
                distance(&attracted) < 0.75 * distance(&said),
                "{} {}",
                distance(&attracted),
                distance(&said)
            );
            assert_eq!(attracted.frame(0), said.frame(0));
            let level = |mel: &Mel| mel.frame(20).iter().sum::<f32>();
            assert!((level(&attracted) - level(&said)).abs() < 1e-3);
        }
    }

    #[test]
    fn the_path_follows_a_recording_rather_than_jump() {
        let (_, symbols, f0_hz) = recorded();
        let found = exemplars();
        let frames = Frames { symbols: &symbols, f0_hz: &f0_hz };
        let keys = found.keys();
        let candidates: Vec<Vec<Candidate>> =
            (12..28).map(|t| found.nearest(&keys, &keys[t], frames, t)).collect();
        assert_eq!(found.path(&candidates), (12..28).collect::<Vec<_>>());
        assert_eq!(found.jump(20, 21), 0.0);
        assert!(found.jump(FRAMES - 1, 0) >= JUMP * LEAST_JUMP, "a clip ends");
    }

    #[test]
    fn nothing_is_drawn_towards_nothing() {
        let (mel, symbols, f0_hz) = recorded();
        let frames = Frames { symbols: &symbols, f0_hz: &f0_hz };
        assert_eq!(Exemplars::default().attract(mel.clone(), frames), mel);
        let nothing = Mel { mels: MELS, data: Vec::new() };
        assert_eq!(exemplars().attract(nothing.clone(), Frames { symbols: &[], f0_hz: &[] }), nothing);
        let mut many = exemplars();
        (0..2 * MAX_FRAMES / FRAMES).for_each(|_| many.add(&mel, frames));
        assert_eq!(many.cepstra.len(), MAX_FRAMES);
    }

    #[test]
    fn tensors_bring_them_back_and_hostile_ones_are_refused() {
        let mut found = exemplars();
        let (mel, symbols, f0_hz) = recorded();
        found.add(&mel, Frames { symbols: &symbols, f0_hz: &f0_hz });
        let mut weights = Weights::new();
        found.put(&mut weights, &Device::flex());
        let stored = || -> HostWeights {
            let host = |(name, Weight { shape, values }): (&String, &Weight)| {
                (name.clone(), (shape.clone(), values.to_data().try_to_vec().unwrap()))
            };
            weights.iter().map(host).collect()
        };
        assert_eq!(Exemplars::take(&mut stored()), Some(found));
        assert_eq!(Exemplars::take(&mut HostWeights::new()), Some(Exemplars::default()));
        let hostile = |change: &dyn Fn(&mut HostWeights)| {
            let mut weights = stored();
            change(&mut weights);
            Exemplars::take(&mut weights)
        };
        assert_eq!(hostile(&|weights| weights.get_mut(CEPSTRA).unwrap().1[3] = f32::NAN), None);
        assert_eq!(hostile(&|weights| weights.get_mut(CEPSTRA).unwrap().1.truncate(FRAMES)), None);
        assert_eq!(hostile(&|weights| weights.get_mut(PHONES).unwrap().1[0] = 1e9), None);
        assert_eq!(hostile(&|weights| weights.get_mut(PHONES).unwrap().1[0] = f32::NAN), None);
        assert_eq!(hostile(&|weights| weights.get_mut(LAST).unwrap().0 = vec![1]), None);
        assert_eq!(hostile(&|weights| drop(weights.remove(VOICED))), None);
        assert_eq!(hostile(&|weights| drop(weights.remove(CEPSTRA))), None);
    }
}
