//! The rule table (`rules.tsv`): context-dependent rewrite rules (Kaplan and Kay 1994, as in Kestrel, Ebden and Sproat 2015).
//!
//! A rule has four columns: a pattern of what is before, the pattern of what is read, a pattern of what is after, and the words. The first rule that
//! matches and whose functions all succeed is taken. An empty context holds everywhere, and one that begins with `!` holds where it does not match.
//!
//! In the words, `{2:c}` applies the function `c` of [`verbalise`](super::verbalise) to group 2, `{2}` is the group itself in lower case, `{2?c}` is nothing
//! but fails where the function does, and brackets hold what is left out unless its groups matched. `@name` calls a verbaliser with the whole match.
//! In patterns, `<n>` and the like stand for the patterns of `MACROS`.

use std::{
    iter::Peekable,
    str::Chars,
    sync::{LazyLock, OnceLock},
};

use regex_lite::Regex;

use super::{
    place::{Match, Reading, TokenContext},
    verbalise,
};

const TABLE: &str = include_str!("rules.tsv");
/// The text that a rule sees to the left and to the right, in bytes.
const WINDOW: usize = 100;
/// The text to the left that is enough for a context without repetitions.
const NEAR: usize = 40;

/// The punctuation that may follow a match in its chunk.
const PUNCTUATION: [char; 15] = ['.', ',', ';', ':', '?', '!', ')', '}', ']', '"', '\'', '*', '–', '—', '~'];

/// The longest word in lower case that a rule reads.
const LONGEST_WORD: usize = 5;

#[rustfmt::skip]
const MACROS: &[(&str, &str)] = &[
    ("<i>", r"(\d+)"), ("<n>", r"(\d+(?:,\d{2,3})*(?:\.\d+)?|\.\d+)"), ("<N>", r"((?:\d+(?:,\d{2,3})*(?:\.\d+)?|\.\d+)(?:[°%]?[-–](?:\d+(?:,\d{2,3})*(?:\.\d+)?|\.\d+))?)"),
    ("<q>", r"((?:(?:\d+[ -])?\d{1,4}/\d{1,3}(?: ?[-–] ?(?:\d+ )?(?:\d/\d|\d+))?|(?:\d+(?:,\d{2,3})*(?:\.\d+)?|\.\d+)(?:[°%]?[-–](?:(?:\d+ )?\d/\d|\d+(?:,\d{2,3})*(?:\.\d+)?|\.\d+))?))"),
    ("<m>", r"((?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|JAN|FEB|MAR|APR|JUN|JUL|AUG|SEP|OCT|NOV|DEC)[A-Za-z]*)"), ("<w>", r"((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|MON|TUE|WED|THU|FRI|SAT|SUN)[A-Za-z]*)"),
    ("<t>", r"(\d\d?(?:[:.]\d\d)?(?::\d\d)?)"), ("<ap>", r"([aApP])\.?[mM]\.?"), ("<->", "[-–]"),
    ("<cur>", r"(US\$|HK\$|NZ\$|CA\$|AU\$|C\$|A\$|R\$|[$£€¥₹₩₽₿₺₫₴₪₱₦฿])"), ("<scale>", "(k|K|[mM](?:n|il|ln)?|[bB]n?|[tT]n?|thousand|million|billion|trillion|lakh|crore)"),
    ("<mark>", "([$£€¥₹₩₽₿₺₫₴₪₱₦฿]|USD|EUR|GBP|JPY|CHF|CAD|AUD|INR|CNY|kr|SEK|NOK|DKK|PLN|zl|MXN|BRL|NZD|HKD|KRW|RMB|BTC|ZAR)"),
    ("<CUR>", "(USD|EUR|GBP|JPY|CHF|CAD|AUD|INR|CNY|Rs|kr|SEK|NOK|DKK|PLN|zl|MXN|BRL|NZD|HKD|KRW|RMB|BTC|ZAR)"),
    ("<label>", "(?:airbus|apartment|apt|area|bmw|boeing|building|bus|cabin|cessna|channel|error|exit|fahrenheit|flight|form|gate|highway|hwy|interstate|model|office|porsche|rm|room|route|rte|section|ste|suite|train|unit|xbox)"),
    ("<street>", r"(?:St|Ave|Blvd|Dr|Rd|Ln|Ct|Pl|Pkwy|Sq|Ter|Cir|Street|Avenue|Boulevard|Drive|Road|Lane|Court|Place|Parkway|Square|Highway|Hwy|Way|Terrace|Circle)\b"),
];

