//! Proposes the modules for half precision from a comparison.

use std::collections::BTreeSet;

use burn_fused::{
    Precision,
    precision::{compare::Comparison, dump::Dump},
};

/// Returns the paths of the modules that use half precision in the dump and are not at fault there. They are shortened to common prefixes: `postnet` if no module
/// of it is at fault.
///
/// * `found`: the dump in mixed precision that `comparison` compared
pub fn propose(comparison: &Comparison, found: &Dump) -> Vec<String> {
    let faulty = comparison.paths_at_fault();
    let (mut suitable, mut unsuitable) = (BTreeSet::new(), BTreeSet::new());
    for record in &found.calls {
        let path = record.call.path.as_str();
        let in_half = record.precision == Precision::Mixed && !faulty.contains(path);
        if in_half { &mut suitable } else { &mut unsuitable }.insert(path);
    }
    let mut proposed: BTreeSet<String> = BTreeSet::new();
    for path in suitable {
        let ends = path.match_indices('.').map(|(at, _)| at).chain([path.len()]);
        let below = |prefix: &str, other: &str| {
            other.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let shortest =
            ends.map(|end| &path[..end]).find(|prefix| !unsuitable.iter().any(|other| below(prefix, other)));
        proposed.extend(shortest.map(str::to_string));
    }
    proposed.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn_fused::{
        ComputePlan, Operation,
        precision::{
            Metrics, Row, What,
            dump::{About, CallName, CallRecord, Values},
        },
        trace::Attributes,
    };
    use std::collections::BTreeMap;

    #[test]
    fn modules_at_fault_are_left_out() {
        let paths = [
            "encoder.convolutions.0",
            "encoder.lstm.forward",
            "ranges.lstm.forward",
            "postnet.convolutions.0",
            "postnet.convolutions.1",
        ];
        let plan = ComputePlan::from_precision(Precision::Mixed);
        let values = || Values { shape: vec![1], values: vec![1.0] };
        let calls = paths.map(|path| CallRecord {
            call: CallName { path: path.into(), operation: Operation::Matmul, number: 0 },
            precision: plan.precision_at(path),
            attributes: Attributes::None,
            inputs: Vec::new(),
            output: values(),
            gradient: None,
        });
        let dump = Dump {
            about: About { plan, ..About::default() },
            calls: calls.to_vec(),
            gradients: BTreeMap::new(),
            updates: BTreeMap::new(),
        };
        let of = |faulty: &str| {
            let row = |path: &str| Row {
                path: path.into(),
                operation: Some(Operation::Matmul),
                number: 0,
                what: What::Output,
                whole: None,
                alone: Some(Metrics::between(&[1.0], &[if path == faulty { f32::NAN } else { 1.0 }])),
            };
            propose(&Comparison { cosine: 0.98, rows: paths.map(row).to_vec(), unmatched: Vec::new() }, &dump)
        };
        assert_eq!(of("none"), ["encoder", "postnet"]);
        assert_eq!(of("postnet.convolutions.1"), ["encoder", "postnet.convolutions.0"]);
        assert_eq!(of("encoder.lstm.forward"), ["encoder.convolutions", "postnet"]);
    }
}
