//! The lines of a text: which of them belong together, and which are a heading or an item of a list of their own.

use super::roman;

/// Marks before an item of a list, which are not spoken.
const BULLETS: &[&str] = &[
    "- ", "* ", "+ ", "• ", "‣ ", "▪ ", "◦ ", "· ", "– ", "— ", "[ ] ", "[x] ", "[X] ", "☐ ", "☑ ", "✓ ",
    "✔ ", "✗ ", "✘ ", "> ",
];
/// Lines of a list, in characters. Longer lines are those of a paragraph, which was wrapped.
const MAX_ITEM: usize = 40;
/// First parts of words that keep the hyphen at the end of a line: "well-known".
const HYPHENATED: &[&str] = &[
    "all", "cross", "ex", "four", "full", "half", "high", "ill", "left", "long", "low", "mid", "non", "off",
    "old", "one", "part", "right", "self", "short", "so", "three", "two", "well",
];

/// Splits a text into paragraphs, headings and items of lists, each on one line and without the mark of its item.
pub fn blocks(text: &str) -> Vec<String> {
    let text = text
        .replace("\r\n", "\n")
        .replace(['\r', '\u{85}', '\u{b}', '\u{c}', '\u{2028}'], "\n")
        .replace('\u{2029}', "\n\n");
    let lines: Vec<&str> = text.split('\n').map(str::trim).collect();
    let in_outline = lines.iter().any(|line| ["II. ", "b. "].iter().any(|second| line.starts_with(second)));
    let mut blocks: Vec<String> = Vec::new();
    for block in lines.split(|line| line.is_empty()) {
        let longest = block.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        let mut before = "";
        for (index, line) in block.iter().enumerate() {
            let (item, bare) = unmarked(line, in_outline);
            let starts =
                index == 0 || item || is_apart(before, &bare, block.len(), longest) || blocks.is_empty();
            match blocks.last_mut().filter(|_| !starts) {
                Some(block) => join(block, &bare),
                None => blocks.push(bare.to_string()),
            }
            before = line;
        }
    }
    blocks
}

/// Returns whether a line begins with the mark of an item or of a heading, and the line without it. Numbers stay, since they are spoken.
fn unmarked(line: &str, in_outline: bool) -> (bool, std::borrow::Cow<'_, str>) {
    let bare = BULLETS.iter().find_map(|mark| line.strip_prefix(mark));
    let heading = line.trim_start_matches('#');
    if let Some(bare) = bare.or_else(|| {
        Some(heading)
            .filter(|bare| bare.len() < line.len() && bare.starts_with(' ') && !bare.starts_with(" of "))
    }) {
        return (true, unmarked(bare.trim_start(), in_outline).1);
    }
    // "1) milk", "(a) milk", "ii. Methods": the label is read as one word, and its period does not end a sentence.
    let label = line.trim_start_matches('(');
    let (label, rest) = label.split_at(label.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(0));
    let rest = rest.strip_prefix(") ").or_else(|| rest.strip_prefix(". "));
    let number = label.bytes().all(|byte| byte.is_ascii_digit()) && label.len() < 3;
    let said = match roman::value(&label.to_uppercase()).filter(|_| {
        label.bytes().all(|byte| b"ivx".contains(&byte))
            || in_outline && label.bytes().all(|byte| b"IVX".contains(&byte))
    }) {
        Some(value) if !number => value.to_string(),
        _ if number || label.len() == 1 && (line.contains(") ") || in_outline) => label.to_uppercase(),
        _ => return (false, line.into()),
    };
    match rest.filter(|_| !label.is_empty()) {
        Some(rest) => (true, format!("{said}, {rest}").into()),
        None => (false, line.into()),
    }
}

/// Whether a line is apart from the one before it in a block, although neither has a mark.
fn is_apart(before: &str, line: &str, lines: usize, longest: usize) -> bool {
    let goes_on = before.ends_with([',', '-', '–', '—', '&'])
        || line.starts_with(|c: char| !c.is_alphanumeric() && !"\"'“‘([{$£€".contains(c));
    let capital = line.starts_with(|c: char| !c.is_lowercase());
    // A line of verse or of a list is short, and one that begins in lower case is an item only among others.
    !goes_on && longest <= MAX_ITEM && (capital || lines > 2 && !before.ends_with(['.', ';']))
}

/// Appends a line to a paragraph, and mends a word that was broken at the end of the line before.
fn join(block: &mut String, line: &str) {
    let first = block
        .strip_suffix('-')
        .map(|front| front.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or("").to_lowercase());
    match first {
        Some(first) if !first.is_empty() && line.starts_with(char::is_lowercase) => {
            if !HYPHENATED.contains(&first.as_str()) {
                block.pop();
            }
        }
        _ => block.push(' '),
    }
    block.push_str(line);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_and_marks_begin_a_block() {
        for blank in ["\n\n", "\r\n\r\n", "\n \t\n", "\u{2029}", "\r\r"] {
            assert_eq!(blocks(&format!("The plan{blank}we go")), ["The plan", "we go"], "{blank:?}");
        }
        for mark in ["* ", "• ", "- ", "– ", "# ", "### ", "[ ] "] {
            assert_eq!(blocks(&format!("{mark}milk\n{mark}eggs")), ["milk", "eggs"], "{mark}");
        }
        assert_eq!(blocks("1) milk\n2) eggs"), ["1, milk", "2, eggs"]);
        assert_eq!(blocks("To do:\nbuy milk\ncall Ann"), ["To do:", "buy milk", "call Ann"]);
    }

    #[test]
    fn wrapped_lines_and_broken_words_are_joined() {
        let wrapped = "It was a bright cold day in the month of April,\nand the clocks were striking. Mr.\nSmith went in.";
        assert_eq!(blocks(wrapped).len(), 1);
        assert_eq!(blocks("The com-\npany and a well-\nknown man"), ["The company and a well-known man"]);
        assert_eq!(blocks("one\ntwo"), ["one two"]);
        assert!(blocks("").iter().all(String::is_empty));
    }
}