struct Rule {
    /// The characters with which a match begins, and of which it consists.
    shape: Shape,
    /// Characters of which each column has to find one. Most rules are ruled out by them before their pattern is tried.
    required: [u128; 3],
    /// Whether a match may extend beyond the first chunk.
    has_blank: bool,
    /// The bytes before a match that its left context needs.
    left: usize,
    columns: [&'static str; 3],
    compiled: OnceLock<[Option<Regex>; 3]>,
    words: &'static str,
}

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let rule = |line: &'static str| match line.split('\t').collect::<Vec<_>>()[..] {
        [before, pattern, after, words] => {
            let repeats = before.contains(['*', '+', '{', '^']);
            Some(Rule {
                shape: Shape::of(pattern),
                required: [before, pattern, after].map(|column| match column.starts_with('!') {
                    true => u128::MAX,
                    false => Shape::of(column).required,
                }),
                has_blank: pattern.contains([' ', '.']),
                left: if repeats { WINDOW } else { NEAR },
                columns: [before, pattern, after],
                compiled: OnceLock::new(),
                words,
            })
        }
        _ => None,
    };
    TABLE.lines().filter_map(rule).collect()
});

/// The rules whose matches may begin with a character, by its [`bit`] and in their order.
static BY_INITIAL: LazyLock<Vec<Vec<&Rule>>> = LazyLock::new(|| {
    let beginning = |bit: u32| RULES.iter().filter(move |rule| rule.shape.first >> bit & 1 == 1);
    (0..128).map(|bit| beginning(bit).collect()).collect()
});

/// Sets of characters, as bits, that tell which texts a pattern cannot match.
#[derive(Clone, Copy)]
struct Shape {
    /// A match begins with one of these.
    first: u128,
    /// A match consists of these.
    all: u128,
    /// A match contains one of these.
    required: u128,
    /// Whether the empty text may match.
    is_optional: bool,
}

impl Shape {
    const EMPTY: Self = Self { first: 0, all: 0, required: u128::MAX, is_optional: true };

    /// Returns the shape of a column.
    fn of(column: &str) -> Self {
        let pattern = expand(column);
        let Self { first, all, required, is_optional } = Self::alternatives(&mut pattern.chars().peekable());
        let [first, all, required] = [first, all, required].map(|set| match pattern.contains("(?i") {
            true => (0..128).filter(|bit| set >> bit & 1 == 1).fold(set, |set, bit| {
                let c = char::from(bit as u8);
                set | 1 << bit_of(c.to_ascii_lowercase()) | 1 << bit_of(c.to_ascii_uppercase())
            }),
            false => set,
        });
        Self { first, all, required, is_optional }
    }

