//! Folds Unicode to the characters of English: quotes, dashes and accented letters are replaced, characters that cannot be spoken become spaces.

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

/// Characters and their replacements in ASCII, or in a few signs that the normaliser reads.
#[rustfmt::skip]
const REPLACEMENTS: &[(&str, &str)] = &[
    ("÷", " divided by "), ("Æ", "AE"), ("æ", "ae"), ("Œ", "OE"), ("œ", "oe"), ("Ø", "O"), ("ø", "o"), ("ÐĐƉ", "D"), ("ðđ", "d"), ("Þ", "TH"), ("þ", "th"),
    ("ß", "ss"), ("ẞ", "SS"), ("Ħ", "H"), ("ħ", "h"), ("ı", "i"), ("ĸ", "k"), ("ŁĿ", "L"), ("łŀ", "l"), ("Ŋ", "NG"), ("ŋ", "ng"), ("Ŧ", "T"), ("ŧ", "t"),
    ("ə", "e"), ("ƒ", "f"), ("‘’‛ʼ′`´ʻ", "'"), ("“”„«»‹›″‟‚", "\""), ("‐‑⁃−", "-"), ("‒–", "–"), ("—―", " — "), ("…", "..."), ("¿¡·•‧|¦\\©®™℠", " "),
    ("§", " section "), ("¶", " paragraph "), ("№", " number "), ("±", " plus or minus "), ("≤", "≤"), ("≥", "≥"), ("≠", "≠"), ("≈", "≈"), ("×", "×"), ("√", " square root of "),
    ("∞", " infinity "), ("→", " -> "), ("ª", "a"), ("º", "o"), ("µμ", "µ"), ("←", " <- "), ("⇒", " => "), ("↑", " up "), ("↓", " down "),
    ("∑", " sum of "), ("∫", " integral of "), ("∂", " partial "), ("∝", " is proportional to "), ("∈", " in "), ("∪", " union "), ("∩", " intersection "),
    ("∠", " angle "), ("♭", " flat "), ("♯", " sharp "), ("♥❤", "♥"), ("Ω", "Ω"), ("。．", "."), ("，、", ","), ("？", "?"), ("！", "!"), ("：", ":"), ("；", ";"),
    ("°", "°"), ("‰", "‰"), ("¢", "¢"), ("£", "£"), ("€", "€"), ("¥", "¥"), ("₹", "₹"), ("₩", "₩"), ("₽", "₽"), ("₿", "₿"), ("₺", "₺"), ("₫", "₫"),
    ("₴", "₴"), ("₪", "₪"), ("₱", "₱"), ("₦", "₦"), ("฿", "฿"),
];

/// Returns the replacement of a character, or `None` if it has none of its own.
fn ascii(c: char) -> Option<&'static str> {
    REPLACEMENTS.iter().find(|(characters, _)| characters.contains(c)).map(|(_, replacement)| *replacement)
}

/// Greek letters and their names.
#[rustfmt::skip]
const GREEK: &[(&str, &str)] = &[
    ("αΑ", "alpha"), ("βΒ", "beta"), ("γΓ", "gamma"), ("δΔ", "delta"), ("εϵΕ", "epsilon"), ("ζΖ", "zeta"), ("ηΗ", "eta"), ("θϑΘ", "theta"), ("ιΙ", "iota"), ("κΚ", "kappa"), ("λΛ", "lambda"),
    ("μΜ", "mu"), ("νΝ", "nu"), ("ξΞ", "xi"), ("ο", "omicron"), ("πΠ", "pi"), ("ρΡ", "rho"), ("σςΣ", "sigma"), ("τΤ", "tau"), ("υΥ", "upsilon"), ("φϕΦ", "phi"), ("χΧ", "chi"), ("ψΨ", "psi"),
    ("ωΩ", "omega"),
];

/// Returns the name of a Greek letter.
fn greek(c: char) -> Option<&'static str> {
    GREEK.iter().find(|(letters, _)| letters.contains(c)).map(|(_, name)| *name)
}

/// Whether a character is in the Greek block.
pub fn is_greek(c: char) -> bool {
    ('\u{370}'..='\u{3ff}').contains(&c)
}

/// Returns the plain character of a superscript digit or sign.
fn superscript(c: char) -> Option<char> {
    const RAISED: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ";
    RAISED.chars().zip("0123456789+-n".chars()).find(|(raised, _)| *raised == c).map(|(_, plain)| plain)
}

