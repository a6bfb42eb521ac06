//! The edit distance between recognised phones and those of a text.

use super::recogniser::{PAUSE, class};
use crate::text::symbols::Symbol;

/// The number of edits between the recognised phones and those of a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PhonemeErrors {
    /// Insertions, deletions and substitutions.
    pub errors: usize,
    /// The number of phones of the text.
    pub length: usize,
}

impl std::ops::AddAssign for PhonemeErrors {
    fn add_assign(&mut self, other: Self) {
        *self = Self { errors: self.errors + other.errors, length: self.length + other.length };
    }
}

impl PhonemeErrors {
    /// Returns the phoneme error rate.
    pub fn rate(self) -> f32 {
        self.errors as f32 / self.length.max(1) as f32
    }
}

/// Returns the classes of a text's phones without pauses, with adjacent equal ones merged.
pub fn said(symbols: &[Symbol]) -> Vec<usize> {
    let mut said: Vec<usize> = symbols.iter().map(|&symbol| class(symbol)).collect();
    said.dedup(); // "bad day" has one audible D.
    said.retain(|&class| class != PAUSE);
    said
}

/// The edits that turn one sequence into another.
#[derive(Debug, PartialEq, Eq)]
pub struct Edits {
    /// The number of edits.
    pub count: usize,
    /// The indices, in both sequences, of the equal items that are kept.
    pub kept: Vec<(usize, usize)>,
}

/// Finds the fewest insertions, deletions and substitutions (Levenshtein 1966).
pub fn edits<T: PartialEq>(from: &[T], to: &[T]) -> Edits {
    let width = to.len() + 1;
    let mut table: Vec<usize> = (0..width).collect();
    for (row, item) in from.iter().enumerate() {
        table.push(row + 1);
        for (column, other) in to.iter().enumerate() {
            let above = row * width + column;
            let exchanged = table[above] + usize::from(item != other);
            table.push(exchanged.min(table[above + 1] + 1).min(table[above + width] + 1));
        }
    }
    let (mut row, mut column) = (from.len(), to.len());
    let mut kept = Vec::new();
    while row > 0 && column > 0 {
        let (here, diagonal) = (table[row * width + column], table[(row - 1) * width + column - 1]);
        let equal = from[row - 1] == to[column - 1];
        if here == diagonal + usize::from(!equal) {
            (row, column) = (row - 1, column - 1);
            if equal {
                kept.push((row, column));
            }
        } else if here == table[(row - 1) * width + column] + 1 {
            row -= 1;
        } else {
            column -= 1;
        }
    }
    kept.reverse();
    Edits { count: table[from.len() * width + to.len()], kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted_and_kept_items_listed() {
        let bytes = |word: &str| word.bytes().map(usize::from).collect::<Vec<_>>();
        let kept = vec![(1, 1), (2, 2), (3, 3), (5, 5)];
        assert_eq!(edits(&bytes("kitten"), &bytes("sitting")), Edits { count: 3, kept });
        assert_eq!(edits(&[], &[1, 2]), Edits { count: 2, kept: vec![] });
    }
}
