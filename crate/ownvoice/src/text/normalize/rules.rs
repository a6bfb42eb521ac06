//! The rule table (`rules.tsv`): context-dependent rewrite rules (Kaplan and Kay 1994, as in Kestrel, Ebden and Sproat 2015).
//!
//! A rule has four columns: a pattern of what is before, the pattern of what is read, a pattern of what is after, and the words. The first rule that
//! matches and whose functions all succeed is taken. An empty context holds everywhere, and one that begins with `!` holds where it does not match.
//!
//! In the words, `{2:c}` applies the function `c` of [`verbalise`](super::verbalise) to group 2, `{2}` is the group itself in lower case, `{2?c}` is nothing
//! but fails where the function does, and brackets hold what is left out unless its groups matched. `@name` calls a verbaliser with the whole match.
//! In patterns, `<n>` and the like stand for the patterns of `MACROS`. A line `[abc]` names the characters with which what follows may begin.

use std::sync::{LazyLock, OnceLock};

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

/// The longest word in lower case that a rule reads.
const LONGEST_WORD: usize = 5;

#[rustfmt::skip]
const MACROS: &[(&str, &str)] = &[
    ("<i>", r"(\d+)"), ("<n>", r"(\d+(?:,\d{2,3})*(?:\.\d+)?|\.\d+)"), ("<N>", r"((?:\d+(?:,\d{2,3})*(?:\.\d+)?|\.\d+)(?:[°%]?[-–](?:\d+(?:,\d{2,3})*(?:\.\d+)?|\.\d+))?)"),
    ("<q>", r"((?:(?:\d+[ -])?\d{1,4}/\d{1,3}(?: ?[-–] ?(?:\d+ )?(?:\d/\d|\d+))?|(?:\d+(?:,\d{2,3})*(?:\.\d+)?|\.\d+)(?:[°%]?[-–](?:(?:\d+ )?\d/\d|\d+(?:,\d{2,3})*(?:\.\d+)?|\.\d+))?))"),
    ("<m>", r"((?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|JAN|FEB|MAR|APR|JUN|JUL|AUG|SEP|OCT|NOV|DEC)[A-Za-z]*)"), ("<w>", r"((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|MON|TUE|WED|THU|FRI|SAT|SUN)[A-Za-z]*)"),
    ("<t>", r"(\d\d?(?:[:.]\d\d)?(?::\d\d)?)"), ("<ap>", r"([aApP])\.?[mM]\.?"), ("<->", "[-–]"),
    ("<cur>", r"(US\$|HK\$|NZ\$|CA\$|AU\$|C\$|A\$|R\$|[$£€¥₹₩₽₿₺₫₴₪₱₦฿])"), ("<scale>", "(k|K|[mM](?:n|il|ln)?|[bB]n?|[tT]n?|thousand|million|billion|trillion|lakh|crore)"),
    ("<CUR>", "(USD|EUR|GBP|JPY|CHF|CAD|AUD|INR|CNY|Rs|kr|SEK|NOK|DKK|PLN|zl|MXN|BRL|NZD|HKD|KRW|RMB|BTC|ZAR)"),
    ("<label>", "(?:airbus|apartment|apt|area|bmw|boeing|building|bus|cabin|cessna|channel|error|exit|fahrenheit|flight|form|gate|highway|hwy|interstate|model|office|porsche|rm|room|route|rte|section|ste|suite|train|unit|xbox)"),
    ("<street>", r"(?:St|Ave|Blvd|Dr|Rd|Ln|Ct|Pl|Pkwy|Sq|Ter|Cir|Street|Avenue|Boulevard|Drive|Road|Lane|Court|Place|Parkway|Square|Highway|Hwy|Way|Terrace|Circle)\b"),
];

struct Rule {
    /// The characters with which a match begins.
    first: String,
    /// ASCII characters of which every match has one, if the pattern shows some: most rules are ruled out by them before their pattern is tried.
    required: Option<u128>,
    /// The bytes before a match that its left context needs.
    left: usize,
    columns: [&'static str; 3],
    compiled: OnceLock<[Option<Regex>; 3]>,
    words: &'static str,
}

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let mut first = "";
    let lines = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    lines
        .filter_map(|line| match line.split('\t').collect::<Vec<_>>()[..] {
            [before, pattern, after, words] => {
                let first = initials(pattern).unwrap_or_else(|| first.to_string());
                let required = required(&expand(pattern))
                    .filter(|signs| signs.is_ascii())
                    .map(|signs| ascii_set(&signs));
                let repeats = before.contains(['*', '+', '{', '^']);
                Some(Rule {
                    first,
                    required,
                    left: if repeats { WINDOW } else { NEAR },
                    columns: [before, pattern, after],
                    compiled: OnceLock::new(),
                    words,
                })
            }
            _ => {
                first = line;
                None
            }
        })
        .collect()
});

/// The rules whose matches may begin with an ASCII character, in their order.
static BY_INITIAL: LazyLock<Vec<Vec<&Rule>>> = LazyLock::new(|| {
    let beginning = |initial: u8| RULES.iter().filter(move |rule| rule.first.contains(char::from(initial)));
    (0..128).map(|initial| beginning(initial).collect()).collect()
});

