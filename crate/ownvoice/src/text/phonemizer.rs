//! Normalised English to symbols.

use super::{
    NormalizedSentence, Word, affixes,
    grammar::Neighbours,
    lexicon::Lexicon,
    normalize, pronounce, supplement,
    symbols::{self, COMMA, EXCLAMATION, PERIOD, QUESTION, Symbol},
    to_symbols,
};
use crate::{Error, Result};

/// Longer unknown words are not taken apart but read by the letter-to-sound rules.
const MAX_PARTS: usize = 40;
/// The longest word in braces, in bytes.
const MAX_BRACED: usize = 1000;
/// A pronunciation depends on at most this many words on either side.
const MAX_NEIGHBOURS: usize = 8;

/// Converts American English text to symbols, deterministically.
#[derive(Debug)]
pub struct Phonemizer {
    lexicon: Lexicon,
}

impl Phonemizer {
    /// Loads a lexicon from the bytes of `models/lexicon/en.lex`.
    pub fn new(lexicon: &[u8]) -> Result<Self> {
        Ok(Self { lexicon: Lexicon::load(lexicon)? })
    }

    /// Loads the built-in lexicon. A page fetches it instead.
    #[cfg(not(target_family = "wasm"))]
    pub fn embedded() -> Self {
        Self::new(include_bytes!("../../data/en.lex")).expect("the built-in lexicon is valid")
    }

    /// The pronouncing dictionary.
    pub fn lexicon(&self) -> &Lexicon {
        &self.lexicon
    }

    /// Returns the symbols of a text, with silence at both ends and pauses at punctuation marks.
    pub fn symbols(&self, text: &str) -> Result<Vec<Symbol>> {
        Ok(to_symbols(&self.words(text)?).0)
    }

    /// Returns the words and pauses of a text, without the silences at its ends. Fails if the text has no word.
    ///
    /// Braces hold the ARPAbet phones of a word of any language: `The {T AH0 M EY1 T OW2} is ripe.`
    pub fn words(&self, text: &str) -> Result<Vec<Word>> {
        if text.contains(['{', '}']) {
            self.words_around_phones(text)
        } else {
            self.words_of_language(text, None)
        }
    }

    /// Returns the same as [`Phonemizer::words`] of the sentence as written, without normalising it again.
    pub fn words_of(&self, sentence: &NormalizedSentence) -> Result<Vec<Word>> {
        let NormalizedSentence { written, normalized } = sentence;
        if written.contains(['{', '}']) {
            self.words_around_phones(written)
        } else {
            self.words_of_normalized(normalized, None).ok_or_else(|| Error::text_unsupported(written))
        }
    }

    /// Reads the phones in braces, and pronounces the text between them. Braces around anything else are brackets.
    fn words_around_phones(&self, text: &str) -> Result<Vec<Word>> {
        let mut words = Vec::new();
        let mut rest = text;
        loop {
            let found = phones(rest);
            let between = found.as_ref().map_or(rest, |(at, ..)| &rest[..*at]);
            if between.contains(char::is_alphanumeric) {
                // The normaliser ends the piece with a full stop, which is wrong where a braced word continues the sentence.
                let following = found
                    .as_ref()
                    .filter(|_| between.trim_end().ends_with(char::is_alphanumeric))
                    .and_then(|(_, _, symbols)| symbols.first().copied());
                words.extend(self.words_of_language(between, following)?);
                if following.is_some() {
                    words.pop_if(|word| word.is_pause());
                }
            } else {
                let pauses = between.chars().filter_map(|c| {
                    Some(Word { symbols: vec![pause(&c.to_string())?], text: c.to_string() })
                });
                words.extend(pauses.take(1));
            }
            let Some((at, phones, symbols)) = found else { break };
            words.push(Word {
                text: phones.to_string(),
                symbols: symbols.into_iter().map(merge_rare_stress).collect(),
            });
            rest = &rest[at + phones.len() + 2..];
        }
        if words.iter().all(Word::is_pause) { Err(Error::text_unsupported(text)) } else { Ok(words) }
    }

    /// Normalises and pronounces a text. `following` is the first symbol after it, if the sentence goes on.
    fn words_of_language(&self, text: &str, following: Option<Symbol>) -> Result<Vec<Word>> {
        self.words_of_normalized(&normalize(text)?, following).ok_or_else(|| Error::text_unsupported(text))
    }

