//! The lattice of an utterance: a left-to-right model of its symbols with minimum durations and optional silences between words.

use super::{
    Alignment,
    recogniser::{CLASSES, PAUSE, class},
    share,
};
use crate::text::symbols::{self, SILENCE, Symbol};

/// The least frames of a phone, since shorter phones are rare; it is lowered to 1 where a recording is too short.
pub(super) const PHONE_FRAMES: usize = 2;
/// The least frames of a pause without punctuation; the closures of stops between words are shorter silences.
const PAUSE_FRAMES: usize = 4;
/// The cost of entering such a pause, in nats.
const PAUSE_COST: f32 = 4.0;
/// The most states times frames that a search stores: enough for a clip of two minutes with thirty symbols a second.
const MAX_STEPS: usize = 1 << 27;

/// A symbol of the text, or a silence that may follow a word.
#[derive(Debug, Clone, Copy)]
struct Slot {
    symbol: Symbol,
    optional: bool,
}

/// A lattice in which each slot is a chain of as many states as its minimum duration in frames.
#[derive(Debug, Clone)]
pub(super) struct Lattice {
    slots: Vec<Slot>,
    /// The index of each state's slot.
    states: Vec<usize>,
}

/// The transition by which a path enters a state.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    Never,
    Stay,
    Next,
    /// Skips the optional pause before.
    Skip,
}

impl Lattice {
    /// Creates the lattice of a text (see [`crate::text::to_symbols`]), with [`PHONE_FRAMES`] for every phone if the recording is long enough. Returns `None` with
    /// fewer frames than symbols, or with more than [`MAX_STEPS`].
    pub fn fitting(symbols: &[Symbol], word_ends: &[bool], frames: usize) -> Option<Self> {
        assert_eq!(symbols.len(), word_ends.len(), "each symbol has its place in a word");
        let mut slots = Vec::with_capacity(2 * symbols.len());
        for (index, (&symbol, &ends)) in symbols.iter().zip(word_ends).enumerate() {
            slots.push(Slot { symbol, optional: false });
            if ends && symbols.get(index + 1).is_some_and(|&next| !symbols::is_pause(next)) {
                slots.push(Slot { symbol: SILENCE, optional: true });
            }
        }
        let shortest = |phone_frames: usize| -> usize {
            slots.iter().filter(|slot| !slot.optional).map(|slot| chain(slot, phone_frames)).sum()
        };
        let phone_frames =
            [PHONE_FRAMES, 1].into_iter().find(|&phone_frames| shortest(phone_frames) <= frames)?;
        let states: usize = slots.iter().map(|slot| chain(slot, phone_frames)).sum();
        if states.saturating_mul(frames) > MAX_STEPS {
            return None;
        }
        let states = slots
            .iter()
            .enumerate()
            .flat_map(|(index, slot)| std::iter::repeat_n(index, chain(slot, phone_frames)))
            .collect();
        Some(Self { slots, states })
    }

    fn slot(&self, state: usize) -> Slot {
        self.slots[self.states[state]]
    }

    /// Iterates over the transitions into a state: the previous state, the kind, and the cost in nats.
    fn steps_into(&self, state: usize) -> impl Iterator<Item = (usize, Step, f32)> {
        let enters = state == 0 || self.states[state - 1] != self.states[state];
        let leaves = self.states.get(state + 1) != Some(&self.states[state]);
        let next = state.checked_sub(1).map(|from| {
            (from, Step::Next, if self.slot(state).optional && enters { PAUSE_COST } else { 0.0 })
        });
        let stay = leaves.then_some((state, Step::Stay, 0.0));
        let skip = (enters && state > 0 && self.slot(state - 1).optional)
            .then(|| (state - 1 - PAUSE_FRAMES, Step::Skip, 0.0));
        next.into_iter().chain(stay).chain(skip)
    }