/// Returns the characters with which a pattern begins if it begins with a letter, a class, or a group of alternatives that do.
fn initials(pattern: &str) -> Option<String> {
    let expanded = expand(pattern);
    let bare = expanded.trim_start_matches("(?:").trim_start_matches('(').trim_start_matches("?:");
    if let Some(class) = bare.strip_prefix('[').filter(|_| !expanded.contains('|')) {
        let (class, rest) = class.split_once(']')?;
        if class.bytes().all(|byte| byte.is_ascii_alphabetic()) && !rest.starts_with(['?', '*', '{']) {
            return Some(class.to_string());
        }
        let ranges = class.as_bytes().chunks(3);
        let ranges = ranges.map(|range| if let [from, b'-', to] = range { Some(*from..=*to) } else { None });
        let letters: Vec<u8> = ranges.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect();
        return String::from_utf8(letters).ok().filter(|_| !rest.starts_with(['?', '*']));
    }
    let end = if bare.len() < expanded.len() { bare.find(')')? } else { bare.chars().next()?.len_utf8() };
    let (group, rest) = bare.split_at(end);
    let optional = rest.trim_start_matches(')').starts_with(['?', '*', '{', '|']);
    let initials: Vec<char> =
        group.split('|').map(|alternative| alternative.chars().next()).collect::<Option<_>>()?;
    let literal =
        !optional && !group.contains(['(', '?', '*', '{']) && initials.iter().all(char::is_ascii_alphabetic);
    literal.then(|| initials.into_iter().collect())
}

/// Returns characters of which a match of the pattern must have one: a sign or letter outside of groups and classes, or else a class of signs outside of groups.
fn required(pattern: &str) -> Option<String> {
    let whole = pattern.strip_prefix('(').and_then(|inside| inside.strip_suffix(')'));
    let pattern = whole.filter(|inside| !inside.contains(['(', ')'])).unwrap_or(pattern);
    let (mut depth, mut found, mut class_found) = (0, None, None);
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        let (mut literal, mut class) = (None, None);
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            '[' => {
                let mut inside = String::new();
                while let Some(c) = rest.next_if(|c| *c != ']') {
                    inside.push(c);
                }
                rest.next();
                // An escape is a sign or a class of its own, such as `\w`.
                let signs = inside.replace("\\^", "");
                let is_plain = !inside.starts_with('^') && !signs.contains(['\\', '-']);
                class = is_plain.then(|| signs + if inside.contains("\\^") { "^" } else { "" });
            }
            '{' => while rest.next_if(|c| *c != '}').is_some() {},
            '|' if depth == 0 => return None,
            '\\' => literal = rest.next().filter(|escaped| !escaped.is_ascii_alphanumeric()),
            '?' | '*' | '+' | '.' | '|' | ']' | '}' | '^' | '$' | ' ' => {}
            c => literal = Some(c),
        }
        let optional = depth > 0 || rest.peek().is_some_and(|next| "?*{".contains(*next));
        found = found.or(literal.filter(|_| !optional));
        class_found = class_found.or(class.filter(|_| !optional));
    }
    found.map(String::from).or(class_found)
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

    /// Matches the rule at a place of a text.
    fn matches<'t>(&self, before: &'t str, rest: &'t str) -> Option<Match<'t>> {
        let [left, pattern, right] = self.compiled();
        let captures = pattern.as_ref()?.captures(rest)?;
        let after = &rest[captures.get(1)?.end()..];
        let holds = |regex: &Option<Regex>, column: &str, text: &str| {
            regex.as_ref().is_none_or(|regex| regex.is_match(text) != column.starts_with('!'))
        };
        let near = &before[ceil(before, before.len().saturating_sub(self.left))..];
        if !holds(right, self.columns[2], after) || !holds(left, self.columns[0], near) {
            return None;
        }
        let groups = (1..captures.len()).map(|group| captures.get(group).map_or("", |found| found.as_str()));
        Some(Match { before, groups: groups.collect(), after })
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
    let initial = rest.chars().next()?;
    let present = ascii_set(rest);
    let required = |rule: &Rule| rule.required.is_none_or(|signs| signs & present != 0);
    let rules = BY_INITIAL.get(initial as usize).map_or(&[][..], Vec::as_slice).iter().copied();
    // The table names few initials beyond ASCII: those of currencies.
    let others = RULES.iter().filter(|rule| !initial.is_ascii() && rule.first.contains(initial));
    rules.chain(others).filter(|rule| required(rule)).find_map(|rule| {
        let found = rule.matches(before, rest)?;
        let words = verbalise::words(rule.words, &found)?;
        let blanks = found.groups[0].bytes().filter(|byte| *byte == b' ').count();
        Some((words, 1 + blanks))
    })
}

/// Returns the ASCII characters of a text as bits.
fn ascii_set(text: &str) -> u128 {
    text.bytes().filter(u8::is_ascii).fold(0, |set, byte| set | 1 << byte)
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
    fn rules_compile_and_their_functions_exist() {
        for rule in RULES.iter() {
            rule.compiled();
            assert!(verbalise::is_known(rule.words), "{}", rule.words);
        }
    }
}
