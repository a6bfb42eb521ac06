//! Finds the fused operations that cause a mismatch, by replacing them by their plain references.

use serde::Serialize;
use std::collections::BTreeSet;

use crate::Operation;

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "found")]
pub enum Bisection {
    /// There is no mismatch with all operations fused.
    NoMismatch,
    /// The mismatch remains with no operation fused, so that the cause is elsewhere.
    NotFused,
    /// The mismatch disappears if the operations of any of these sets are plain, and with no smaller set.
    Operations { smallest: Vec<BTreeSet<Operation>>, runs: usize },
}

impl Bisection {
    /// Returns the result as a sentence.
    pub fn verdict(&self) -> String {
        match self {
            Self::NoMismatch => "nothing differs with every operation fused".into(),
            Self::NotFused => "it differs with every operation plain: no fused operation is at fault".into(),
            Self::Operations { smallest, runs } => {
                let set = |set: &BTreeSet<Operation>| {
                    set.iter().map(|operation| operation.name()).collect::<Vec<_>>().join(" and ")
                };
                let sets: Vec<String> = smallest.iter().map(set).collect();
                format!(
                    "the mismatch goes away without the fused {} ({runs} runs)",
                    sets.join(", or without ")
                )
            }
        }
    }
}

/// Tries sets of plain operations in order of size, so that the sets returned are the smallest.
///
/// * `operations`: the operations of the step
/// * `differs`:    returns whether there is a mismatch with these operations plain
pub async fn bisect<E>(
    operations: &BTreeSet<Operation>,
    mut differs: impl AsyncFnMut(&BTreeSet<Operation>) -> Result<bool, E>,
) -> Result<Bisection, E> {
    if !differs(&BTreeSet::new()).await? {
        return Ok(Bisection::NoMismatch);
    }
    if differs(operations).await? {
        return Ok(Bisection::NotFused);
    }
    let mut runs = 2;
    for size in 1..operations.len() {
        let mut smallest = Vec::new();
        for set in subsets(operations, size) {
            runs += 1;
            if !differs(&set).await? {
                smallest.push(set);
            }
        }
        if !smallest.is_empty() {
            return Ok(Bisection::Operations { smallest, runs });
        }
    }
    Ok(Bisection::Operations { smallest: vec![operations.clone()], runs })
}

/// Returns all subsets of a size. Of the twelve operations there are at most 924.
fn subsets(of: &BTreeSet<Operation>, size: usize) -> Vec<BTreeSet<Operation>> {
    let of: Vec<Operation> = of.iter().copied().collect();
    let chosen = |bits: u32| {
        of.iter().enumerate().filter(move |(index, _)| bits >> index & 1 == 1).map(|(_, &one)| one)
    };
    (0u32..1 << of.len())
        .filter(|bits| bits.count_ones() as usize == size)
        .map(|bits| chosen(bits).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(faulty: &[Operation], elsewhere: bool) -> Bisection {
        let operations = Operation::ALL.into_iter().take(6).collect();
        let differs = async |plain: &BTreeSet<Operation>| {
            Ok::<_, crate::Error>(elsewhere || faulty.iter().any(|operation| !plain.contains(operation)))
        };
        pollster::block_on(bisect(&operations, differs)).unwrap()
    }

    #[test]
    fn the_smallest_set_is_found() {
        let set = |operations: &[Operation]| operations.iter().copied().collect::<BTreeSet<_>>();
        let Bisection::Operations { smallest, runs } = search(&[Operation::Lstm], false) else { panic!() };
        assert_eq!((smallest, runs), (vec![set(&[Operation::Lstm])], 8));
        let both = [Operation::Matmul, Operation::Convolution];
        let Bisection::Operations { smallest, .. } = search(&both, false) else { panic!() };
        assert_eq!(smallest, [set(&both)]);
        assert!(search(&both, false).verdict().contains("matmul and convolution"));
        assert_eq!((search(&[], false), search(&[], true)), (Bisection::NoMismatch, Bisection::NotFused));
    }
}
