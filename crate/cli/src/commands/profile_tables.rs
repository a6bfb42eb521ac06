//! The tables that `ownvoice profile` prints, for the base and for lips.

use crate::check::loader::LoaderProfile;
use ownvoice::check::profile::Row;

/// Returns the table of each module's time.
pub fn rows(rows: &[Row]) -> String {
    let mut text = format!("{:<12} {:>10} {:>10}", "ms", "forward", "backward");
    for row in rows {
        let backward = row.backward_ms.map_or(String::new(), |time| format!("{time:.2}"));
        text += &format!("\n{:<12} {:>10.2} {backward:>10}", row.module, row.forward_ms);
    }
    text
}

/// Returns the table of whole steps with each data loader.
pub fn loader_table(loaders: &[LoaderProfile]) -> String {
    let mut text =
        format!("{:<12} {:>10} {:>10} {:>10} {:>10}", "loader", "ms a step", "ms waited", "idle %", "queue");
    for LoaderProfile { loader, threads, step_ms, waited_ms, idle_percent, queue_depth } in loaders {
        text += &format!(
            "\n{:<12} {step_ms:>10.1} {waited_ms:>10.2} {idle_percent:>10.2} {queue_depth:>10.1}",
            if *threads == 0 { (*loader).to_string() } else { format!("{loader}, {threads}") }
        );
    }
    text
}
