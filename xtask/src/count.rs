//! How many tests passed, failed and were skipped, read from what the test runners print.

use std::fmt;
use std::ops::AddAssign;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Count {
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
}

impl Count {
    /// From one line of libtest or of wasm-bindgen's runner, which prints the same:
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

    /// From what a test prints that passes only because it could not run: libtest cannot skip a test once it runs.
    pub fn is_skipped(line: &str) -> bool {
        line.starts_with("SKIPPED ")
    }

    /// The same tests, so many of which were skipped though they count as passed.
    pub fn without(mut self, skipped: usize) -> Self {
        let skipped = skipped.min(self.passed);
        self.passed -= skipped;
        self.skipped += skipped;
        self
    }

    /// From the end of node's TAP report: `# pass 3`, `# fail 0`, `# cancelled 0`, `# skipped 0`, `# todo 0`.
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

/// `3 passed, 0 failed`, and `, 1 skipped` only if any were.
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
    fn libtest_lines() {
        let passed =
            "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.31s";
        assert_eq!(Count::from_libtest(passed), Some(Count { passed: 12, failed: 0, skipped: 1 }));
        let failed =
            "test result: FAILED. 0 passed; 2 failed; 0 ignored; 0 filtered out; finished in 9.87s\n";
        assert_eq!(Count::from_libtest(failed), Some(Count { passed: 0, failed: 2, skipped: 0 }));
        assert_eq!(Count::from_libtest("test audio::wav::round_trip ... ok"), None);
        assert!(Count::is_skipped("SKIPPED lips: ffmpeg is not installed\n") && !Count::is_skipped(passed));
        let some = Count { passed: 3, failed: 1, skipped: 1 };
        assert_eq!(some.without(2), Count { passed: 1, failed: 1, skipped: 3 });
    }

    #[test]
    fn tap_report() {
        let report = "TAP version 13\n# pass 99 is what a test printed\nok 1 - a\n1..5\n# tests 7\n# suites 0\n# pass 3\n# fail 1\n# cancelled 1\n# skipped 1\n# todo 1\n# duration_ms 5.5\n";
        assert_eq!(Count::from_tap(report), Count { passed: 3, failed: 2, skipped: 2 });
        assert_eq!(Count::from_tap("TAP version 13\n"), Count::default());
    }

    #[test]
    fn last_line() {
        assert_eq!(Count { passed: 3, failed: 0, skipped: 0 }.to_string(), "3 passed, 0 failed");
        assert_eq!(Count { passed: 3, failed: 1, skipped: 2 }.to_string(), "3 passed, 1 failed, 2 skipped");
    }
}