    /// Returns the most likely path (Viterbi 1967).
    ///
    /// * `posteriors`: log posteriors of the classes in each frame
    pub fn best_path(&self, posteriors: &[[f32; CLASSES]]) -> Option<Alignment> {
        let width = self.states.len();
        let mut steps = vec![Step::Never; width * posteriors.len()];
        self.search(posteriors, |time, state, step| steps[time * width + state] = step)?;

        let mut durations = vec![0u32; self.slots.len()];
        let (mut total, mut spoken) = (0.0, 0);
        let mut state = width - 1;
        for (time, frame) in posteriors.iter().enumerate().rev() {
            let class = class(self.slot(state).symbol);
            durations[self.states[state]] += 1;
            if class != PAUSE {
                total += frame[class];
                spoken += 1;
            }
            match steps[time * width + state] {
                Step::Never => unreachable!("the best path begins at the first state"),
                Step::Stay => (),
                Step::Next => state = state.saturating_sub(1),
                Step::Skip => state -= 1 + PAUSE_FRAMES,
            }
        }
        let kept = self.slots.iter().map(|slot| slot.symbol).zip(durations).filter(|(_, frames)| *frames > 0);
        let (symbols, mut durations): (Vec<Symbol>, Vec<u32>) = kept.unzip();
        share(&symbols, &mut durations);
        Some(Alignment { symbols, durations, score: total / spoken.max(1) as f32 })
    }

    /// Returns the log likelihood of the most likely path, by which texts of one recording can be compared.
    ///
    /// * `posteriors`: log posteriors of the classes in each frame
    pub fn best_score(&self, posteriors: &[[f32; CLASSES]]) -> Option<f32> {
        self.search(posteriors, |_, _, _| ())
    }

    /// Searches the most likely path, and returns its log likelihood if there is one. `record` is called with each frame, each state, and the best step into it.
    fn search(
        &self,
        posteriors: &[[f32; CLASSES]],
        mut record: impl FnMut(usize, usize, Step),
    ) -> Option<f32> {
        let width = self.states.len();
        let mut scores = vec![f32::NEG_INFINITY; width];
        for (time, frame) in posteriors.iter().enumerate() {
            // From the last state down, so that `scores` still holds the frame before to the left.
            for state in (0..width).rev() {
                let (mut best, mut step) = (f32::NEG_INFINITY, Step::Never);
                if time == 0 && state == 0 {
                    (best, step) = (0.0, Step::Next);
                }
                for (from, kind, cost) in self.steps_into(state).filter(|_| time > 0) {
                    if scores[from] - cost > best {
                        (best, step) = (scores[from] - cost, kind);
                    }
                }
                scores[state] = best + frame[class(self.slot(state).symbol)];
                record(time, state, step);
            }
        }
        scores.last().copied().filter(|score| score.is_finite())
    }

    /// Returns the number of states, by which the time of a search grows.
    pub fn width(&self) -> usize {
        self.states.len()
    }

    /// Computes the probability of each class in each frame over all paths (forward-backward algorithm, Rabiner 1989, III.A, scaled in each frame as in V.A).
    ///
    /// * `posteriors`: log posteriors of the classes in each frame
    pub fn occupancies(&self, posteriors: &[[f32; CLASSES]]) -> Option<Vec<[f32; CLASSES]>> {
        let (width, frames) = (self.states.len(), posteriors.len());
        let classes: Vec<usize> = (0..width).map(|state| class(self.slot(state).symbol)).collect();
        let steps: Vec<(usize, usize, f64)> = (0..width)
            .flat_map(|state| {
                self.steps_into(state).map(move |(from, _, cost)| (from, state, f64::from(-cost).exp()))
            })
            .collect();
        let emit = |states: &mut [f64], time: usize| {
            let likelihoods = posteriors[time].map(|log| f64::from(log).exp());
            states.iter_mut().zip(&classes).for_each(|(state, &class)| *state *= likelihoods[class]);
        };

        let mut forward = vec![0.0; width * frames];
        forward[0] = 1.0;
        for time in 1..frames {
            let (before, now) = forward[(time - 1) * width..(time + 1) * width].split_at_mut(width);
            steps.iter().for_each(|&(from, to, share)| now[to] += share * before[from]);
            emit(now, time);
            scale(now)?;
        }

        let mut occupied = vec![[0.0; CLASSES]; frames];
        let mut backward = vec![0.0; width];
        backward[width - 1] = 1.0;
        for time in (0..frames).rev() {
            if time + 1 < frames {
                emit(&mut backward, time + 1);
                let mut before = vec![0.0; width];
                steps.iter().for_each(|&(from, to, share)| before[from] += share * backward[to]);
                scale(&mut before)?;
                backward = before;
            }
            let now = forward[time * width..].iter().zip(&backward).map(|(before, after)| before * after);
            let total: f64 = now.clone().sum();
            if !total.is_normal() {
                return None;
            }
            now.zip(&classes).for_each(|(state, &class)| occupied[time][class] += (state / total) as f32);
        }
        Some(occupied)
    }
}

