//! Counts passed, failed and skipped tests by the output of the test runners.

use std::fmt;
use std::ops::AddAssign;

/// Numbers of tests.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Count {
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
}

impl Count {
    /// Reads a line of libtest, or of wasm-bindgen's runner, which has the same format:
    /// `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.1s`.
    pub fn from_libtest(line: &str) -> Option<Self> {
        let numbers = line.trim().strip_prefix("test result: ")?.split_once(". ")?.1;
        let mut count = Self::default();
        for part in numbers.split("; ") {
            match part.split_once(' ').map(|(number, word)| (number.parse(), word)) {
                Some((Ok(number), "passed")) => count.passed = number,
                Some((Ok(number), "failed")) => count.failed = number,
                Some((Ok(number), "ignored")) => count.skipped = number,
                _ => {}
            }
        }
        Some(count)
    }

    /// Returns whether a line reports that a test could not run and returned early. libtest counts such a test as passed, because a running test cannot be skipped.
    pub fn is_skipped(line: &str) -> bool {
        line.starts_with("SKIPPED ")
    }

    /// Moves a number of tests from passed to skipped.
    pub fn with_skipped(mut self, skipped: usize) -> Self {
        let skipped = skipped.min(self.passed);
        self.passed -= skipped;
        self.skipped += skipped;
        self
    }

    /// Reads the end of Node's TAP report: `# pass 3`, `# fail 0`, `# cancelled 0`, `# skipped 0`, `# todo 0`.
    pub fn from_tap(report: &str) -> Self {
        let number = |word: &str| -> usize {
            let last = report
                .lines()
                .rev()
                .find_map(|line| line.strip_prefix("# ")?.strip_prefix(word)?.strip_prefix(' '));
            last.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
        };
        Self {
            passed: number("pass"),
            failed: number("fail") + number("cancelled"),
            skipped: number("skipped") + number("todo"),
        }
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

/// `3 passed, 0 failed`, followed by `, 1 skipped` if the number is not 0.
impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 { write!(f, ", {} skipped", self.skipped) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_libtest_are_read() {
        let passed =
            "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.31s";
        assert_eq!(Count::from_libtest(passed), Some(Count { passed: 12, failed: 0, skipped: 1 }));
        let failed =
            "test result: FAILED. 0 passed; 2 failed; 0 ignored; 0 filtered out; finished in 9.87s\n";
        assert_eq!(Count::from_libtest(failed), Some(Count { passed: 0, failed: 2, skipped: 0 }));
        assert_eq!(Count::from_libtest("test audio::wav::round_trip ... ok"), None);
        assert!(Count::is_skipped("SKIPPED lips: ffmpeg is not installed\n") && !Count::is_skipped(passed));
        let some = Count { passed: 3, failed: 1, skipped: 1 };
        assert_eq!(some.with_skipped(2), Count { passed: 1, failed: 1, skipped: 3 });
    }

    #[test]
    fn tap_reports_are_read() {
        let report = "TAP version 13\n# pass 99 is what a test printed\nok 1 - a\n1..5\n# tests 7\n# suites 0\n# pass 3\n# fail 1\n# cancelled 1\n# skipped 1\n# todo 1\n# duration_ms 5.5\n";
        assert_eq!(Count::from_tap(report), Count { passed: 3, failed: 2, skipped: 2 });
        assert_eq!(Count::from_tap("TAP version 13\n"), Count::default());
    }

    #[test]
    fn skipped_tests_are_shown_if_there_are_any() {
        assert_eq!(Count { passed: 3, failed: 0, skipped: 0 }.to_string(), "3 passed, 0 failed");
        assert_eq!(Count { passed: 3, failed: 1, skipped: 2 }.to_string(), "3 passed, 1 failed, 2 skipped");
    }
}
