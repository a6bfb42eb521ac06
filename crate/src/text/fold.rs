//! Unicode to the few characters English is written with: quotes, dashes and accents folded, the rest marked as unspeakable.

/// Base letters of U+00C0 to U+017F, in order; a space where there is no letter.
const LATIN: &str = "A A A A A A AE C E E E E I I I I D N O O O O O * O U U U U Y TH ss a a a a a a ae c e e e e i i i i d n o o o o o / o u u u u y th y \
    A a A a A a C c C c C c C c D d D d E e E e E e E e E e G g G g G g G g H h H h I i I i I i I i I i IJ ij J j K k k L l L l L l L l L l N n N n N n n NG ng \
    O o O o O o OE oe R r R r R r S s S s S s S s T t T t T t U u U u U u U u U u U u W w Y y Y Z z Z z Z z s";

/// What a character is written as in plain ASCII; `None` where it cannot be spoken.
fn ascii(c: char) -> Option<&'static str> {
    Some(match c {
        '×' => " times ",
        '÷' => " divided by ",
        '\u{c0}'..='\u{17f}' => LATIN.split_whitespace().nth(c as usize - 0xc0)?,
        '‘' | '’' | '‛' | 'ʼ' | '′' | '`' | '´' => "'",
        '“' | '”' | '„' | '«' | '»' | '‹' | '›' | '″' | '‟' | '‚' => "\"",
        '‐' | '‑' | '⁃' | '−' => "-",
        '‒' | '–' => "–",
        '—' | '―' => " — ",
        '…' => "...",
        '¿' | '¡' => " ",
        '·' | '•' | '‧' | '|' | '¦' | '§' | '¶' | '\\' | '_' | '~' | '^' | '<' | '>' => " ",
        '±' => " plus or minus ",
        '½' => " 1/2 ",
        '¼' => " 1/4 ",
        '¾' => " 3/4 ",
        '²' => " squared ",
        '³' => " cubed ",
        '©' | '®' | '™' => " ",
        'ª' => "a",
        'º' => "o",
        'µ' | 'μ' => "micro",
        '。' | '．' => ".",
        '，' | '、' => ",",
        '？' => "?",
        '！' => "!",
        '：' => ":",
        '；' => ";",
        '°' => "°",
        '£' => "£",
        '€' => "€",
        '¥' => "¥",
        'ș' => "s",
        'Ș' => "S",
        'ț' => "t",
        'Ț' => "T",
        'ﬀ' => "ff",
        'ﬁ' => "fi",
        'ﬂ' => "fl",
        _ => return None,
    })
}

/// Folds a text. Characters that cannot be spoken become spaces; combining marks, joiners and other invisible characters vanish.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '\\' | '_' | '~' | '^' | '<' | '>' | '`' => folded.push_str(ascii(c).unwrap_or(" ")),
            ' '..='~' => folded.push(c),
            '\n' | '\r' => folded.push('\n'),
            // Combining marks, soft hyphen, zero-width characters, direction marks, variation selectors.
            '\u{300}'..='\u{36f}'
            | '\u{ad}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2064}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' => {}
            // Full-width forms of ASCII.
            '\u{ff01}'..='\u{ff5e}' if ascii(c).is_none() => folded.push((c as u32 - 0xff01 + 0x21) as u8 as char),
            _ => folded.push_str(ascii(c).unwrap_or(" ")),
        }
    }
    folded
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
    fn the_latin_table_is_complete() {
        assert_eq!(LATIN.split_whitespace().count(), 0x17f - 0xc0 + 1);
        let folds =
            [('Ÿ', "Y"), ('ž', "z"), ('ÿ', "y"), ('ő', "o"), ('Œ', "OE"), ('ŋ', "ng"), ('ſ', "s"), ('š', "s"), ('ğ', "g"), ('ı', "i")];
        for (c, plain) in folds {
            assert_eq!(ascii(c), Some(plain), "{c}");
        }
    }

    #[test]
    fn other_scripts_and_emoji_become_spaces() {
        assert_eq!(fold("hi 😀你好 there"), "hi     there");
    }
}
