//! What long work reports on its way. The library prints and draws nothing: whoever starts the work decides what becomes of this.

use std::path::Path;

use crate::Result;

/// Receives reports, from any thread. Each method may be left out.
pub trait Report: Sync {
    /// A line worth keeping: what begins, what was measured.
    fn note(&self, _line: &str) {}

    /// How far the present task is.
    fn progress(&self, _progress: &Progress) {}

    /// A training has ended, and its curve may be drawn.
    ///
    /// * `csv`: the curve, a line every few steps
    /// * `picture`: where a drawing of it belongs, without an ending
    fn curve(&self, _csv: &Path, _picture: &Path) -> Result<()> {
        Ok(())
    }
}

/// How far a task is.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress<'a> {
    pub done: usize,
    /// `None` where the end is not known.
    pub of: Option<usize>,
    /// The task, or its latest figures.
    pub message: &'a str,
}

/// Discards every report.
impl Report for () {}