/// Scales to a maximum of one, because the probabilities of many frames underflow and only their ratios matter. Returns `None` if all are zero.
fn scale(states: &mut [f64]) -> Option<()> {
    let most = states.iter().copied().fold(0.0, f64::max);
    states.iter_mut().for_each(|state| *state /= most);
    (most > 0.0).then_some(())
}

/// Returns the number of states of a slot.
fn chain(slot: &Slot, phone_frames: usize) -> usize {
    match (slot.optional, symbols::is_pause(slot.symbol)) {
        (true, _) => PAUSE_FRAMES,
        (false, true) => 1,
        (false, false) => phone_frames,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lattice(names: &str, frames: usize) -> Lattice {
        let symbols = symbols::parse(names).unwrap();
        let mut ends = vec![false; symbols.len()];
        ends[2] = true; // A pause may follow the third symbol.
        Lattice::fitting(&symbols, &ends, frames).unwrap()
    }

    fn posteriors(frames: usize) -> Vec<[f32; CLASSES]> {
        let value = |time: usize, class: usize| -0.5 - ((time * 31 + class * 17) % 23) as f32 / 5.0;
        (0..frames).map(|time| std::array::from_fn(|class| value(time, class))).collect()
    }

    #[test]
    fn occupancies_are_sums_over_all_paths() {
        let (lattice, frames) = (lattice("_ K AE1 T _", 13), posteriors(13));
        // Enumerates all paths.
        fn walk(
            lattice: &Lattice,
            frames: &[[f32; CLASSES]],
            path: &mut Vec<usize>,
            score: f32,
            found: &mut Vec<(Vec<usize>, f32)>,
        ) {
            let (time, state) = (path.len(), *path.last().unwrap());
            if time == frames.len() {
                return if state + 1 == lattice.states.len() {
                    found.push((path.clone(), score));
                };
            }
            for next in 0..lattice.states.len() {
                for (_, _, cost) in lattice.steps_into(next).filter(|(from, ..)| *from == state) {
                    path.push(next);
                    walk(
                        lattice,
                        frames,
                        path,
                        score - cost + frames[time][class(lattice.slot(next).symbol)],
                        found,
                    );
                    path.pop();
                }
            }
        }
        let mut found = Vec::new();
        walk(&lattice, &frames, &mut vec![0], frames[0][PAUSE], &mut found);
        assert!(found.len() > 100, "{}", found.len());
        let total: f32 = found.iter().map(|(_, score)| score.exp()).sum();
        let mut expected = vec![[0.0f32; CLASSES]; frames.len()];
        for (path, score) in &found {
            path.iter()
                .zip(&mut expected)
                .for_each(|(&state, frame)| frame[class(lattice.slot(state).symbol)] += score.exp() / total);
        }
        let occupancies = lattice.occupancies(&frames).unwrap();
        let apart = occupancies
            .iter()
            .flatten()
            .zip(expected.iter().flatten())
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f32::max);
        assert!(apart < 1e-4, "{apart}");
    }

    #[test]
    fn too_few_frames_have_no_lattice() {
        let symbols = symbols::parse("_ K AE1 T _").unwrap();
        assert!(Lattice::fitting(&symbols, &[false; 5], 4).is_none());
        assert!(Lattice::fitting(&symbols, &[false; 5], 5).unwrap().occupancies(&posteriors(5)).is_some());
    }

    /// Memory is bounded: these steps would take 3 GB.
    #[test]
    fn too_many_steps_have_no_lattice() {
        let phone = Symbol::from_name("B").unwrap();
        assert!(Lattice::fitting(&[phone; 30_000], &[false; 30_000], 100_000).is_none());
        assert!(Lattice::fitting(&[phone; 300], &[false; 300], 100_000).is_some());
    }
}