    /// Pronounces a normalised text. Returns `None` if no word remains.
    fn words_of_normalized(&self, normalized: &str, following: Option<Symbol>) -> Option<Vec<Word>> {
        let mut tokens: Vec<&str> = Vec::new();
        for chunk in normalized.split(' ').filter(|chunk| !chunk.is_empty()) {
            let word = chunk.trim_end_matches([',', '.', '?', '!']);
            tokens.extend([word, &chunk[word.len()..]].into_iter().filter(|token| !token.is_empty()));
        }
        // From the last to the first, because "the" and "to" depend on the next sound.
        let mut words: Vec<Word> = Vec::with_capacity(tokens.len());
        for (index, token) in tokens.iter().enumerate().rev() {
            let symbols = match pause(token) {
                Some(symbol) => vec![symbol],
                None => {
                    // The final full stop is dropped later if something follows, so it does not count as a pause.
                    let next = words.last().filter(|_| following.is_none() || index + 2 < tokens.len());
                    let next = next.and_then(|word| word.symbols.first().copied()).or(following);
                    self.word(
                        token,
                        Neighbours {
                            before: phrase_before(&tokens[..index]),
                            after: phrase_after(&tokens[index + 1..]),
                            vowel_follows: next.is_some_and(symbols::is_vowel),
                            last: next.is_none_or(symbols::is_pause),
                        },
                    )
                }
            };
            words.push(Word {
                text: token.to_string(),
                symbols: symbols.into_iter().map(merge_rare_stress).collect(),
            });
        }
        words.retain(|word| !word.symbols.is_empty());
        words.reverse();
        Some(words).filter(|words| !words.iter().all(Word::is_pause))
    }

    /// Returns the pronunciation of a normalised word.
    fn word(&self, word: &str, around: Neighbours) -> Vec<Symbol> {
        // The normaliser keeps a single capital where it is the name of the letter.
        if word.len() == 1 && word.starts_with(|c: char| c.is_ascii_uppercase()) {
            return self.spelled(word);
        }
        if let Some((_, phones)) = pronounce::NAMESAKES.iter().find(|(name, _)| *name == word) {
            return symbols::parse(phones).unwrap_or_default();
        }
        // "VIP's"
        if let Some(stem) = word
            .strip_suffix("'s")
            .filter(|stem| !stem.is_empty() && stem.bytes().all(|byte| byte.is_ascii_uppercase()))
        {
            return affixes::plural(&self.word(stem, Neighbours::default()));
        }
        let lower = word.to_ascii_lowercase();
        if let Some(symbols) = pronounce::in_context(&lower, around).or_else(|| self.known(&lower)) {
            return symbols;
        }
        let upper = word.chars().all(|c| c.is_ascii_uppercase());
        let no_vowel = !lower.contains(['a', 'e', 'i', 'o', 'u', 'y']);
        if upper && (word.len() <= 5 && !sayable(&lower) || unsayable(&lower)) || no_vowel && word.len() <= 6
        {
            return self.spelled(&lower);
        }
        if lower.len() <= MAX_PARTS
            && let Some(symbols) = affixes::take_apart(&lower, &|stem| self.known(stem))
        {
            return symbols;
        }
        match lower.strip_suffix("'s") {
            Some(stem) => affixes::plural(&self.lexicon.letters.read(stem)),
            None => self.lexicon.letters.read(&lower),
        }
    }

    /// Looks a word up in the supplement, then in the dictionary.
    fn known(&self, word: &str) -> Option<Vec<Symbol>> {
        supplement::phones(word)
            .and_then(symbols::parse)
            .or_else(|| self.lexicon.get(word).map(<[Symbol]>::to_vec))
    }

    /// Returns the names of the letters of a word.
    fn spelled(&self, word: &str) -> Vec<Symbol> {
        let letters = word.bytes().map(|letter| letter.to_ascii_lowercase()).filter(u8::is_ascii_lowercase);
        letters
            .flat_map(|letter| match letter {
                b'a' => symbols::parse("EY1").unwrap_or_default(),
                letter => self
                    .lexicon
                    .get(&(letter as char).to_string())
                    .map(<[Symbol]>::to_vec)
                    .unwrap_or_default(),
            })
            .collect()
    }
}

