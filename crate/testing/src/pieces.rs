//! Pieces of text that are hard for a text reader.

/// Marks, scripts, invisible characters and partial words, to be inserted between the words of real texts.
#[rustfmt::skip]
pub const PIECES: &[&str] = &[
    " ", " ", " ", "", "\n", "\n\n", "\t", "\0", "'", "\"", "(", ")", "[", "{", "}", "{AH0}", "{AH0", "-", "--", "–", "—", "/", ":", ",", ".", "...", "!", "?", "$", "€", "%", "°", "#", "@",
    "&", "+", "=", "<", ">=", "×", "½", "²", "\u{301}", "\u{200d}", "\u{202e}", "\u{feff}", "你好", "Привет", "שלום", "مرحبا", "ไทย", "हिन्दी", "😀", "👩‍👩‍👧", "🇺🇸", "𝐇", "ﬁ", "Å", "ǆ", "İ",
    "1", "0", "9,", "1.", "12:", "St.", "a.m.", "U.S", "IV", "I", "A", "mc", "x",
];
