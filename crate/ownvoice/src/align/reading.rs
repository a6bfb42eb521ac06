//! Chooses how a text was read, where it can be read in several ways: by the path that fits the sound best.

use super::{ForcedAligner, lattice::Lattice};
use crate::{
    Result,
    audio::mel::Mel,
    text::{Phonemizer, alternatives::Alternatives, symbols::Symbol, to_symbols},
};

/// The most states times frames that are searched for the readings of one text: a few seconds of work. Further parts of a longer text keep their first reading.
const MAX_STEPS: usize = 1 << 29;

impl ForcedAligner {
    /// Returns the symbols of a text as it was spoken, and for each whether a word ends with it: notes such as `[laughs]` are left out unless they are spoken,
    /// and a number is read as the speaker read it.
    ///
    /// The parts of the text are decided one after the other, each given the readings of those before.
    ///
    /// # Errors
    /// Fails if no reading of the text can be spoken, with the code of the first.
    pub async fn spoken_symbols(
        &self,
        phonemizer: &Phonemizer,
        mel: &Mel,
        text: &str,
    ) -> Result<(Vec<Symbol>, Vec<bool>)> {
        let alternatives = Alternatives::new(text);
        let symbols =
            |choices: &[usize]| phonemizer.words(&alternatives.text(choices)).map(|words| to_symbols(&words));
        let mut choices = vec![0; alternatives.counts().count()];
        let mut best = symbols(&choices);
        if choices.is_empty() {
            return best;
        }
        let posteriors = self.posteriors(mel).await?;
        let mut steps = 0;
        let mut score = |(symbols, word_ends): &(Vec<Symbol>, Vec<bool>)| {
            let lattice = Lattice::fitting(symbols, word_ends, posteriors.len())?;
            steps += lattice.width() * posteriors.len();
            if steps > MAX_STEPS { None } else { lattice.best_score(&posteriors) }
        };
        let mut best_score = best.as_ref().ok().and_then(&mut score).unwrap_or(f32::NEG_INFINITY);
        for (part, count) in alternatives.counts().enumerate() {
            for reading in 1..count {
                let before = std::mem::replace(&mut choices[part], reading);
                let found = symbols(&choices);
                match found.as_ref().ok().and_then(&mut score) {
                    Some(found_score) if found_score > best_score => {
                        (best, best_score) = (found, found_score);
                    }
                    _ => choices[part] = before,
                }
            }
        }
        best
    }
}
