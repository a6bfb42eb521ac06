//! Numbers in American English words, separated by spaces.

const SMALL: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 10] =
    ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const SCALES: [(u64, &str); 6] = [
    (1_000_000_000_000_000_000, "quintillion"),
    (1_000_000_000_000_000, "quadrillion"),
    (1_000_000_000_000, "trillion"),
    (1_000_000_000, "billion"),
    (1_000_000, "million"),
    (1_000, "thousand"),
];

/// Returns a cardinal number: "one hundred fifteen".
pub fn cardinal(value: u64) -> String {
    let mut words = Vec::new();
    push(value, &mut words);
    words.join(" ")
}

/// Appends the words of a number.
fn push(value: u64, words: &mut Vec<&'static str>) {
    if let Some((scale, name)) = SCALES.iter().find(|(scale, _)| value >= *scale) {
        push(value / scale, words);
        words.push(name);
        push_rest(value % scale, words);
    } else if value >= 100 {
        words.extend([SMALL[(value / 100) as usize], "hundred"]);
        push_rest(value % 100, words);
    } else if value >= 20 {
        words.push(TENS[(value / 10) as usize]);
        push_rest(value % 10, words);
    } else {
        words.push(SMALL[value as usize]);
    }
}

/// Appends the words of a remainder, which is not spoken if it is zero.
fn push_rest(value: u64, words: &mut Vec<&'static str>) {
    if value > 0 {
        push(value, words);
    }
}

/// Returns an ordinal number: "twenty first".
pub fn ordinal(value: u64) -> String {
    let words = cardinal(value);
    let start = words.rfind(' ').map_or(0, |space| space + 1);
    let (before, last) = words.split_at(start);
    let last = match last {
        "one" => "first".to_string(),
        "two" => "second".to_string(),
        "three" => "third".to_string(),
        "five" => "fifth".to_string(),
        "eight" => "eighth".to_string(),
        "nine" => "ninth".to_string(),
        "twelve" => "twelfth".to_string(),
        last => match last.strip_suffix('y') {
            Some(stem) => format!("{stem}ieth"),
            None => format!("{last}th"),
        },
    };
    format!("{before}{last}")
}

/// Returns a year: "nineteen oh five", "two thousand five", "twenty twenty four".
pub fn year(year: u64) -> String {
    let (century, rest) = (year / 100, year % 100);
    match rest {
        _ if !(1000..10_000).contains(&year) || century % 10 == 0 && rest < 10 => cardinal(year),
        0 => format!("{} hundred", cardinal(century)),
        1..10 => format!("{} oh {}", cardinal(century), cardinal(rest)),
        _ => format!("{} {}", cardinal(century), cardinal(rest)),
    }
}

/// Returns a decade: "nineteen nineties", "eighties".
pub fn decade(value: u64) -> String {
    let words = if (1100..2100).contains(&value) { year(value) } else { cardinal(value) };
    match words.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{words}s"),
    }
}

/// Returns a number digit by digit, leaving out other characters.
pub fn one_by_one(digits: &str) -> String {
    let mut words = String::new();
    for digit in digits.bytes().filter(u8::is_ascii_digit) {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(SMALL[(digit - b'0') as usize]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cardinals() {
        let cases = [
            (0, "zero"),
            (13, "thirteen"),
            (20, "twenty"),
            (42, "forty two"),
            (100, "one hundred"),
            (115, "one hundred fifteen"),
            (1000, "one thousand"),
            (1_000_001, "one million one"),
            (999_999, "nine hundred ninety nine thousand nine hundred ninety nine"),
            (2_000_000_000, "two billion"),
        ];
        for (value, words) in cases {
            assert_eq!(cardinal(value), words);
        }
        assert!(cardinal(u64::MAX).starts_with("eighteen quintillion four hundred forty six quadrillion"));
    }

    #[test]
    fn ordinals() {
        let cases = [
            (1, "first"),
            (2, "second"),
            (3, "third"),
            (5, "fifth"),
            (8, "eighth"),
            (9, "ninth"),
            (12, "twelfth"),
            (20, "twentieth"),
            (21, "twenty first"),
            (100, "one hundredth"),
            (1000, "one thousandth"),
        ];
        for (value, words) in cases {
            assert_eq!(ordinal(value), words);
        }
    }

    #[test]
    fn years_and_decades() {
        let cases = [
            (1900, "nineteen hundred"),
            (1905, "nineteen oh five"),
            (1995, "nineteen ninety five"),
            (2000, "two thousand"),
            (2005, "two thousand five"),
            (2010, "twenty ten"),
            (800, "eight hundred"),
        ];
        for (value, words) in cases {
            assert_eq!(year(value), words);
        }
        assert_eq!(
            (decade(1990), decade(80), decade(2000), decade(1900)),
            (
                "nineteen nineties".into(),
                "eighties".into(),
                "two thousands".into(),
                "nineteen hundreds".into()
            )
        );
    }

    #[test]
    fn digits() {
        assert_eq!((one_by_one("007"), one_by_one("a-b")), ("zero zero seven".into(), String::new()));
    }
}