/// Finds the first braces that hold phones: where they begin, what they hold, and its symbols.
fn phones(text: &str) -> Option<(usize, &str, Vec<Symbol>)> {
    text.match_indices('{').find_map(|(at, _)| {
        let inside = &text[at + 1..];
        let end =
            inside.bytes().take(MAX_BRACED).position(|byte| !byte.is_ascii_alphanumeric() && byte != b' ')?;
        let phones = &inside[..end];
        let symbols = symbols::parse(phones).filter(|_| inside[end..].starts_with('}'))?;
        (!symbols.is_empty() && symbols.iter().all(|symbol| symbols::is_phone(*symbol)))
            .then_some((at, phones, symbols))
    })
}

/// Whether an acronym is read as a word because consonants and vowels alternate and a vowel ends it: "FERPA", "DACA".
fn sayable(acronym: &str) -> bool {
    let last = acronym.len() - 1;
    let shape: Vec<bool> = acronym
        .bytes()
        .enumerate()
        .map(|(at, byte)| b"aeiou".contains(&byte) || at == last && byte == b'y')
        .collect();
    shape == [false, true, false, true] || shape == [false, true, false, false, true]
}

/// Whether a word begins with a cluster of consonants that no English word begins with: "lgbtqia".
fn unsayable(word: &str) -> bool {
    let start = word.bytes().take_while(|byte| !b"aeiouy".contains(byte)).count();
    let known = ["chr", "phr", "sch", "scr", "shr", "spl", "spr", "str", "thr"];
    start > 3 || start == 3 && !known.contains(&&word[..3])
}

/// Replaces vowels whose stress is too rare in a corpus to be learned by the same vowel with its common stress.
fn merge_rare_stress(symbol: Symbol) -> Symbol {
    let common = match symbol.name() {
        "AH2" | "AW0" | "AW2" | "ER2" | "OY0" | "OY2" | "UH0" | "UH2" => 1,
        "AO0" => 2,
        _ => return symbol,
    };
    symbols::with_stress(symbol, common)
}

/// Returns the last tokens, back to the last pause.
fn phrase_before<'a, 't>(tokens: &'a [&'t str]) -> &'a [&'t str] {
    let tokens = &tokens[tokens.len().saturating_sub(MAX_NEIGHBOURS)..];
    &tokens[tokens.iter().rposition(|token| pause(token).is_some()).map_or(0, |place| place + 1)..]
}

/// Returns the first tokens, up to the first pause.
fn phrase_after<'a, 't>(tokens: &'a [&'t str]) -> &'a [&'t str] {
    let tokens = &tokens[..tokens.len().min(MAX_NEIGHBOURS)];
    &tokens[..tokens.iter().position(|token| pause(token).is_some()).unwrap_or(tokens.len())]
}