    /// Reads alternatives up to the end of their group.
    fn alternatives(rest: &mut Peekable<Chars>) -> Self {
        let (mut found, mut sequence) = (None, Self::EMPTY);
        let or = |found: Option<Self>, other: Self| found.map_or(other, |found| found.or(other));
        while let Some(c) = rest.next_if(|c| *c != ')') {
            let one = |set| Self { first: set, all: set, required: set, is_optional: false };
            let part = match c {
                '|' => {
                    (found, sequence) = (Some(or(found, sequence)), Self::EMPTY);
                    continue;
                }
                '(' => {
                    if rest.next_if_eq(&'?').is_some() {
                        while rest.next_if(|c| ![':', ')'].contains(c)).is_some() {}
                        rest.next_if_eq(&':');
                    }
                    let group = Self::alternatives(rest);
                    rest.next();
                    group
                }
                '[' => one(class(rest)),
                '\\' if rest.next_if_eq(&'b').is_some() => Self::EMPTY,
                '\\' => one(escape(rest)),
                '^' | '$' => Self::EMPTY,
                // Blanks are everywhere.
                ' ' => Self { required: u128::MAX, ..one(1 << bit_of(' ')) },
                '.' => one(u128::MAX),
                c => one(1 << bit_of(c)),
            };
            let repeated = rest.next_if(|c| "?*+{".contains(*c));
            let count: String = match repeated {
                Some('{') => std::iter::from_fn(|| rest.next_if(|c| *c != '}')).collect(),
                _ => String::new(),
            };
            rest.next_if_eq(&'}');
            let is_optional = repeated.is_some_and(|c| "?*".contains(c)) || count.starts_with('0');
            let part = if is_optional { part.or(Self::EMPTY) } else { part };
            sequence = sequence.then(part);
        }
        or(found, sequence)
    }

    fn then(self, next: Self) -> Self {
        let required = [self.required, next.required].into_iter().min_by_key(|set| set.count_ones());
        Self {
            first: self.first | if self.is_optional { next.first } else { 0 },
            all: self.all | next.all,
            required: required.expect("there are two"),
            is_optional: self.is_optional && next.is_optional,
        }
    }

    fn or(self, other: Self) -> Self {
        Self {
            first: self.first | other.first,
            all: self.all | other.all,
            required: self.required | other.required,
            is_optional: self.is_optional || other.is_optional,
        }
    }
}

/// Reads a class of characters behind its bracket.
fn class(rest: &mut Peekable<Chars>) -> u128 {
    let is_negated = rest.next_if_eq(&'^').is_some();
    let (mut set, mut previous) = (0, ' ');
    while let Some(c) = rest.next_if(|c| *c != ']') {
        set |= match (c, rest.peek()) {
            ('\\', _) => escape(rest),
            ('-', Some(&last)) if last != ']' && set != 0 => {
                (previous..=last).fold(0, |set, c| set | 1 << bit_of(c))
            }
            _ => 1 << bit_of(c),
        };
        previous = c;
    }
    rest.next();
    // A class of other characters beyond ASCII may hold any of them.
    if is_negated { !set | 1 } else { set }
}

/// Reads an escaped character.
fn escape(rest: &mut Peekable<Chars>) -> u128 {
    let set =
        |is_in: fn(char) -> bool| (0..128u8).filter(|c| is_in(char::from(*c))).fold(0, |set, c| set | 1 << c);
    match rest.next() {
        Some('d') => set(|c| c.is_ascii_digit()),
        Some('w') => set(|c| c == '_' || c.is_ascii_alphanumeric()),
        Some('s') => set(|c| c.is_ascii_whitespace()),
        Some(c) if !c.is_ascii_alphanumeric() => 1 << bit_of(c),
        _ => u128::MAX,
    }
}

/// Returns the place of a character in a set: all characters beyond ASCII share one.
fn bit_of(c: char) -> u32 {
    if c.is_ascii() { u32::from(c) } else { 0 }
}

fn set_of(text: &str) -> u128 {
    text.chars().fold(0, |set, c| set | 1 << bit_of(c))
}

/// Replaces the macros of a pattern.
fn expand(column: &str) -> String {
    MACROS.iter().fold(column.to_string(), |column, (name, pattern)| column.replace(name, pattern))
}

