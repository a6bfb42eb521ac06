//! The output of a verb: results on standard output, notes and progress on standard error.

use std::{
    fmt::Display,
    path::Path,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::curve;
use ownvoice::{
    Error, Result,
    report::{Progress, Report},
};

/// The output of one verb.
pub struct Console {
    json: bool,
    quiet: bool,
    /// The progress bar, which indicatif draws only on a terminal.
    bar: Mutex<Option<ProgressBar>>,
    /// Whether standard output is the file that is made, so that results are printed to standard error.
    is_output: AtomicBool,
}

impl Console {
    /// Creates the output of a verb.
    ///
    /// * `json`:  prints results as JSON, one per line
    /// * `quiet`: prints no notes, no progress, and no results as text
    pub fn new(json: bool, quiet: bool) -> Self {
        Self { json, quiet, bar: Mutex::new(None), is_output: AtomicBool::new(false) }
    }

    /// Prints a result as a line of JSON or as text.
    pub fn result(&self, json: &impl Serialize, text: impl Display) {
        self.clear();
        if self.json {
            self.print(serde_json::to_string(json).expect("plain data"));
        } else if !self.quiet {
            self.print(text);
        }
    }

    fn print(&self, line: impl Display) {
        match self.is_output.load(Ordering::Relaxed) {
            true => eprintln!("{line}"),
            false => println!("{line}"),
        }
    }

    /// Keeps standard output for the file that a verb makes.
    pub fn keep_standard_output(&self) {
        self.is_output.store(true, Ordering::Relaxed);
    }

    /// Prints a heading, such as that of a table, if results are printed as text.
    pub fn heading(&self, text: impl Display) {
        if !self.json && !self.quiet {
            println!("{text}");
        }
    }

    pub fn warn(&self, line: impl Display) {
        self.note(&format!("warning: {line}"));
    }

    fn bar(&self) -> MutexGuard<'_, Option<ProgressBar>> {
        self.bar.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn clear(&self) {
        if let Some(bar) = self.bar().take() {
            bar.finish_and_clear();
        }
    }
}

impl Report for Console {
    fn note(&self, line: &str) {
        match &*self.bar() {
            _ if self.quiet => {}
            Some(bar) => bar.suspend(|| eprintln!("{line}")),
            None => eprintln!("{line}"),
        }
    }

    fn progress(&self, progress: &Progress) {
        if self.quiet {
            return;
        }
        let &Progress { done, of, message } = progress;
        let mut shown = self.bar();
        let bar = shown.get_or_insert_with(|| {
            let template = "{elapsed_precise} {bar:30} {pos}/{len} {msg} ({eta} left)";
            ProgressBar::no_length()
                .with_style(ProgressStyle::with_template(template).expect("a valid template"))
        });
        of.iter().for_each(|&of| bar.set_length(of as u64));
        bar.set_position(done as u64);
        bar.set_message(message.to_owned());
        if of.is_some_and(|of| done >= of) {
            bar.finish_and_clear();
            *shown = None;
        }
    }

    fn curve(&self, csv: &Path, picture: &Path) -> Result<()> {
        curve::plot(csv, &picture.with_extension("svg"))
    }
}

/// Prints an error to standard error, as JSON or as text.
pub fn print_error(error: &Error, json: bool) {
    match json {
        true => print_json_error(error.code(), &error.to_string()),
        false => eprintln!("error[{}]: {error}", error.code()),
    }
}

/// Prints an error as `{"error": {"code": .., "message": ..}}`.
pub fn print_json_error(code: &str, message: &str) {
    eprintln!("{}", serde_json::json!({"error": {"code": code, "message": message}}));
}