/// Returns the symbol of a punctuation token.
fn pause(token: &str) -> Option<Symbol> {
    match token.as_bytes().first()? {
        b',' => Some(COMMA),
        b'.' => Some(PERIOD),
        b'?' => Some(QUESTION),
        b'!' => Some(EXCLAMATION),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        let symbols = Phonemizer::embedded().symbols(text).unwrap();
        symbols::format(&symbols[1..symbols.len() - 1])
    }

    #[test]
    fn silence_surrounds_and_punctuation_pauses() {
        let symbols = Phonemizer::embedded().symbols("Hello, world! Is it you?").unwrap();
        assert_eq!(symbols::format(&symbols), "_ HH AH0 L OW1 , W ER1 L D ! IH1 Z IH1 T Y UW1 ? _");
    }

    #[test]
    fn braces_hold_phones_of_any_language() {
        assert_eq!(said("{G D EH1} {Y EH0}?"), "G D EH1 Y EH0 ?");
        assert_eq!(said("The {T AH0 M EY1 T OW2}, {R AY1 P}."), "DH AH0 T AH0 M EY1 T OW2 , R AY1 P .");
        assert_eq!(
            said("I go to the {EH1 N D} of a {N AY1 T}."),
            "AY1 G OW1 T AH0 DH IY0 EH1 N D AH1 V AH0 N AY1 T ."
        );
        // Other braces are brackets.
        assert_eq!(said("{G D"), said("G D"));
        assert_eq!(said("If {x} stops."), said("If (x) stops."));
        assert_eq!(said("{{G}} is {XX} {"), "G IH1 Z , EH1 K S EH1 K S .");
        for nothing in ["{}", "{.}"] {
            assert_eq!(
                Phonemizer::embedded().symbols(nothing).unwrap_err().code(),
                "text-unsupported",
                "{nothing}"
            );
        }
    }

    #[test]
    fn function_words_depend_on_the_next_sound() {
        assert_eq!(said("The apple, the dog."), "DH IY0 AE1 P AH0 L , DH AH0 D AO1 G .");
        assert_eq!(said("A cat to eat, to go to."), "AH0 K AE1 T T UW1 IY1 T , T AH0 G OW1 T UW1 .");
        assert_eq!(said("Vitamin A."), "V AY1 T AH0 M AH0 N EY1 .");
    }

    #[test]
    fn heteronyms_depend_on_their_neighbours() {
        assert_eq!(said("I read it."), "AY1 R IY1 D IH1 T .");
        assert_eq!(said("I have read it."), "AY1 HH AE1 V R EH1 D IH1 T .");
        assert_eq!(said("The record."), "DH AH0 R EH1 K ER0 D .");
        assert_eq!(said("To record."), "T AH0 R AH0 K AO1 R D .");
        assert_eq!(said("They live here."), "DH EY1 L IH1 V HH IY1 R .");
        assert_eq!(said("A live show."), "AH0 L AY1 V SH OW1 .");
        assert_eq!(said("No use."), "N OW1 Y UW1 S .");
        assert_eq!(said("Did you use it?"), "D IH1 D Y UW1 Y UW1 Z IH1 T ?");
    }

    #[test]
    fn unknown_words_are_taken_apart_spelled_or_read_by_rules() {
        assert_eq!(said("XKCD"), "EH1 K S K EY1 S IY1 D IY1 .");
        assert_eq!(said("tsk"), "T IY1 EH1 S K EY1 .");
        assert_eq!(said("doghouse's"), "D AO1 G HH AW2 S AH0 Z .".replace("AW2", "AW1"));
        assert_eq!(said("blip blorp").split(' ').next(), Some("B"));
        assert_eq!(said("vellichor"), "V EH1 L IH0 K ER0 .");
    }

    #[test]
    fn words_keep_their_symbols_together() {
        let words = Phonemizer::embedded().words("Two cats, 3 dogs").unwrap();
        let words: Vec<_> = words
            .iter()
            .map(|word| (word.text.as_str(), symbols::format(&word.symbols), word.is_pause()))
            .collect();
        let expected = [
            ("two", "T UW1", false),
            ("cats", "K AE1 T S", false),
            (",", ",", true),
            ("three", "TH R IY1", false),
            ("dogs", "D AA1 G Z", false),
            (".", ".", true),
        ];
        assert_eq!(words, expected.map(|(text, symbols, pause)| (text, symbols.to_string(), pause)));
    }

    #[test]
    fn text_without_words_is_an_error() {
        let phonemizer = Phonemizer::embedded();
        let code = |text: &str| phonemizer.symbols(text).unwrap_err().code();
        assert_eq!(code(""), "text-empty");
        assert_eq!(code(" \n\t "), "text-empty");
        assert_eq!(code("你好"), "text-unsupported");
        assert_eq!(code("😀 ... !!!"), "text-unsupported");
        assert_eq!(code("'"), "text-unsupported");
    }

    /// At this length, anything slower than linear time would be noticed.
    #[test]
    fn hostile_text_neither_hangs_nor_panics() {
        let phonemizer = Phonemizer::embedded();
        #[rustfmt::skip]
        let pieces = [
            "a", "9", "X", "'", "A.", "$", "1,", "1/", "é", "😀", "un", "a ", "1:", "-", "st. ", "\n", "@a.b", "\0", "$1 million ", "II ", "12/",
        ];
        for piece in pieces {
            let text = piece.repeat((1 << 17) / piece.len());
            let _ = phonemizer.symbols(&text);
            assert!(
                crate::text::sentences(&text).iter().all(|sentence| sentence.chars().count() <= 250),
                "{piece:?}"
            );
        }
    }

    #[test]
    fn random_text_never_gives_padding() {
        let phonemizer = Phonemizer::embedded();
        let mut state = 7u32;
        let mut random = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % below
        };
        let alphabet: Vec<char> = "aZ9 .,:;-'\"$%/@#()&+°é–…½\u{301}\u{200d}你😀\n\t".chars().collect();
        for _ in 0..2000 {
            let length = random(40);
            let text: String =
                (0..length).map(|_| alphabet[random(alphabet.len() as u32) as usize]).collect();
            if let Ok(symbols) = phonemizer.symbols(&text) {
                assert!(symbols.len() >= 3 && !symbols.contains(&symbols::PAD), "{text:?}");
            }
        }
    }
}