impl Rule {
    /// Returns the regular expressions of the columns, which are compiled when they are first needed.
    fn compiled(&self) -> &[Option<Regex>; 3] {
        self.compiled.get_or_init(|| {
            let [before, pattern, after] = self.columns.map(|column| expand(column.trim_start_matches('!')));
            let compile =
                |pattern: String| Regex::new(&pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
            let optional = |column: &str, pattern: String| (!column.is_empty()).then(|| compile(pattern));
            [
                optional(self.columns[0], format!("(?:{before})$")),
                // A match ends where the chunk ends, but for its punctuation.
                Some(compile(format!("^({pattern})[.,;:?!)}}\\]\"'*–—~]*(?: |$)"))),
                optional(self.columns[2], format!("^(?:{after})")),
            ]
        })
    }

    /// Reads a place of a text; returns the words and the number of chunks.
    fn read(&self, before: &str, rest: &str) -> Reading {
        let [left, pattern, right] = self.compiled();
        let captures = pattern.as_ref()?.captures(rest)?;
        let after = &rest[captures.get(1)?.end()..];
        let holds = |regex: &Option<Regex>, column: &str, text: &str| {
            regex.as_ref().is_none_or(|regex| regex.is_match(text) != column.starts_with('!'))
        };
        if !holds(right, self.columns[2], after) {
            return None;
        }
        let groups = (1..captures.len()).map(|group| captures.get(group).map_or("", |found| found.as_str()));
        let found = Match { before, groups: groups.collect(), after };
        // The functions are faster than a search in the left context.
        let words = verbalise::words(self.words, &found)?;
        let near = &before[ceil(before, before.len().saturating_sub(self.left))..];
        let blanks = found.groups[0].bytes().filter(|byte| *byte == b' ').count();
        holds(left, self.columns[0], near).then_some((words, 1 + blanks))
    }
}

/// Reads the text at the current chunk by the first rule that matches, `skipped` bytes into the chunk's body.
pub fn read(context: &TokenContext, skipped: usize) -> Reading {
    let text = context.text;
    // Nothing in the table reads a longer word in lower case.
    if context.body(0)?.len() > LONGEST_WORD && context.body(0)?.bytes().all(|byte| byte.is_ascii_lowercase())
    {
        return None;
    }
    let body = context.body(0)?;
    let start = body.as_ptr() as usize - text.as_ptr() as usize + skipped;
    let (left, right) = (floor(text, start.saturating_sub(WINDOW)), floor(text, start + WINDOW));
    let (before, rest) = (&text[left..start], &text[start..right]);
    let first = rest.split(' ').next()?;
    let (left, right, chunk) = (set_of(before), set_of(rest), set_of(first));
    let body = set_of(first.trim_end_matches(PUNCTUATION));
    let possible = |rule: &&Rule| {
        let sets = [left, if rule.has_blank { right } else { chunk }, right];
        body & !rule.shape.all == 0
            && rule
                .required
                .iter()
                .zip(sets)
                .all(|(&required, set)| required == u128::MAX || required & set != 0)
    };
    let rules = BY_INITIAL[bit_of(rest.chars().next()?) as usize].iter().copied();
    rules.filter(possible).find_map(|rule| rule.read(before, rest))
}

/// Returns the beginning of the first whole character from `at`.
fn ceil(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

/// Returns the end of the last whole character up to `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_of_a_pattern_bounds_its_matches() {
        for (pattern, first, all, required) in [
            ("ab?c", "a", "abc", Some("a")),
            ("a?b*c", "abc", "abc", Some("c")),
            ("(?:a|bc|[d-f])x{0,2}", "abdef", "abcdefx", Some("abdef")),
            (r"\d{2}\.(?:a|b)?", "0123456789", "0123456789.ab", Some(".")),
            ("(?i:st|nd)", "sStTnNdD", "sStTnNdD", Some("sStTnNdD")),
            (r"\b(a|)é", "aé", "aé", Some("é")),
            ("a?", "a", "a", None),
        ] {
            let shape = Shape::of(pattern);
            assert_eq!(shape.all, set_of(all), "{pattern}");
            assert_eq!(shape.first & !set_of(first), 0, "{pattern}");
            assert_eq!(shape.required & !required.map_or(u128::MAX, set_of), 0, "{pattern}");
            assert_eq!(shape.required == u128::MAX, required.is_none(), "{pattern}");
        }
    }

    #[test]
    fn rules_compile_and_their_functions_exist() {
        for rule in RULES.iter() {
            rule.compiled();
            assert!(verbalise::is_known(rule.words), "{}", rule.words);
        }
    }
}
