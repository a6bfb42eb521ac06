//! Progress reports of long tasks. The library prints and draws nothing; the caller decides what to do with reports.

use std::{
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use crate::Result;

/// A receiver of reports, which may come from any thread. Every method has a default that ignores the report.
pub trait Report: Sync {
    /// Receives a line for the log, such as the start of a task or a measured result.
    fn note(&self, _line: &str) {}

    /// Receives the progress of the current task.
    fn progress(&self, _progress: &Progress) {}

    /// Receives the curve of a training that has ended, to be drawn.
    ///
    /// * `csv`:     the file of the curve, with one line for every few steps
    /// * `picture`: the path for a drawing, without extension
    fn curve(&self, _csv: &Path, _picture: &Path) -> Result<()> {
        Ok(())
    }
}

/// The progress of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress<'a> {
    pub done: usize,
    /// The total, or `None` if it is not known.
    pub of: Option<usize>,
    /// The name of the task, or its latest figures.
    pub message: &'a str,
}

/// Discards every report.
impl Report for () {}

/// Counts finished items on any thread, and reports each.
pub struct Counter<'a> {
    report: &'a dyn Report,
    done: AtomicUsize,
    of: usize,
    message: &'static str,
}

impl<'a> Counter<'a> {
    /// * `of`: the number of items
    pub fn new(report: &'a dyn Report, of: usize, message: &'static str) -> Self {
        Self { report, done: 0.into(), of, message }
    }

    /// Counts one item.
    pub fn count(&self) {
        let done = 1 + self.done.fetch_add(1, Ordering::Relaxed);
        self.report.progress(&Progress { done, of: Some(self.of), message: self.message });
    }
}