/// Folds a text. Characters that cannot be spoken become spaces; combining marks, joiners and other invisible characters are removed.
///
/// A character with a compatibility decomposition (Unicode NFKD: accented letters, fractions, full-width and mathematical letters, ligatures, `℃`) is
/// replaced by it.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    // A single Greek letter is read by its name; Greek words cannot be spoken.
    let mut letters = text.chars().peekable();
    let mut before = ' ';
    while let Some(c) = letters.next() {
        let alone = !is_greek(before) && letters.peek().is_none_or(|next| !is_greek(*next));
        match c {
            // Programmers write "<=" for "≤".
            '<' | '>' | '!' if letters.peek() == Some(&'=') => {
                letters.next();
                folded.push(match c {
                    '<' => '≤',
                    '>' => '≥',
                    _ => '≠',
                });
            }
            // The path "C:\Users".
            '\\' if letters.peek().is_some_and(|next| next.is_ascii_alphanumeric() || *next == '\\') => {
                folded.push(c);
            }
            '|' | '\\' | '`' => folded.push_str(ascii(c).unwrap_or(" ")),
            ' '..='~' => folded.push(c),
            '\n' | '\r' => folded.push('\n'),
            'µ' | 'μ'
                if before.is_ascii_digit()
                    || before == ' ' && letters.peek().is_some_and(|next| "mgslLWAVFHS".contains(*next)) =>
            {
                folded.push('µ');
            }
            // "5 kΩ"
            'Ω' | '\u{2126}'
                if before.is_ascii_digit() || "kMGm".contains(before) || before == ' ' && counts(&folded) =>
            {
                folded.push('Ω');
            }
            '\u{2126}' => folded.push_str(" omega "),
            c if is_greek(c) => match greek(c).filter(|_| alone) {
                Some(name) => folded.extend([" ", name, " "]),
                None => folded.push(' '),
            },
            '§' if letters.peek() == Some(&'§') => {
                letters.next();
                folded.push_str(" sections ");
            }
            // "N·m"
            '·' | '⋅' if "NAVW".contains(before) && letters.peek().is_some_and(char::is_ascii_lowercase) =>
                {}
            // A subscript belongs to the word before it: "H₂O".
            '₀'..='₉' => folded.push(char::from(b'0' + (c as u32 - '₀' as u32) as u8)),
            c if superscript(c).is_some() => {
                if superscript(before).is_none() {
                    folded.push('^');
                }
                folded.extend(superscript(c));
            }
            // These are soft hyphen, zero-width characters, direction marks and variation selectors.
            '\u{ad}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2064}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' => {}
            c if is_combining_mark(c) => {}
            c => match ascii(c) {
                Some(plain) => folded.push_str(plain),
                None => push_decomposed(c, &mut folded),
            },
        }
        before = c;
    }
    folded
}

/// Whether a text ends with a digit and a blank.
fn counts(text: &str) -> bool {
    text.trim_end().ends_with(|c: char| c.is_ascii_digit())
}

/// Appends the decomposition of a character without its combining marks.
fn push_decomposed(c: char, folded: &mut String) {
    let mut plain = String::new();
    decompose_compatible(c, |part| match part {
        '\u{2044}' => plain.push('/'),
        ' '..='~' => plain.push(part),
        part if is_combining_mark(part) => {}
        part => plain.push_str(ascii(part).unwrap_or(" ")),
    });
    // A fraction, or a number in a circle, is a separate word.
    let apart = plain.starts_with(|first: char| first.is_ascii_digit())
        && !c.is_ascii()
        && !('０'..='９').contains(&c)
        && !('\u{1d7ce}'..='\u{1d7ff}').contains(&c);
    if apart { folded.extend([" ", plain.as_str(), " "]) } else { folded.push_str(&plain) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accents_quotes_and_dashes_fold() {
        assert_eq!(fold("Café “naïve” Łódź’s Ærø straße"), "Cafe \"naive\" Lodz's AEro strasse");
        assert_eq!(fold("Cafe\u{301} a\u{200b}b\u{ad}c"), "Cafe abc");
        assert_eq!(fold("ａｂｃ１２"), "abc12");
        assert_eq!(fold("wait — no…"), "wait  —  no...");
    }

    #[test]
    fn latin_letters_fold_to_ascii() {
        for c in ('\u{c0}'..='\u{24f}').chain('\u{1e00}'..='\u{1eff}').filter(|c| c.is_alphabetic()) {
            let folded = fold(&c.to_string());
            let common = c <= '\u{17f}' || ('\u{1ea0}'..='\u{1ef9}').contains(&c);
            assert!(
                !common || folded.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'\''),
                "{c} {folded}"
            );
        }
        let folds = [
            ('Ÿ', "Y"),
            ('ž', "z"),
            ('ÿ', "y"),
            ('ő', "o"),
            ('Œ', "OE"),
            ('ŋ', "ng"),
            ('ſ', "s"),
            ('š', "s"),
            ('ğ', "g"),
            ('ı', "i"),
            ('ễ', "e"),
            ('Đ', "D"),
        ];
        for (c, plain) in folds {
            assert_eq!(fold(&c.to_string()), plain, "{c}");
        }
    }

    #[test]
    fn compatibility_characters_are_decomposed() {
        assert_eq!(fold("⅓ 20℃ ﬁ 𝐇 Ⅷ 1½"), " 1/3  20°C fi H VIII 1 1/2 ");
    }

    #[test]
    fn other_scripts_and_emoji_become_spaces() {
        assert_eq!(fold("hi 😀你好 there"), "hi     there");
    }
}
