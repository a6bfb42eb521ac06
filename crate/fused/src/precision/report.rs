//! A comparison as text, for the command line and for users of the page to copy. It has names of modules and distances, but no speech and no weights.

use super::{compare::Comparison, dump::About, metrics::Metrics};
use crate::Operation;

/// Returns both sides, the rows that fail or all of them, and the verdict.
pub fn report(reference: &About, found: &About, comparison: &Comparison, all: bool) -> String {
    let listed: Vec<_> = if all { comparison.rows.iter().collect() } else { comparison.below().collect() };
    let mut text = format!("A: {}\nB: {}", side(reference), side(found));
    if !listed.is_empty() {
        text += &format!(
            "\n{:<56} {:>27} {:>27}",
            "cosine, relative error, signal to noise in dB", "in the network", "alone"
        );
    }
    for row in listed {
        text += &format!("\n{:<56} {} {}", row.to_string(), figures(row.whole), figures(row.alone));
    }
    text + "\n" + &comparison.verdict()
}

/// Returns device, precision and losses of a step.
pub fn side(about: &About) -> String {
    let plan = &about.plan;
    let names = || plan.plain.iter().map(|operation| operation.name()).collect::<Vec<_>>().join(", ");
    let fused = match plan.plain.len() {
        0 => "fused".to_string(),
        count if count == Operation::ALL.len() => "unfused".to_string(),
        _ => format!("without fused {}", names()),
    };
    let loss = |(name, loss): &(String, Option<f32>)| match loss {
        Some(loss) => format!("{name} {loss:.5}"),
        None => format!("{name} non-finite"),
    };
    let losses: Vec<String> = about.losses.iter().map(loss).collect();
    format!("{}, {}, {fused}; {}", about.device, plan.precision.name(), losses.join(", "))
}

fn figures(metrics: Option<Metrics>) -> String {
    metrics.map_or(format!("{:>27}", ""), |Metrics { cosine, relative_error, sqnr_db, .. }| {
        format!("{cosine:>10.5} {relative_error:>8.1e} {sqnr_db:>7.1}")
    })
}
